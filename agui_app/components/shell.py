"""The frame of the page: threads on the left, the log, the composer."""

from __future__ import annotations

import reflex as rx

from agui_app.components.browser import ComposerForm, LogView, calls, connection_lost, outbox
from agui_app.components.icons import icon
from agui_app.components.navigation import FOCUS, ICON_BUTTON, navigation, new_thread
from agui_app.components.rows import transcript_row
from agui_app.components.steps import progress
from agui_app.components.texts import SUGGESTIONS, t
from agui_app.state.composer import Composer
from agui_app.state.preferences import Preferences
from agui_app.state.threads import Threads
from agui_app.state.transcript import Standing, Transcript

COLUMN = "mx-auto w-full max-w-3xl px-4"


def shell() -> rx.Component:
    """The whole page."""
    return rx.el.div(
        navigation(),
        rx.el.main(
            header(), strip(), problem(), log(), foot(), class_name="flex-1 min-w-0 flex flex-col h-full relative"
        ),
        class_name="h-dvh w-full flex bg-white dark:bg-zinc-950 text-zinc-900 dark:text-zinc-100 antialiased",
    )


def header() -> rx.Component:
    """Opens the navigation on a phone."""
    return rx.el.header(
        rx.el.button(
            icon("menu"),
            type="button",
            aria_label=t("menu"),
            on_click=Threads.toggle,
            class_name=f"{ICON_BUTTON} hover:bg-zinc-100 dark:hover:bg-zinc-800",
        ),
        rx.el.h1("agui-app", class_name="text-sm font-semibold"),
        class_name="h-12 shrink-0 px-4 flex items-center gap-2 border-b border-zinc-200 dark:border-zinc-800",
    )


def strip() -> rx.Component:
    """Says that the connection is lost, and goes by itself."""
    lost = connection_lost(Standing.cut_off)
    return rx.el.div(
        rx.cond(lost, rx.el.p(t("connection_lost"), class_name="px-4 py-2")),
        role="status",
        aria_live="polite",
        class_name="text-sm text-center bg-amber-100 text-amber-900 dark:bg-amber-950 dark:text-amber-200",
    )


def problem() -> rx.Component:
    """What went wrong, in one line."""
    return rx.cond(
        Transcript.problem,
        rx.el.p(
            t("problem"),
            ": ",
            Transcript.problem,
            role="alert",
            class_name="px-4 py-2 text-sm bg-red-50 text-red-800 dark:bg-red-950 dark:text-red-200 break-words",
        ),
    )


def log() -> rx.Component:
    """The rows, oldest first; older ones come when the reader nears the start."""
    unsent = outbox(Transcript.thread_id, Transcript.live, Transcript.settled, Transcript.older)
    empty = (Transcript.settled.length() + Transcript.live.length() + unsent.length()) == 0
    return LogView.create(
        rx.cond(empty & Standing.opened, rx.cond(Standing.gone, rx.fragment(), greeting())),
        rx.cond(
            Transcript.has_more,
            rx.el.p(
                rx.cond(Transcript.loading_older, t("loading"), ""),
                class_name="h-6 text-center text-xs text-zinc-500 dark:text-zinc-400",
            ),
            rx.cond(
                empty,
                rx.fragment(),
                rx.el.p(t("beginning"), class_name="py-4 text-center text-xs text-zinc-500 dark:text-zinc-400"),
            ),
        ),
        *(
            rx.foreach(rows, lambda item: transcript_row(item=item, key=item["id"]))
            for rows in (Transcript.older, Transcript.settled, Transcript.live, unsent)
        ),
        loading=Transcript.loading_older,
        on_start=Transcript.load_older,
        custom_attrs={
            "role": "log",
            "tabIndex": 0,
            "aria-label": t("conversation"),
            "aria-live": "polite",
            "aria-busy": Transcript.running,
        },
        class_name="flex-1 min-h-0 overflow-y-auto [&>div]:mx-auto [&>div]:w-full [&>div]:max-w-3xl [&>div]:px-4 "
        "[&>div]:pb-4 focus-visible:outline-none",
    )


def greeting() -> rx.Component:
    """The empty page: what to try."""
    return rx.el.section(
        rx.el.h2(t("greeting"), class_name="text-2xl font-semibold"),
        rx.el.p(t("greeting_more"), class_name="mt-1 text-sm text-zinc-500 dark:text-zinc-400"),
        rx.el.div(*map(suggestion, SUGGESTIONS), class_name="mt-4 grid gap-2 sm:grid-cols-2"),
        class_name="pt-[18vh]",
    )


def suggestion(texts: tuple[str, str]) -> rx.Component:
    """A sentence that can be sent with a click."""
    english, chinese = texts
    words = rx.cond(Preferences.locale == "zh", chinese, english)
    return rx.el.button(
        words,
        type="button",
        on_click=calls("say", words),
        class_name=(
            "rounded-xl border border-zinc-200 dark:border-zinc-700 px-4 py-3 text-left text-sm "
            f"hover:bg-zinc-50 dark:hover:bg-zinc-900 {FOCUS}"
        ),
    )


def foot() -> rx.Component:
    """The composer; or, when there is nothing left to write to, what became of the thread."""
    return rx.cond(
        Standing.gone,
        rx.el.div(
            rx.el.p(t("gone"), role="alert", class_name="text-sm"),
            rx.el.div(new_thread(), class_name="flex"),
            class_name="shrink-0 mx-auto p-6 flex flex-col items-center gap-3",
        ),
        composer(),
    )


def composer() -> rx.Component:
    """Progress, then the field with Send, which is Stop while a run is active."""
    return rx.el.div(
        rx.el.div(progress(), class_name=COLUMN),
        ComposerForm.create(
            rx.el.textarea(
                name="message",
                rows="1",
                aria_label=t("message"),
                placeholder=t("placeholder"),
                auto_focus=True,
                class_name="flex-1 min-w-0 resize-none bg-transparent py-2 pl-2 outline-none placeholder:text-zinc-500",
            ),
            rx.cond(Transcript.running, stop_button(), send_button()),
            running=Transcript.running,
            ready=Standing.opened,
            locale=Preferences.locale,
            api=Preferences.api,
            thread=Transcript.thread_id,
            on_sent=Composer.sent,
            class_name=(
                "mx-auto w-[calc(100%-2rem)] max-w-[46rem] flex items-end gap-2 rounded-2xl border border-zinc-300 "
                "dark:border-zinc-700 bg-white dark:bg-zinc-900 p-2 shadow-sm focus-within:border-indigo-500"
            ),
        ),
        class_name="shrink-0 pb-4 pt-1",
    )


def send_button() -> rx.Component:
    """Send."""
    return rx.el.button(
        icon("send"),
        type="submit",
        aria_label=t("send"),
        custom_attrs={"data-send": "true"},
        class_name=(
            "size-10 grid place-items-center rounded-xl bg-indigo-600 text-white disabled:opacity-40 "
            f"hover:bg-indigo-700 {FOCUS}"
        ),
    )


def stop_button() -> rx.Component:
    """Stop, in the same place."""
    return rx.el.button(
        rx.el.span(class_name="block size-3 rounded-sm bg-current", aria_hidden="true"),
        type="button",
        aria_label=t("stop"),
        on_click=Composer.stop,
        class_name=(
            "size-10 grid place-items-center rounded-xl bg-zinc-900 text-white dark:bg-zinc-100 dark:text-zinc-900 "
            f"hover:opacity-80 {FOCUS}"
        ),
    )
