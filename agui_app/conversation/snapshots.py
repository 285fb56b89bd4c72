"""Messages that come whole: in MESSAGES_SNAPSHOT, and as what a run was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from agui_app.conversation.calls import is_known_call, place_call, place_result, text_of
from agui_app.conversation.edits import (
    appended,
    index_of,
    index_of_call,
    index_of_result,
    merged_metadata,
    with_message,
)
from agui_app.conversation.messages import Standard, read_standard
from agui_app.conversation.model import CallStatus, Conversation, Message, Role, ToolCall, ToolResult
from agui_app.conversation.partial_json import read_json
from agui_app.protocol.events import MessagesSnapshotEvent, write_event

NONE: Mapping[str, str] = MappingProxyType({})

_AUTHORITATIVE = frozenset({Role.USER, Role.ASSISTANT, Role.TOOL})


def take_in(conversation: Conversation, run_id: str, values: Iterable[object], created_at: str | None) -> Conversation:
    """The messages that a run was given, those of them that are not of an earlier run already.

    A row that the page drew before it was sent (it has no run yet) becomes the run's, where it stands.
    """
    for read in _readable(values):
        conversation = _merged(conversation, run_id, read, created_at)
    return conversation


def apply_snapshot(
    conversation: Conversation, run_id: str | None, event: MessagesSnapshotEvent, created_at: str | None
) -> Conversation:
    """The user, assistant and tool rows of the run as the snapshot has them; rows of other runs changed by id.

    A message that says it is of another run (`runId`) and stands in none of the rows here is left alone.
    """
    read = tuple(_readable(cast(Sequence[object], write_event(event)["messages"])))
    known = {message.id: message.run_id for message in conversation.messages}
    mine = [each for each in read if known.get(each.message.id) in (None, run_id) and each.run_id in (None, run_id)]
    for each in read:
        if known.get(each.message.id) not in (None, run_id):
            conversation = _updated(conversation, each)
    if run_id is None:
        return conversation
    conversation = _without_others(conversation, run_id, mine)
    for each in mine:
        conversation = _merged(conversation, run_id, each, created_at)
    return conversation


def scoped_snapshot(
    event: MessagesSnapshotEvent, earlier: Mapping[str, str | None], renamed: Mapping[str, str] = NONE
) -> MessagesSnapshotEvent:
    """The snapshot as it is logged: each message of an earlier run (`earlier`: message id -> run id) says which.

    A reader that has only the newest page cannot tell otherwise which of the messages are new. `renamed`: ids that
    stand for a message of this run -> the id that it has in the thread; one that the snapshot has by that id stays.
    """
    messages: list[Any] = write_event(event)["messages"]
    named = {_id(message) for message in messages}
    own = {id: name for id, name in renamed.items() if name not in named}
    return event.model_copy(update={"messages": [_scoped(message, earlier, own) for message in messages]})


def _scoped(message: object, earlier: Mapping[str, str | None], own: Mapping[str, str]) -> object:
    id = _id(message)
    if id is None:
        return message
    wire = cast(dict[str, Any], message)
    if id in own:
        return {**wire, "id": own[id]}
    run_id = earlier.get(id)
    return wire if run_id is None else {**wire, "runId": run_id}


def _id(message: object) -> str | None:
    return str(cast(dict[str, Any], message).get("id")) if isinstance(message, dict) else None


def _readable(values: Iterable[object]) -> Iterable[Standard]:
    return (read for value in values if (read := read_standard(value)) is not None)


def _without_others(conversation: Conversation, run_id: str, kept: Sequence[Standard]) -> Conversation:
    """Without the authoritative rows of the run that are not `kept`."""
    ids = {each.message.id for each in kept}
    calls = {call.id for each in kept for call in each.calls}
    answers = {each.answers for each in kept}
    messages: list[Message] = []
    for message in conversation.messages:
        call, tool = message.call, message.tool
        if message.run_id != run_id or message.role not in _AUTHORITATIVE:
            messages.append(message)
        elif tool is not None:
            messages += [message] if tool.call_id in answers else []
        elif call is not None and call.id in calls:
            answered = call.id in answers
            messages.append(message if answered else replace(message, call=_unanswered(call)))
        elif message.id in ids:
            messages.append(replace(message, call=None))
    return replace(conversation, messages=tuple(messages))


def _unanswered(call: ToolCall) -> ToolCall:
    return (
        call if call.result_message_id is None else replace(call, result_message_id=None, status=CallStatus.EXECUTING)
    )


def _merged(conversation: Conversation, run_id: str, read: Standard, created_at: str | None) -> Conversation:
    message = replace(read.message, run_id=run_id, created_at=created_at)
    if read.answers is not None:
        return _with_result(conversation, message, read, read.answers)
    known = [is_known_call(conversation, run_id, call.id) for call in read.calls]
    if message.text or not read.calls or not all(known):
        conversation = _with_text(conversation, message)
    for call in read.calls:
        conversation = _with_known_call(conversation, run_id, call, created_at)
    return conversation


def _with_text(conversation: Conversation, message: Message) -> Conversation:
    index = index_of(conversation, message.id)
    if index is None:
        return appended(conversation, message)
    known = conversation.messages[index]
    if known.role is not message.role or known.run_id not in (None, message.run_id):
        return conversation
    created_at = message.created_at if known.run_id is None else known.created_at
    changed = replace(_as_said(known, message), run_id=message.run_id, created_at=created_at)
    return with_message(conversation, index, changed)


def _as_said(known: Message, message: Message) -> Message:
    """`known` with what a snapshot says of it."""
    return replace(
        known,
        text=message.text,
        parts=message.parts,
        name=message.name or known.name,
        activity_type=message.activity_type,
        activity=message.activity,
        metadata=merged_metadata(known.metadata, message.metadata),
        encrypted_value=message.encrypted_value or known.encrypted_value,
    )


def _with_known_call(conversation: Conversation, run_id: str, call: ToolCall, created_at: str | None) -> Conversation:
    index = index_of_call(conversation, run_id, call.id)
    if index is None:
        if is_known_call(conversation, run_id, call.id):
            return conversation
        made = replace(call, status=CallStatus.EXECUTING)
        return place_call(conversation, run_id, made, created_at=created_at)
    carrier = conversation.messages[index]
    known = carrier.call and replace(carrier.call, name=call.name, args_text=call.args_text)
    return with_message(conversation, index, replace(carrier, call=known))


def _with_result(conversation: Conversation, message: Message, read: Standard, call_id: str) -> Conversation:
    run_id = message.run_id or ""
    index = index_of_result(conversation, run_id, call_id)
    if index is not None:
        known = conversation.messages[index]
        if known.tool is None or known.tool.content == read.content:
            return conversation
        tool = replace(known.tool, content=read.content, error=read.error)
        return with_message(conversation, index, replace(known, text=text_of(tool), tool=tool))
    carrier = index_of_call(conversation, run_id, call_id)
    call = None if carrier is None else conversation.messages[carrier].call
    args = call and read_json(call.args_text)
    tool = ToolResult(call_id, call.name if call else "", args=args, error=read.error, content=read.content)
    return place_result(conversation, replace(message, text=text_of(tool), tool=tool, parts=()), tool)


def _updated(conversation: Conversation, read: Standard) -> Conversation:
    """A row of another run with the text that the snapshot gives it."""
    index = index_of(conversation, read.message.id)
    assert index is not None
    known = conversation.messages[index]
    if known.role is not read.message.role or known.tool is not None:
        return conversation
    return with_message(conversation, index, _as_said(known, read.message))
