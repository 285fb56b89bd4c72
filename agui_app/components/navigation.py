"""The list of threads: search, the way to each, its menu."""

from __future__ import annotations

from typing import Any

import reflex as rx

from agui_app.components.browser import Ask, TitleField
from agui_app.components.fields import RowVar, text
from agui_app.components.icons import icon
from agui_app.components.texts import t
from agui_app.state.composer import Composer
from agui_app.state.threads import Threads
from agui_app.state.transcript import Transcript

NAVIGATION = "shrink-0 flex-col bg-zinc-100 dark:bg-zinc-900 border-r border-zinc-200 dark:border-zinc-800"
FOCUS = "focus-visible:outline-2 focus-visible:outline-offset-2 focus-visible:outline-indigo-500"
FOCUS_INSIDE = "focus-visible:outline-2 focus-visible:-outline-offset-2 focus-visible:outline-indigo-500"
ICON_BUTTON = f"md:hidden size-9 grid place-items-center rounded-lg {FOCUS}"
FIELD = "rounded-lg border border-zinc-300 dark:border-zinc-700 bg-white dark:bg-zinc-950 text-sm"
BUTTON = f"rounded-lg px-3 py-2 text-sm {FOCUS}"
HOVER = "hover:bg-zinc-200 dark:hover:bg-zinc-800"


def navigation() -> rx.Component:
    """The list of threads; a drawer on a phone."""
    drawn = rx.el.nav(
        rx.el.div(
            new_thread(),
            rx.el.button(
                icon("close"),
                type="button",
                aria_label=t("close"),
                on_click=Threads.close,
                class_name=f"{ICON_BUTTON} {HOVER}",
            ),
            class_name="px-3 pt-3 flex items-center gap-2",
        ),
        search(),
        rx.cond(
            Threads.problem,
            rx.el.p(
                Threads.problem, role="alert", class_name="px-4 pb-2 text-sm text-red-700 dark:text-red-400 break-words"
            ),
        ),
        rx.cond(Threads.query, thread_list(Threads.found, t("nothing_found")), all_threads()),
        aria_label=t("conversations"),
        class_name=rx.cond(
            Threads.shown,
            f"fixed inset-y-0 left-0 z-20 w-72 flex shadow-xl md:static md:w-64 md:shadow-none {NAVIGATION}",
            f"hidden md:flex w-64 {NAVIGATION}",
        ),
    )
    return rx.fragment(
        rx.cond(
            Threads.shown,
            rx.el.div(
                on_click=Threads.close, aria_hidden="true", class_name="fixed inset-0 z-10 bg-black/40 md:hidden"
            ),
        ),
        drawn,
        ask_to_delete(),
    )


def new_thread() -> rx.Component:
    """Begin another thread."""
    return rx.el.button(
        icon("add", "size-4"),
        t("new_thread"),
        type="button",
        on_click=[Threads.close, Composer.new_thread],
        class_name=(
            "flex-1 flex items-center gap-2 rounded-lg border border-zinc-300 dark:border-zinc-700 px-3 py-2 text-sm "
            f"{HOVER} {FOCUS}"
        ),
    )


def search() -> rx.Component:
    """Narrows the list."""
    return rx.el.div(
        icon("search", "size-4 absolute left-6 text-zinc-500 pointer-events-none"),
        rx.el.input(
            type="search",
            aria_label=t("search"),
            placeholder=t("search"),
            on_change=Threads.search.debounce(200),
            class_name=f"w-full py-1.5 pl-9 pr-2 placeholder:text-zinc-500 {FIELD} {FOCUS}",
        ),
        class_name="relative flex items-center p-3",
    )


def all_threads() -> rx.Component:
    """The newest threads."""
    return thread_list(Threads.threads, t("no_threads"))


def thread_list(rows: rx.Var[list[dict[str, Any]]] | list[dict[str, Any]], nothing: rx.Var[str]) -> rx.Component:
    """The threads of `rows`; with none of them the words for nothing."""
    listed = rx.Var.create(rows).to(list[dict[str, Any]])
    return rx.cond(
        listed.length() > 0,
        rx.el.ul(rx.foreach(listed, thread), class_name="flex-1 overflow-y-auto px-2 pb-3"),
        rx.el.p(nothing, class_name="px-4 text-sm text-zinc-500 dark:text-zinc-400"),
    )


