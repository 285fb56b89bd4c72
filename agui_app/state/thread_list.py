"""The list of threads as plain rows, and what a change makes of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LIST_LIMIT = 50

ThreadRow = dict[str, Any]
"""id, title, updatedAt; each a text."""


def thread_row(line: dict[str, Any]) -> ThreadRow:
    """The row of a thread's line."""
    return {key: line.get(key) or "" for key in ("id", "title", "updatedAt")}


def changed(rows: Sequence[ThreadRow], change: dict[str, Any], *, only_known: bool = False) -> list[ThreadRow] | None:
    """The rows after a change, the one that changed last first; None when they have to be read anew.

    `only_known`: a thread that is not in the list does not come into it, as in the results of a search.
    """
    line = change.get("thread")
    if not isinstance(line, dict):
        return list(rows) if change.get("type") != "resync" else None
    others = [row for row in rows if row["id"] != line["id"]]
    if change.get("type") == "thread.deleted" or (only_known and len(others) == len(rows)):
        return others
    new = thread_row(line)
    place = next((index for index, row in enumerate(others) if row["updatedAt"] <= new["updatedAt"]), len(others))
    return [*others[:place], new, *others[place:]][:LIST_LIMIT]
