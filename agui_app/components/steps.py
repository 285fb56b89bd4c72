"""Progress: the stages of the newest run, and how it ended."""

from __future__ import annotations

import reflex as rx

from agui_app.components.fields import RowVar, flag, text
from agui_app.components.texts import t
from agui_app.state.transcript import Transcript


def progress() -> rx.Component:
    """The list of stages; not there until one has come."""
    return rx.cond(
        Transcript.progress.length() > 0,
        rx.el.ol(
            rx.foreach(Transcript.progress, step),
            role="list",
            aria_label=t("progress"),
            class_name="flex flex-wrap items-center gap-x-4 gap-y-1 py-1 text-xs",
        ),
    )


def step(row: RowVar) -> rx.Component:
    """One stage, or another step of the agent."""
    return rx.el.li(
        rx.el.span(
            aria_hidden="true",
            class_name=rx.match(
                text(row, "state"),
                ("active", "size-2 rounded-full bg-indigo-500 animate-pulse motion-reduce:animate-none"),
                ("done", "size-2 rounded-full bg-emerald-500"),
                ("error", "size-2 rounded-full bg-red-500"),
                ("stopped", "size-2 rounded-full bg-amber-500"),
                "size-2 rounded-full border border-zinc-400 dark:border-zinc-500",
            ),
        ),
        rx.match(
            text(row, "name"),
            ("intent", t("intent")),
            ("execution", t("execution")),
            ("report", t("report")),
            text(row, "name"),
        ),
        custom_attrs={
            "data-stage": rx.cond(flag(row, "stage"), text(row, "name"), rx.Var("undefined")),
            "data-step": rx.cond(flag(row, "stage"), rx.Var("undefined"), text(row, "name")),
            "data-state": text(row, "state"),
        },
        class_name=rx.cond(
            text(row, "state") == "pending",
            "flex items-center gap-1.5 text-zinc-500 dark:text-zinc-400",
            "flex items-center gap-1.5 text-zinc-700 dark:text-zinc-200",
        ),
    )
