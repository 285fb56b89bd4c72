"""What changed for an owner, as those who change it say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Changed(StrEnum):
    """What can change besides the events of a thread, which have a stream of their own."""

    THREAD_CREATED = "thread.created"
    THREAD_UPDATED = "thread.updated"
    """Its line in the list is another: title, time, last line or active run."""
    THREAD_DELETED = "thread.deleted"
    CALENDAR_CHANGED = "calendar.changed"
    """An event was created or is another."""
    CALENDAR_DELETED = "calendar.deleted"


@dataclass(frozen=True, slots=True)
class Change:
    """One change that is committed."""

    what: Changed
    id: str
    """Of the thread or the calendar event."""


Tell = Callable[[str, Change], None]
"""Tells an owner's readers. Call it right after the commit; it neither waits nor fails."""


def tell_nobody(owner_id: str, change: Change) -> None:
    """For parts that nobody listens to."""
