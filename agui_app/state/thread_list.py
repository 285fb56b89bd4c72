"""The list of threads as plain rows, and what a change makes of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LIST_LIMIT = 50

ThreadRow = dict[str, Any]
"""id, title; each a text. It goes to the page."""

Line = dict[str, Any]
"""id, title, updatedAt; each a text. It does not: the list is sent again only when what it shows has changed."""


def drawn(lines: Sequence[Line]) -> list[ThreadRow]:
    """What the page shows of the lines."""
    return [{"id": line["id"], "title": line["title"]} for line in lines]


def read_line(line: dict[str, Any]) -> Line:
    """A thread's line as the API gives it."""
    return {key: line.get(key) or "" for key in ("id", "title", "updatedAt")}


def changed(lines: Sequence[Line], change: dict[str, Any], *, only_known: bool = False) -> list[Line] | None:
    """The lines after a change, the one that changed last first; None when they have to be read anew.

    `only_known`: a thread that is not in the list does not come into it, as in the results of a search.
    """
    line = change.get("thread")
    if not isinstance(line, dict):
        return list(lines) if change.get("type") != "resync" else None
    others = [known for known in lines if known["id"] != line["id"]]
    if change.get("type") == "thread.deleted" or (only_known and len(others) == len(lines)):
        return others
    new = read_line(line)
    place = next((index for index, known in enumerate(others) if known["updatedAt"] <= new["updatedAt"]), len(others))
    return [*others[:place], new, *others[place:]][:LIST_LIMIT]
