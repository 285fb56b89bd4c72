"""Fewer, longer events that say the same."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TypeGuard

from agui_app.protocol.events import (
    Event,
    ReasoningMessageContentEvent,
    TextMessageContentEvent,
    ToolCallArgsEvent,
    dump_event,
)

Delta = TextMessageContentEvent | ReasoningMessageContentEvent | ToolCallArgsEvent


def coalesce(events: Iterable[Event]) -> list[Event]:
    """`events` with neighbouring pieces of one text, or of one call's arguments, as one event.

    Its time is that of the first piece. Pieces that carry more than text stay as they are.
    """
    merged: list[Event] = []
    for _, group in groupby(enumerate(events), key=lambda pair: _key(*pair)):
        pieces = [event for _, event in group]
        merged.append(pieces[0] if len(pieces) == 1 else _joined(pieces))
    return merged


def _key(index: int, event: Event) -> tuple[object, ...]:
    """Equal for neighbours that may be joined."""
    if not is_plain(event):
        return (index,)
    id = event.tool_call_id if isinstance(event, ToolCallArgsEvent) else event.message_id
    return (type(event), id, event.subagent_run_id)


def is_plain(event: Event) -> TypeGuard[Delta]:
    """Whether the event is a piece of text, or of a call's arguments, and nothing more."""
    return isinstance(event, Delta) and event.metadata is None and event.raw_event is None and not event.model_extra


def extent(event: Event) -> int:
    """How many characters the event adds to what its run has said."""
    return len(event.delta) if is_plain(event) else len(dump_event(event))


def _joined(pieces: list[Event]) -> Event:
    deltas = [piece.delta for piece in pieces if isinstance(piece, Delta)]
    first = pieces[0]
    assert isinstance(first, Delta)
    return first.model_copy(update={"delta": "".join(deltas)})
