// The composer's form. The text stays in the DOM until it is sent: no round trip a key, safe for input methods.
import { createElement, useEffect, useLayoutEffect, useRef } from "react";
import { say, tellOutbox } from "$/public/outbox.js";

const MAX_LINES_PX = 200;
const LARGE_CHARS = 20000; // from here on a text is neither measured nor kept at every key: the field stays quick
const KEEP_AFTER_MS = 500;

// A draft stays with its page in this tab. What was typed at "/" goes along to the thread that its page becomes.
const ROOT_DRAFT = "draft:/";

function keepDraft(path, text) {
  try {
    if (text) sessionStorage.setItem(`draft:${path}`, text);
    else sessionStorage.removeItem(`draft:${path}`);
  } catch {
    // storage is full or forbidden: the text is in the field all the same
  }
}

function takeDraft(path) {
  try {
    const kept = sessionStorage.getItem(`draft:${path}`) ?? sessionStorage.getItem(ROOT_DRAFT) ?? "";
    sessionStorage.removeItem(ROOT_DRAFT);
    return kept;
  } catch {
    return "";
  }
}

export function ComposerForm({ onSent, running, ready, locale, api, thread, children, ...rest }) {
  const form = useRef(null);
  const later = useRef(0);
  const path = useRef(typeof window === "undefined" ? "" : window.location.pathname);
  const area = () => form.current.elements.namedItem("message");

  const fit = () => {
    const text = area();
    if (text.value.length > LARGE_CHARS) {
      text.style.height = `${MAX_LINES_PX}px`;
    } else {
      text.style.height = "auto";
      text.style.height = `${Math.min(text.scrollHeight, MAX_LINES_PX)}px`;
    }
    const send = form.current.querySelector("[data-send]");
    if (send) send.disabled = !text.value.trim();
  };

  useEffect(fit);
  useEffect(() => tellOutbox({ thread, ready, locale, api, onSent }));

  const keep = () => {
    clearTimeout(later.current);
    keepDraft(path.current, area().value);
  };

  useLayoutEffect(() => {
    // Before any key reaches the new field, which would be kept in place of the draft.
    const text = area();
    const kept = takeDraft(path.current);
    if (!text.value.startsWith(kept)) text.value = kept + text.value;
    keepDraft(path.current, text.value);
    fit();
  }, []);

  useLayoutEffect(() => {
    // Another thread in the same page: what was typed stays with the one it was typed for.
    if (path.current === window.location.pathname) return;
    keep();
    path.current = window.location.pathname;
    area().value = takeDraft(path.current);
    fit();
  }, [thread]);

  const onInput = () => {
    clearTimeout(later.current);
    if (area().value.length > LARGE_CHARS) later.current = setTimeout(keep, KEEP_AFTER_MS);
    else keep();
    fit();
  };

  const onSubmit = (event) => {
    event.preventDefault();
    const message = area().value;
    if (running || !message.trim() || !say(message)) return;
    area().value = "";
    onInput();
    area().focus();
  };

  const onKeyDown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.target !== area()) return;
    if (event.nativeEvent.isComposing || event.keyCode === 229) return; // the input method's own Enter
    event.preventDefault();
    if (!event.repeat) form.current.requestSubmit();
  };

  return createElement("form", { ref: form, onSubmit, onKeyDown, onInput, ...rest }, children);
}
