// A one-line field for a new title: Enter and leaving it save, Escape does not; an input method's Enter does nothing.
import { createElement, useEffect, useRef } from "react";

export function TitleField({ value, onSave, onCancel, ...rest }) {
  const field = useRef(null);
  const done = useRef(false);

  useEffect(() => {
    field.current.focus();
    field.current.select();
  }, []);

  const finish = (save) => {
    if (done.current) return;
    done.current = true;
    const title = field.current.value.trim();
    if (save && title && title !== value) onSave(title);
    else onCancel();
  };

  const onKeyDown = (event) => {
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter") finish(true);
    else if (event.key === "Escape") finish(false);
    else return;
    event.preventDefault();
  };

  return createElement("input", { ref: field, defaultValue: value, onKeyDown, onBlur: () => finish(true), ...rest });
}
