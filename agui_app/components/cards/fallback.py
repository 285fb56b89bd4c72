"""The card of an unknown type, of data that fails its model, and of what is no card."""

from __future__ import annotations

from typing import Any

import reflex as rx

from agui_app.components.browser import display
from agui_app.components.fields import RowVar
from agui_app.components.texts import t


def fallback_card(card: RowVar, card_type: rx.Var[str]) -> rx.Component:
    """The type's name, a readable view of the data, the raw JSON behind a disclosure."""
    shown = rx.cond(card["data"], card["data"], card)
    return rx.el.div(
        rx.el.p(card_type, class_name="font-mono text-xs text-zinc-500 dark:text-zinc-400 break-all"),
        rx.el.dl(
            rx.foreach(display("pairs", shown, result=list[list[str]]), pair),
            class_name="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm",
        ),
        rx.el.details(
            rx.el.summary(t("raw"), class_name="cursor-pointer text-xs text-zinc-500 dark:text-zinc-400"),
            rx.el.pre(
                display("json", card),
                class_name="mt-1 text-xs overflow-x-auto max-h-80 text-zinc-700 dark:text-zinc-300",
            ),
        ),
        class_name="p-4 flex flex-col gap-2",
    )


def pair(entry: rx.Var[list[Any]]) -> rx.Component:
    """A key and its value."""
    return rx.fragment(
        rx.el.dt(entry[0].to(str), class_name="text-zinc-500 dark:text-zinc-400"),
        rx.el.dd(entry[1].to(str), class_name="min-w-0 break-words text-zinc-900 dark:text-zinc-100"),
    )
