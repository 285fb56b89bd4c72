"""The one fold: a conversation and an event make the next conversation.

Tolerant: an event that breaks the order, or that nobody can read, changes nothing; no event raises. Chunk events and
THINKING_* are expanded before (`protocol.normalise`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce as fold_left
from typing import Any

from agui_app.conversation import activities, calls, history, runs, snapshots, texts
from agui_app.conversation.edits import active_run, index_of
from agui_app.conversation.model import Conversation, Run
from agui_app.protocol import events as ev
from agui_app.protocol.times import rfc3339


def reduce(conversation: Conversation, event: ev.Event) -> Conversation:
    """The conversation after `event`; the same object when it changes nothing."""
    match event:
        case ev.RunStartedEvent():
            return runs.start_run(conversation, event)
        case ev.MessagesSnapshotEvent():
            return _take_snapshot(conversation, event)
        case ev.ToolCallResultEvent() if not isinstance(event, ev.ToolCallResult):
            return reduce(conversation, ev.read_event(event))
        case _:
            return _change_run(conversation, event)


def fold(conversation: Conversation, events: Iterable[ev.Event]) -> Conversation:
    """The conversation after all of `events`."""
    return fold_left(reduce, events, conversation)


def _take_snapshot(conversation: Conversation, event: ev.MessagesSnapshotEvent) -> Conversation:
    """A partial snapshot is a history page: it takes the place of everything that was known."""
    noted = ev.our_metadata(event)
    if noted.get("partial"):
        return history.from_page({**noted, "messages": ev.write_event(event)["messages"]})
    return snapshots.apply_snapshot(conversation, conversation.active_run_id, event, rfc3339(event.timestamp))


def _change_run(conversation: Conversation, event: ev.Event) -> Conversation:
    """What changes the active run, and nothing when none is active."""
    run = active_run(conversation)
    if run is None or _is_about_what_is_not_here(conversation, event):
        return conversation
    for_run = _RUN_CHANGES.get(type(event))
    if for_run is not None:
        return for_run(conversation, run, event)
    for_messages = _MESSAGE_CHANGES.get(type(event))
    return conversation if for_messages is None else for_messages(conversation, run.run_id, event)


def _is_about_what_is_not_here(conversation: Conversation, event: ev.Event) -> bool:
    """Whether the event is noted to be about a row that is on an older page (see `beyond`)."""
    about = ev.our_metadata(event).get("about")
    return about is not None and index_of(conversation, about) is None


def _open_reasoning(conversation: Conversation, _: str, event: ev.ReasoningStartEvent) -> Conversation:
    if event.message_id in conversation.open_reasoning:
        return conversation
    return replace(conversation, open_reasoning=(*conversation.open_reasoning, event.message_id))


def _close_reasoning(conversation: Conversation, _: str, event: ev.ReasoningEndEvent) -> Conversation:
    still = tuple(id for id in conversation.open_reasoning if id != event.message_id)
    return replace(conversation, open_reasoning=still) if still != conversation.open_reasoning else conversation


_RUN_CHANGES: dict[type[Any], Callable[[Conversation, Run, Any], Conversation]] = {
    ev.RunFinishedEvent: runs.finish_run,
    ev.RunErrorEvent: runs.fail_run,
    ev.StepStartedEvent: runs.start_step,
    ev.StepFinishedEvent: runs.finish_step,
}
_MESSAGE_CHANGES: dict[type[Any], Callable[[Conversation, str, Any], Conversation]] = {
    ev.TextMessageStartEvent: texts.start_text,
    ev.TextMessageContentEvent: texts.add_text,
    ev.TextMessageEndEvent: texts.end_text,
    ev.ReasoningStartEvent: _open_reasoning,
    ev.ReasoningEndEvent: _close_reasoning,
    ev.ReasoningMessageStartEvent: texts.start_text,
    ev.ReasoningMessageContentEvent: texts.add_text,
    ev.ReasoningMessageEndEvent: texts.end_text,
    ev.ReasoningEncryptedValueEvent: activities.keep_encrypted,
    ev.ToolCallStartEvent: calls.start_call,
    ev.ToolCallArgsEvent: calls.add_arguments,
    ev.ToolCallEndEvent: calls.end_call,
    ev.ToolCallErrorEvent: calls.refuse_call,
    ev.ToolCallResult: calls.answer_call,
    ev.ActivitySnapshotEvent: activities.show_activity,
    ev.ActivityDeltaEvent: activities.patch_activity,
    ev.SubagentStartedEvent: activities.start_subagent,
    ev.SubagentFinishedEvent: activities.end_subagent,
    ev.SubagentErrorEvent: activities.end_subagent,
}
