"""`user_card.v1`: a person, or several to choose from."""

from __future__ import annotations

import reflex as rx

from agui_app.components.fields import RowVar, rows_of, text
from agui_app.components.texts import t


def user_card(data: RowVar) -> rx.Component:
    """Name and address; the candidates when the name was ambiguous."""
    candidates = rows_of(data, "candidates")
    return rx.el.div(
        person(data),
        rx.cond(
            data["candidates"].to(bool),
            rx.el.div(
                rx.el.p(t("candidates"), class_name="mt-2 text-xs text-zinc-500 dark:text-zinc-400"),
                rx.el.ul(rx.foreach(candidates, lambda one: rx.el.li(person(one))), class_name="flex flex-col gap-1"),
            ),
        ),
        class_name="p-4",
    )


def person(data: RowVar) -> rx.Component:
    """A name with its e-mail address."""
    return rx.el.p(
        rx.el.span(text(data, "name"), class_name="font-medium text-zinc-900 dark:text-zinc-100"),
        rx.cond(text(data, "email"), rx.el.span(" · ", text(data, "email"), class_name="text-zinc-500")),
        class_name="text-sm break-words",
    )
