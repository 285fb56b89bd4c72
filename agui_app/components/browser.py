"""The few things that run in the browser: the log's scrolling, the composer's form, times in the reader's locale."""

from __future__ import annotations

from typing import Any

import reflex as rx
from reflex.utils.imports import ImportVar
from reflex.vars import VarData

from agui_app.state.preferences import Preferences

LOCAL = "$/public/"


def _form(values: rx.Var[dict[str, str]]) -> tuple[rx.Var[dict[str, str]]]:
    return (values,)


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
    locale: rx.Var[str]
    thread: rx.Var[str]
    """The open thread: when it changes, so does the draft."""
    on_send: rx.EventHandler[_form]
    """Gets {message, timezone, locale}."""


def display(function: str, *args: rx.Var[Any] | str, result: type[Any] = str) -> rx.Var[Any]:
    """A call of one of the functions in assets/display.js."""
    written = ", ".join(str(rx.Var.create(arg)) for arg in args)
    data = VarData.merge(
        VarData(imports={f"{LOCAL}display.js": [ImportVar(tag=function)]}),
        *(rx.Var.create(arg)._get_all_var_data() for arg in args),
    )
    return rx.Var(_js_expr=f"{function}({written})", _var_data=data).to(result)


def localised(function: str, value: rx.Var[Any]) -> rx.Var[str]:
    """`display(function, value, the reader's locale)`."""
    return display(function, value, rx.cond(Preferences.locale == "zh", "zh-CN", "en-GB"))
