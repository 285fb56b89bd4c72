// The composer's form. The text stays in the DOM until it is sent: no round trip a key, safe for input methods.
import { createElement, useEffect, useLayoutEffect, useRef } from "react";

const MAX_LINES_PX = 200;

function zone() {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  } catch {
    return "";
  }
}

// A draft stays with its page in this tab. What was typed at "/" goes along to the thread that its page becomes.
const ROOT_DRAFT = "draft:/";

function draftKey() {
  return `draft:${window.location.pathname}`;
}

function keepDraft(text) {
  try {
    if (text) sessionStorage.setItem(draftKey(), text);
    else sessionStorage.removeItem(draftKey());
  } catch {
    // storage is full or forbidden: the text is in the field all the same
  }
}

function takeDraft() {
  try {
    const kept = sessionStorage.getItem(draftKey()) ?? sessionStorage.getItem(ROOT_DRAFT) ?? "";
    sessionStorage.removeItem(ROOT_DRAFT);
    return kept;
  } catch {
    return "";
  }
}

export function ComposerForm({ onSend, running, locale, children, ...rest }) {
  const form = useRef(null);
  const area = () => form.current.elements.namedItem("message");

  const fit = () => {
    const text = area();
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight, MAX_LINES_PX)}px`;
    const send = form.current.querySelector("[data-send]");
    if (send) send.disabled = !text.value.trim();
  };

  useEffect(fit);

  useLayoutEffect(() => {
    // Before any key reaches the new field, which would be kept in place of the draft.
    const text = area();
    const kept = takeDraft();
    if (!text.value.startsWith(kept)) text.value = kept + text.value;
    keepDraft(text.value);
    fit();
  }, []);

  const onInput = () => {
    keepDraft(area().value);
    fit();
  };

  const onSubmit = (event) => {
    event.preventDefault();
    const message = area().value;
    if (running || !message.trim()) return;
    area().value = "";
    onInput();
    area().focus();
    onSend({ message, timezone: zone(), locale });
  };

  const onKeyDown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.target !== area()) return;
    if (event.nativeEvent.isComposing || event.keyCode === 229) return; // the input method's own Enter
    event.preventDefault();
    if (!event.repeat) form.current.requestSubmit();
  };

  return createElement("form", { ref: form, onSubmit, onKeyDown, onInput, ...rest }, children);
}
