"""One row of the transcript, by the kind of its item."""

from __future__ import annotations

from typing import Any

import reflex as rx

from agui_app.components.browser import calls, display, localised
from agui_app.components.fields import RowVar, drawn_by, flag, said_by, text
from agui_app.components.registry import card
from agui_app.components.texts import t
from agui_app.state.composer import Composer
from agui_app.state.preferences import Preferences
from agui_app.state.transcript import BLOCK_NAMES, Live, Transcript

PROSE = "whitespace-pre-wrap break-words leading-relaxed"
LINK = "underline font-medium rounded focus-visible:outline-2 focus-visible:outline-indigo-500"
QUIET = "text-xs text-zinc-500 dark:text-zinc-400"


@rx.memo
def growing_text() -> rx.Component:
    """The text of the hot row. It alone reads `Live`, so that a push renders nothing else."""
    return rx.fragment(*(rx.el.span(getattr(Live, name)) for name in BLOCK_NAMES))


@rx.memo
def retry_button(turn: rx.Var[str]) -> rx.Component:
    """Answer the turn again; there only while it is the newest. It alone knows which that is, not every row."""
    return rx.cond(
        turn & (turn == Transcript.retry_from),
        rx.el.button(
            t("retry"),
            type="button",
            on_click=Composer.retry(turn, display("readerZone"), Preferences.locale),
            class_name=f"ml-2 {LINK}",
        ),
    )


@rx.memo
def transcript_row(item: rx.Var[dict[str, Any]], rest: rx.RestProp) -> rx.Component:
    """One item: a message, a call, a result or an event."""
    return rx.el.article(
        rest,
        drawn_by(
            text(item, "kind"),
            ("toolCall", tool_row(item)),
            ("toolResult", tool_row(item)),
            ("schedule", card(item)),
            message(item),
        ),
        rx.cond(text(item, "mark"), run_mark(item)),
        custom_attrs={
            "data-item-kind": text(item, "kind"),
            "data-item-id": text(item, "id"),
            "data-status": text(item, "status"),
            "data-role": rx.cond(text(item, "kind") == "message", text(item, "role"), rx.Var("undefined")),
            "data-pending": rx.cond(flag(item, "pending"), "true", rx.Var("undefined")),
        },
        title=rx.cond(text(item, "at"), localised("clock", text(item, "at")), ""),
        class_name="py-2",
    )


def run_mark(item: RowVar) -> rx.Component:
    """How the run of this row ended, when it did not end well."""
    return rx.el.p(
        said_by(text(item, "mark"), ("cancelled", t("cancelled")), ("interrupted", t("interrupted")), t("failed")),
        rx.cond(text(item, "markText"), rx.el.span(": ", text(item, "markText"))),
        retry_button(turn=text(item, "turn")),
        custom_attrs={"data-run-status": text(item, "mark")},
        class_name="mt-1 text-xs text-amber-700 dark:text-amber-400 break-words",
    )


def message(item: RowVar) -> rx.Component:
    """A message by its role."""
    return drawn_by(
        text(item, "role"),
        ("user", user_message(item)),
        ("reasoning", aside(item, t("reasoning"))),
        ("activity", aside(item, text(item, "activityType"))),
        agent_message(item),
    )


def words(item: RowVar) -> rx.Component:
    """The text of a row, growing or whole."""
    return rx.cond(flag(item, "hot"), growing_text(), text(item, "text"))


def user_message(item: RowVar) -> rx.Component:
    """The reader's own, on the right in a bubble; marked while it waits and when it was not sent."""
    return rx.el.div(
        rx.el.div(
            text(item, "text"),
            class_name=rx.cond(
                flag(item, "pending"),
                f"{PROSE} rounded-2xl rounded-br-md px-4 py-2 bg-indigo-600/70 text-white",
                f"{PROSE} rounded-2xl rounded-br-md px-4 py-2 bg-indigo-600 text-white",
            ),
        ),
        rx.cond(
            text(item, "failed"),
            unsent(item, rx.el.span(t("not_sent"), ": ", text(item, "failed")), "alert"),
            rx.cond(flag(item, "waiting"), unsent(item, rx.el.span(t("not_sent_yet")), "note")),
        ),
        class_name="ml-auto max-w-[85%] w-fit flex flex-col items-end min-w-0",
    )