def thread(row: RowVar) -> rx.Component:
    """One thread: the way to it and its menu, or the field for its new title."""
    return rx.el.li(
        rx.cond(
            Threads.renaming == text(row, "id"),
            TitleField.create(
                value=text(row, "title"),
                on_save=lambda title: Threads.rename(text(row, "id"), title),
                on_cancel=Threads.edit(""),
                custom_attrs={"aria-label": t("title"), "maxLength": 200},
                class_name=f"w-full px-3 py-1.5 {FIELD} {FOCUS_INSIDE}",
            ),
            rx.fragment(thread_link(row), thread_menu(row)),
        ),
        key=text(row, "id"),
        class_name="group relative flex items-center",
    )


def thread_link(row: RowVar) -> rx.Component:
    """The title of a thread, marked when it is open."""
    current = text(row, "id") == Transcript.thread_id
    link = f"block flex-1 min-w-0 truncate rounded-lg pl-3 pr-9 py-2 text-sm {FOCUS_INSIDE}"
    return rx.el.a(
        title_of(row),
        href="/t/" + text(row, "id"),
        on_click=Threads.close,
        aria_current=rx.cond(current, "page", rx.Var("undefined")),
        class_name=rx.cond(current, f"{link} bg-zinc-200 dark:bg-zinc-800 font-medium", f"{link} {HOVER}"),
    )


def title_of(row: RowVar) -> rx.Var[str]:
    """The title, or that there is none."""
    return rx.cond(text(row, "title"), text(row, "title"), t("untitled"))


def thread_menu(row: RowVar) -> rx.Component:
    """Rename and delete, behind a button that shows on hover and focus, and always where there is no hover."""
    menu = "menu-" + text(row, "id")
    close = {"popoverTarget": menu, "popoverTargetAction": "hide"}
    item = f"w-full flex items-center gap-2 rounded-md px-3 py-1.5 text-left text-sm {FOCUS_INSIDE}"
    return rx.fragment(
        rx.el.button(
            icon("more", "size-5"),
            type="button",
            aria_label=t("more_about") + " " + title_of(row),
            custom_attrs={"popoverTarget": menu},
            class_name=(
                "absolute right-1 size-7 grid place-items-center rounded-md text-zinc-600 dark:text-zinc-300 "
                "hover:bg-zinc-300 dark:hover:bg-zinc-700 opacity-100 [@media(hover:hover)]:opacity-0 "
                f"group-hover:opacity-100 focus-visible:opacity-100 {FOCUS_INSIDE}"
            ),
        ),
        rx.el.div(
            rx.el.button(
                icon("edit", "size-4"),
                t("rename"),
                type="button",
                on_click=Threads.edit(text(row, "id")),
                custom_attrs=close,
                class_name=f"{item} hover:bg-zinc-100 dark:hover:bg-zinc-700",
            ),
            rx.el.button(
                icon("delete", "size-4"),
                t("delete"),
                type="button",
                on_click=Threads.ask(row),
                custom_attrs=close,
                class_name=f"{item} text-red-700 dark:text-red-400 hover:bg-red-50 dark:hover:bg-red-950",
            ),
            id=menu,
            custom_attrs={"popover": "auto"},
            class_name=(
                "m-0 w-36 p-1 rounded-lg border border-zinc-200 dark:border-zinc-700 bg-white dark:bg-zinc-800 "
                "text-zinc-900 dark:text-zinc-100 shadow-lg [position-area:bottom_span-left] "
                "[position-try-fallbacks:flip-block]"
            ),
        ),
    )


def ask_to_delete() -> rx.Component:
    """The dialog before a thread is deleted."""
    return Ask.create(
        rx.el.h2(t("delete_this"), class_name="font-semibold"),
        rx.el.p(title_of(Threads.deleting), class_name="mt-2 text-sm font-medium break-words line-clamp-3"),
        rx.el.p(t("delete_more"), class_name="mt-1 text-sm text-zinc-600 dark:text-zinc-400"),
        rx.el.div(
            rx.el.button(
                t("cancel"),
                type="button",
                auto_focus=True,
                on_click=Threads.ask(rx.Var.create({})),
                class_name=f"{BUTTON} border border-zinc-300 dark:border-zinc-700 {HOVER}",
            ),
            rx.el.button(
                t("delete"),
                type="button",
                on_click=Threads.delete,
                class_name=f"{BUTTON} bg-red-700 text-white hover:bg-red-800",
            ),
            class_name="mt-5 flex justify-end gap-2",
        ),
        open=Threads.deleting.contains("id"),
        on_no=Threads.ask(rx.Var.create({})),
        custom_attrs={"aria-label": t("delete_this")},
        class_name=(
            "m-auto w-[min(26rem,calc(100vw-2rem))] rounded-2xl border border-zinc-200 dark:border-zinc-700 bg-white "
            "dark:bg-zinc-900 p-5 text-zinc-900 dark:text-zinc-100 shadow-xl backdrop:bg-black/40"
        ),
    )
