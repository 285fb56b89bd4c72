// A dialog that holds the focus until it is answered; Escape answers no.
import { createElement, useEffect, useRef } from "react";

export function Ask({ open, onNo, children, ...rest }) {
  const box = useRef(null);

  useEffect(() => {
    if (open && !box.current.open) box.current.showModal();
    if (!open && box.current.open) box.current.close();
  }, [open]);

  const onCancel = (event) => {
    event.preventDefault();
    onNo();
  };

  return createElement("dialog", { ref: box, onCancel, ...rest }, open ? children : null);
}