def unsent(item: RowVar, why: rx.Component, role: str) -> rx.Component:
    """Why a message is not sent, and a way to send it after all."""
    return rx.el.p(
        why,
        " ",
        rx.el.button(t("try_again"), type="button", on_click=calls("sendAgain", text(item, "id")), class_name=LINK),
        role=role,
        class_name="mt-1 text-xs text-red-700 dark:text-red-400 break-words",
    )


def agent_message(item: RowVar) -> rx.Component:
    """The agent's, plain on the left; marked when it was cut off."""
    return rx.el.div(
        rx.el.div(words(item), class_name=f"{PROSE} text-zinc-900 dark:text-zinc-100"),
        rx.cond(
            (text(item, "status") == "interrupted") & ~flag(item, "mark"),
            rx.el.p(t("interrupted"), class_name="mt-1 text-xs text-amber-700 dark:text-amber-400"),
        ),
        class_name="min-w-0",
    )


def aside(item: RowVar, name: rx.Var[str]) -> rx.Component:
    """Reasoning and activities: quieter, open while they come."""
    return rx.el.details(
        rx.el.summary(name, class_name=f"cursor-pointer {QUIET}"),
        rx.el.div(
            words(item),
            rx.cond(text(item, "activity"), rx.el.pre(text(item, "activity"), class_name="text-xs overflow-x-auto")),
            class_name=(
                f"{PROSE} mt-1 pl-3 border-l-2 border-zinc-200 dark:border-zinc-700 text-sm text-zinc-600 "
                "dark:text-zinc-400"
            ),
        ),
        open=True,
    )


def tool_row(item: RowVar) -> rx.Component:
    """A call with its state and arguments as they come, then its result: the card, or a line of text."""
    return rx.el.div(
        rx.el.details(
            rx.el.summary(
                status_dot(item),
                rx.el.code(text(item, "tool"), class_name="font-mono text-xs text-zinc-700 dark:text-zinc-200"),
                rx.el.span(status_word(item), class_name=QUIET),
                class_name="flex items-center gap-2 cursor-pointer list-none w-fit",
            ),
            rx.el.pre(
                rx.cond(flag(item, "hot"), growing_text(), text(item, "args")),
                aria_label=t("arguments"),
                class_name=(
                    "mt-1 ml-4 text-xs font-mono whitespace-pre-wrap break-all max-h-60 overflow-y-auto "
                    "text-zinc-600 dark:text-zinc-400"
                ),
            ),
            open=text(item, "kind") == "toolCall",
        ),
        rx.cond(
            (text(item, "kind") == "toolCall") & (text(item, "status") == "error"),
            rx.el.p(t("bad_arguments"), class_name="text-xs text-red-700 dark:text-red-400"),
        ),
        rx.cond(text(item, "kind") == "toolResult", outcome(item)),
        class_name="flex flex-col gap-2 min-w-0",
    )


def outcome(item: RowVar) -> rx.Component:
    """The card of a result; without one its text."""
    return rx.el.div(
        rx.cond(
            flag(item, "card"),
            card(item),
            rx.el.p(text(item, "text"), class_name=f"{PROSE} ml-4 text-sm text-zinc-700 dark:text-zinc-300"),
        ),
        rx.cond(flag(item, "missing"), rx.el.p(t("no_payload"), class_name=f"ml-4 {QUIET}")),
        class_name="flex flex-col gap-1",
    )


def status_dot(item: RowVar) -> rx.Component:
    """A dot in the colour of the status."""
    return rx.el.span(
        aria_hidden="true",
        class_name=said_by(
            text(item, "status"),
            ("error", "size-2 rounded-full bg-red-500"),
            ("completed", "size-2 rounded-full bg-emerald-500"),
            "size-2 rounded-full bg-indigo-500 animate-pulse motion-reduce:animate-none",
        ),
    )


def status_word(item: RowVar) -> rx.Var[str]:
    """The status in words."""
    return said_by(
        text(item, "status"),
        ("error", t("error")),
        ("completed", t("completed")),
        ("executing", t("executing")),
        t("pending"),
    )
