"""`calendar_card.v1`: one event."""

from __future__ import annotations

import reflex as rx

from agui_app.components.browser import display, localised
from agui_app.components.fields import RowVar, text
from agui_app.components.icons import icon
from agui_app.components.texts import t


def calendar_card(data: RowVar) -> rx.Component:
    """Colour bar, title, time in the event's zone (the reader's own beside it when that differs), place, text."""
    local = localised("localTime", data)
    return rx.el.div(
        rx.el.div(class_name="h-1", style={"backgroundColor": display("barColor", data["color"])}),
        rx.el.div(
            rx.el.h3(text(data, "title"), class_name="font-semibold text-zinc-900 dark:text-zinc-50 break-words"),
            detail_line("clock", localised("eventTime", data), rx.cond(local, rx.el.span(t("local_time"), local))),
            rx.cond(text(data, "location"), detail_line("place", text(data, "location"))),
            rx.cond(
                text(data, "description"),
                rx.el.p(
                    text(data, "description"),
                    class_name="text-sm text-zinc-600 dark:text-zinc-300 whitespace-pre-wrap break-words",
                ),
            ),
            class_name="p-4 flex flex-col gap-1.5",
        ),
        class_name="overflow-hidden",
    )


def detail_line(sign: str, value: rx.Var[str], more: rx.Component | rx.Var[rx.Component] | None = None) -> rx.Component:
    """A small sign and a value, with something said after it."""
    return rx.el.p(
        icon(sign, "size-4 mt-0.5 text-zinc-400 dark:text-zinc-500"),
        rx.el.span(
            value,
            *([rx.el.span(more, class_name="block text-xs text-zinc-500 dark:text-zinc-400")] if more else []),
            class_name="min-w-0 break-words",
        ),
        class_name="flex gap-2 text-sm text-zinc-700 dark:text-zinc-300",
    )
