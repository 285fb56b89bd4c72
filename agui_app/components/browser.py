"""The few things that run in the browser.

The log's scrolling, the composer's form, messages that are not sent yet, the connection, times in the reader's locale.
"""

from __future__ import annotations

from typing import Any

import reflex as rx
from reflex.utils.imports import ImportVar
from reflex.vars import FunctionStringVar, FunctionVar, VarData

from agui_app.state.preferences import Preferences

LOCAL = "$/public/"


def _text(value: rx.Var[str]) -> tuple[rx.Var[str]]:
    return (value,)


def _nothing() -> tuple[()]:
    return ()


class LogView(rx.Component):
    """A scrolling box that stays at its end while the reader is there (assets/log_view.js)."""

    library = f"{LOCAL}log_view.js"
    tag = "LogView"

    loading: rx.Var[bool]
    """Older rows are on their way."""
    on_start: rx.EventHandler[_nothing]
    """The reader came near the first row."""


class ComposerForm(rx.Component):
    """The form around the field named `message` (assets/composer_form.js)."""

    library = f"{LOCAL}composer_form.js"
    tag = "ComposerForm"

    running: rx.Var[bool]
    """Enter keeps the text."""
    ready: rx.Var[bool]
    """The page knows which thread is open, also at `/`."""
    locale: rx.Var[str]
    api: rx.Var[str]
    """Where messages are posted; empty: to the page's own server."""
    thread: rx.Var[str]
    """The open thread: when it changes, so does the draft."""
    on_sent: rx.EventHandler[_text]
    """Gets the id of the thread that has taken a message."""


class TitleField(rx.Component):
    """A field for a new title (assets/title_field.js)."""

    library = f"{LOCAL}title_field.js"
    tag = "TitleField"

    value: rx.Var[str]
    """The title as it is."""
    on_save: rx.EventHandler[_text]
    """Gets a title that is another one and not blank."""
    on_cancel: rx.EventHandler[_nothing]


class Ask(rx.Component):
    """A dialog that holds the focus until it is answered (assets/ask.js)."""

    library = f"{LOCAL}ask.js"
    tag = "Ask"

    open: rx.Var[bool]
    on_no: rx.EventHandler[_nothing]
    """The reader pressed Escape."""


def display(function: str, *args: rx.Var[Any] | str, result: type[Any] = str) -> rx.Var[Any]:
    """A call of one of the functions in assets/display.js."""
    written = ", ".join(str(rx.Var.create(arg)) for arg in args)
    data = VarData.merge(
        VarData(imports={f"{LOCAL}display.js": [ImportVar(tag=function)]}),
        *(rx.Var.create(arg)._get_all_var_data() for arg in args),
    )
    return rx.Var(_js_expr=f"{function}({written})", _var_data=data).to(result)


def outbox(thread: rx.Var[str], *lists: rx.Var[list[dict[str, Any]]]) -> rx.Var[list[dict[str, Any]]]:
    """Rows of the reader's messages of `thread` that are in none of `lists`: not sent yet (assets/outbox.js)."""
    return _hook("outbox", "useOutbox", thread, *lists).to(list[dict[str, Any]])


def connection_lost(cut_off: rx.Var[bool]) -> rx.Var[bool]:
    """Whether the page has been without its server for a while (assets/connection.js)."""
    return _hook("connection", "useConnectionLost", cut_off).to(bool)


def calls(function: str, *args: rx.Var[Any]) -> FunctionVar[Any]:
    """A handler that calls one of the functions in assets/outbox.js."""
    data = VarData.merge(
        VarData(imports={f"{LOCAL}outbox.js": [ImportVar(tag=function)]}), *(arg._get_all_var_data() for arg in args)
    )
    written = ", ".join(map(str, args))
    return FunctionStringVar.create(f"(() => {{ {function}({written}); }})", _var_data=data)


def _hook(file: str, function: str, *args: rx.Var[Any]) -> rx.Var[Any]:
    """The value of a React hook in `assets/`, called with `args` in whatever component reads it."""
    written = ", ".join(map(str, args))
    data = VarData.merge(
        *(arg._get_all_var_data() for arg in args),
        VarData(
            imports={f"{LOCAL}{file}.js": [ImportVar(tag=function)]},
            hooks={f"const {file} = {function}({written})": None},
        ),
    )
    return rx.Var(_js_expr=file, _var_data=data)


def localised(function: str, value: rx.Var[Any]) -> rx.Var[str]:
    """`display(function, value, the reader's locale)`."""
    return display(function, value, rx.cond(Preferences.locale == "zh", "zh-CN", "en-GB"))
