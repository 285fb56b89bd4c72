// The composer's form. The text stays in the DOM until it is sent: no round trip a key, safe for input methods.
import { createElement, useEffect, useRef } from "react";

const MAX_LINES_PX = 200;

function zone() {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone || "";
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

  const onSubmit = (event) => {
    event.preventDefault();
    const message = area().value;
    if (running || !message.trim()) return;
    area().value = "";
    fit();
    area().focus();
    onSend({ message, timezone: zone(), locale });
  };

  const onKeyDown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.target !== area()) return;
    if (event.nativeEvent.isComposing || event.keyCode === 229) return; // the input method's own Enter
    event.preventDefault();
    if (!event.repeat) form.current.requestSubmit();
  };

  return createElement("form", { ref: form, onSubmit, onKeyDown, onInput: fit, ...rest }, children);
}
