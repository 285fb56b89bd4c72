"""Small line drawings, so that no sign depends on the reader's fonts. Each is decoration: its button has the name."""

from __future__ import annotations

import reflex as rx

PATHS = {
    "clock": "M12 7v5l3 2M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z",
    "place": "M12 21c4-4.6 7-8 7-11.5A7 7 0 0 0 5 9.5C5 13 8 16.4 12 21zM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
    "menu": "M4 7h16M4 12h16M4 17h16",
    "close": "M6 6l12 12M18 6L6 18",
    "send": "M12 19V5M6 11l6-6 6 6",
    "more": "M5 12h.01M12 12h.01M19 12h.01",
    "edit": "M4 20h4L19 9l-4-4L4 16v4z",
    "delete": "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
    "search": "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
    "add": "M12 5v14M5 12h14",
}
"""Name -> path in a box of 24 by 24, drawn as a line."""


def icon(name: str, class_name: str = "size-5") -> rx.Component:
    """The drawing of that name, in the colour of the text."""
    return rx.el.svg(
        rx.el.path(d=PATHS[name]),
        custom_attrs={
            "viewBox": "0 0 24 24",
            "fill": "none",
            "stroke": "currentColor",
            "strokeWidth": "2",
            "strokeLinecap": "round",
            "strokeLinejoin": "round",
            "aria-hidden": "true",
        },
        class_name=f"shrink-0 {class_name}",
    )
