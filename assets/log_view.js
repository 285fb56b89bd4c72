// The scrolling log: stays at the end while the reader is there, holds what is under the eye when rows come above.
import { createElement, useEffect, useLayoutEffect, useRef } from "react";

const NEAR_END_PX = 48;
const NEAR_START_PX = 240;

function anchorOf(box) {
  // The first row that reaches below the top edge, and where it stands.
  const top = box.getBoundingClientRect().top;
  for (const row of box.querySelectorAll("[data-item-id]")) {
    const rect = row.getBoundingClientRect();
    if (rect.bottom > top) return { id: row.dataset.itemId, offset: rect.top - top };
  }
  return null;
}

export function LogView({ onStart, loading, children, ...rest }) {
  const box = useRef(null);
  const inner = useRef(null);
  const kept = useRef({ atEnd: true, anchor: null, lastTop: 0, armed: true });

  const settle = () => {
    const view = box.current;
    const state = kept.current;
    if (!view) return;
    if (state.atEnd) {
      view.scrollTop = view.scrollHeight;
    } else if (state.anchor) {
      const row = view.querySelector(`[data-item-id="${CSS.escape(state.anchor.id)}"]`);
      if (row) {
        const moved = row.getBoundingClientRect().top - view.getBoundingClientRect().top - state.anchor.offset;
        if (Math.abs(moved) >= 1) view.scrollTop += moved;
      }
    }
    state.lastTop = view.scrollTop;
    view.dataset.atEnd = String(state.atEnd);
  };

  useLayoutEffect(settle);

  useEffect(() => {
    const observer = new ResizeObserver(settle);
    observer.observe(inner.current);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (!loading) kept.current.armed = true;
  }, [loading]);

  const askForOlder = () => {
    const view = box.current;
    if (onStart && kept.current.armed && view.scrollTop < NEAR_START_PX) {
      kept.current.armed = false;
      onStart();
    }
  };

  const onScroll = () => {
    const view = box.current;
    const state = kept.current;
    const fromEnd = view.scrollHeight - view.scrollTop - view.clientHeight;
    if (view.scrollTop < state.lastTop - 1) {
      state.atEnd = false; // the first upward move lets go
      askForOlder();
    } else if (fromEnd <= NEAR_END_PX) {
      state.atEnd = true;
    }
    state.lastTop = view.scrollTop;
    state.anchor = anchorOf(view);
    view.dataset.atEnd = String(state.atEnd);
  };

  const onWheel = (event) => {
    if (event.deltaY < 0) {
      if (box.current.scrollHeight > box.current.clientHeight) kept.current.atEnd = false;
      askForOlder();
    }
  };

  return createElement(
    "div",
    { ref: box, onScroll, onWheel, style: { overflowAnchor: "none" }, ...rest },
    createElement("div", { ref: inner }, children),
  );
}
