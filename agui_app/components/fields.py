"""Reading untyped rows: a row is a dict of JSON values, and a component says what it takes a value for."""

from __future__ import annotations

from typing import Any, cast

import reflex as rx

RowVar = rx.Var[dict[str, Any]]


def text(row: RowVar, key: str) -> rx.Var[str]:
    """`row[key]` as text; a key that is not there reads as nothing."""
    return row[key].to(str)


def flag(row: RowVar, key: str) -> rx.Var[bool]:
    """`row[key]` as a condition."""
    return row[key].to(bool)


def mapping(row: RowVar, key: str) -> RowVar:
    """`row[key]` as an object."""
    return row[key].to(dict[str, Any])


def rows_of(row: RowVar, key: str) -> rx.Var[list[dict[str, Any]]]:
    """`row[key]` as a list of objects."""
    return row[key].to(list[dict[str, Any]])


def drawn_by(value: rx.Var[str], *cases: tuple[str, rx.Component] | rx.Component) -> rx.Component:
    """The component of the first case that equals `value`; the last one is for all the rest."""
    return cast(rx.Component, rx.match(value, *cases))


def said_by(value: rx.Var[str], *cases: tuple[str, rx.Var[str] | str] | rx.Var[str] | str) -> rx.Var[str]:
    """The text of the first case that equals `value`; the last one is for all the rest."""
    return cast("rx.Var[str]", rx.match(value, *cases))
