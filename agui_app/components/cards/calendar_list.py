"""`calendar_list.v1`: the events of a range."""

from __future__ import annotations

import reflex as rx

from agui_app.components.browser import display, localised
from agui_app.components.fields import RowVar, rows_of, text
from agui_app.components.texts import t


def calendar_list(data: RowVar) -> rx.Component:
    """Title and range, then a line an event; says so when there is none."""
    events = rows_of(data, "events")
    return rx.el.div(
        rx.cond(
            text(data, "title"),
            rx.el.h3(text(data, "title"), class_name="font-semibold text-zinc-900 dark:text-zinc-50"),
        ),
        rx.cond(
            text(data, "range"), rx.el.p(text(data, "range"), class_name="text-xs text-zinc-500 dark:text-zinc-400")
        ),
        rx.cond(
            events.length() > 0,
            rx.el.ul(rx.foreach(events, event_line), class_name="mt-2 flex flex-col gap-2"),
            rx.el.p(t("no_events"), class_name="mt-1 text-sm text-zinc-500 dark:text-zinc-400"),
        ),
        class_name="p-4",
    )


def event_line(event: RowVar) -> rx.Component:
    """Colour, title and time of one event, with the reader's own time when that differs."""
    local = localised("localTime", event)
    return rx.el.li(
        rx.el.span(
            class_name="w-1 rounded-full shrink-0", style={"backgroundColor": display("barColor", event["color"])}
        ),
        rx.el.div(
            rx.el.p(
                text(event, "title"), class_name="text-sm font-medium text-zinc-900 dark:text-zinc-100 break-words"
            ),
            rx.el.p(localised("eventTime", event), class_name="text-xs text-zinc-600 dark:text-zinc-400"),
            rx.cond(
                local,
                rx.el.p(t("local_time"), local, class_name="text-xs text-zinc-500 dark:text-zinc-400"),
            ),
            class_name="min-w-0",
        ),
        class_name="flex gap-3",
    )
