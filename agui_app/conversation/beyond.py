"""Events made fit for readers who have only the newest messages of a run.

A window of a thread holds the newest messages, one at least. An event that changes a row before it would make a new
row at its end: it could not be told from one about something new. So an event that is about a row which others
follow is logged with a note that names the row, and a reader who does not have it leaves the event alone: the row is
on an older page, changed, whenever he loads that.
"""

from __future__ import annotations

from typing import Any

from agui_app.conversation.calls import carrier_of, is_known_call
from agui_app.conversation.edits import find, free_id, index_of, index_of_call, index_of_result, message_ids
from agui_app.conversation.messages import read_standard
from agui_app.conversation.model import Conversation, Message, Role
from agui_app.protocol.events import (
    ActivitySnapshotEvent,
    Event,
    MessagesSnapshotEvent,
    ReasoningMessageStartEvent,
    SubagentStartedEvent,
    TextMessageStartEvent,
    ToolCallResult,
    ToolCallStartEvent,
    with_our_metadata,
    write_event,
)
from agui_app.protocol.ids import derived_id


def noted(conversation: Conversation, event: Event, *, always: bool = False) -> Event:
    """`event` with what readers must know of the rows before it, of which `conversation` has all of the run's.

    `always`: the newest message too may be one that a reader does not have, since a snapshot took rows away.
    """
    run_id = conversation.active_run_id or ""
    match event:
        case MessagesSnapshotEvent():
            return _noted_snapshot(conversation, run_id, event)
        case ToolCallResult():
            event = _with_free_id(conversation, run_id, event)
        case ToolCallStartEvent():
            plain = event.parent_message_id or derived_id(run_id, event.tool_call_id)
            row = carrier_of(conversation, run_id, event.tool_call_id, event.parent_message_id)
            event = _with_row(event, row, plain)
        case SubagentStartedEvent():
            plain = derived_id(run_id, event.subagent_run_id)
            event = _with_row(event, free_id(message_ids(conversation), run_id, event.subagent_run_id), plain)
        case _:
            pass
    index = _about(conversation, run_id, event)
    if index is None or (index == len(conversation.messages) - 1 and not always):
        return event
    return with_our_metadata(event, about=conversation.messages[index].id)


def _about(conversation: Conversation, run_id: str, event: Event) -> int | None:
    """Where the row stands that is there already for an event which else makes one."""
    match event:
        case ToolCallResult():
            answered = index_of_result(conversation, run_id, event.tool_call_id)
            return index_of_call(conversation, run_id, event.tool_call_id) if answered is None else answered
        case ToolCallStartEvent():
            return _about_call(conversation, run_id, event)
        case TextMessageStartEvent() | ReasoningMessageStartEvent() | ActivitySnapshotEvent():
            return index_of(conversation, event.message_id)
        case SubagentStartedEvent():
            return find(conversation, lambda message: _is_subagent(message, run_id, event.subagent_run_id))
        case _:
            return None


def _about_call(conversation: Conversation, run_id: str, event: ToolCallStartEvent) -> int | None:
    known = index_of_call(conversation, run_id, event.tool_call_id)
    if known is None:
        known = index_of_result(conversation, run_id, event.tool_call_id)
    if known is None and carrier_of(conversation, run_id, event.tool_call_id, event.parent_message_id) is None:
        return len(conversation.messages) - 1  # the newest message becomes its carrier
    return known


def _is_subagent(message: Message, run_id: str, subagent_run_id: str) -> bool:
    return message.role is Role.SUBAGENT and message.run_id == run_id and message.subagent_run_id == subagent_run_id


def _with_free_id(conversation: Conversation, run_id: str, event: ToolCallResult) -> Event:
    """A result under an id that another row has gets the one that its row will have."""
    taken = message_ids(conversation)
    if event.message_id not in taken:
        return event
    return event.model_copy(update={"message_id": free_id(taken, run_id, event.tool_call_id, "result")})


def _with_row(event: Event, row: str | None, plain: str) -> Event:
    """An event that makes a row says under which id, where that is not the plain one because it is taken."""
    return event if row in (None, plain) else with_our_metadata(event, row=row)


def _noted_snapshot(conversation: Conversation, run_id: str, event: MessagesSnapshotEvent) -> Event:
    """The snapshot with the messages and calls in it that are there already."""
    values: list[Any] = write_event(event)["messages"]
    read = [message for value in values if (message := read_standard(value)) is not None]
    ids = message_ids(conversation)
    calls = {call.id for each in read for call in each.calls} | {each.answers for each in read if each.answers}
    known = {
        "messages": [each.message.id for each in read if each.message.id in ids],
        "calls": sorted(call for call in calls if is_known_call(conversation, run_id, call)),
    }
    return with_our_metadata(event, known=known) if any(known.values()) else event
