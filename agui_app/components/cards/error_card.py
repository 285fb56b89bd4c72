"""`error_card.v1`: why a call was not carried out."""

from __future__ import annotations

import reflex as rx

from agui_app.components.fields import RowVar, text
from agui_app.components.texts import t


def error_card(data: RowVar) -> rx.Component:
    """The message, with its code."""
    return rx.el.div(
        rx.el.p(
            t("failed"),
            rx.cond(text(data, "toolName"), rx.el.code(" ", text(data, "toolName"), class_name="font-mono text-xs")),
            class_name="text-sm font-semibold text-red-800 dark:text-red-200",
        ),
        rx.el.p(
            text(data, "message"), class_name="text-sm text-red-700 dark:text-red-300 whitespace-pre-wrap break-words"
        ),
        rx.cond(
            text(data, "code"), rx.el.code(text(data, "code"), class_name="text-xs text-red-600 dark:text-red-400")
        ),
        class_name="p-4 flex flex-col gap-1 bg-red-50 dark:bg-red-950/40 border-l-4 border-red-500",
    )
