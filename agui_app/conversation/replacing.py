"""A retry or an edit: the messages that a run replaces leave the window, and so do the runs that said nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from agui_app.conversation.edits import index_of
from agui_app.conversation.model import Conversation, Json, Run

REPLACES = "replaces"
"""What RUN_STARTED notes: `{"from": messageId}`, that message and all after it are replaced, or
`{"after": messageId}`, all after it are."""


def replaces_note(message_id: str, *, kept: bool) -> dict[str, Any]:
    """The note of a run that replaces what came after a message, and the message too unless it is `kept`."""
    return {REPLACES: {"after" if kept else "from": message_id}}


def without_replaced(conversation: Conversation, run_id: str, note: Json) -> Conversation:
    """The conversation without what the run of that id replaces, as its note says.

    A message that the window does not have is older than all of it: the whole window came after.
    The run of the named message and every later one have lost something, or said nothing: each is `superseded_by`
    the run, and leaves with its last message.
    """
    named = _named(note)
    if named is None:
        return conversation
    message_id, kept = named
    index = index_of(conversation, message_id)
    if index is None:
        return replace(conversation, messages=(), runs=())
    first = _first_run(conversation, index)
    left = conversation.messages[: index + 1 if kept else index]
    speaking = {message.run_id for message in left}
    earlier, later = conversation.runs[:first], conversation.runs[first:]
    superseded = (_superseded(run, run_id) for run in later if run.run_id in speaking)
    return replace(conversation, messages=left, runs=(*earlier, *superseded))


def _named(note: Json) -> tuple[str, bool] | None:
    """The message of a note, and whether it is kept; None: the note says nothing."""
    members = cast(dict[str, Any], note) if isinstance(note, dict) else {}
    for key, kept in (("from", False), ("after", True)):
        if isinstance(message_id := members.get(key), str):
            return message_id, kept
    return None


def _first_run(conversation: Conversation, index: int) -> int:
    """Where the first run stands that has a message at `index` or after it."""
    touched = {message.run_id for message in conversation.messages[index:]}
    places = (place for place, run in enumerate(conversation.runs) if run.run_id in touched)
    return next(places, len(conversation.runs))


def _superseded(run: Run, by: str) -> Run:
    return run if run.superseded_by is not None else replace(run, superseded_by=by)
