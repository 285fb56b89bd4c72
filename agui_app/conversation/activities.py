"""Activities, subagents and encrypted values: what an agent shows besides texts and calls."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any, cast

import jsonpatch

from agui_app.conversation.edits import (
    appended,
    find,
    free_id,
    index_of,
    merged_metadata,
    message_ids,
    with_message,
)
from agui_app.conversation.model import Conversation, Json, Message, MessageStatus, Role
from agui_app.protocol.events import (
    ActivityDeltaEvent,
    ActivitySnapshotEvent,
    ReasoningEncryptedValueEvent,
    SubagentErrorEvent,
    SubagentFinishedEvent,
    SubagentStartedEvent,
    our_metadata,
    write_event,
)
from agui_app.protocol.sanitise import TooDeep, sanitise
from agui_app.protocol.times import rfc3339

MAX_COPIED_CHARS = 1_000_000  # of an activity: every `copy` may double it, so a short patch could fill the memory
_POLLUTING = "__proto__"


def show_activity(conversation: Conversation, run_id: str, event: ActivitySnapshotEvent) -> Conversation:
    """An activity as it is now. `replace` false leaves one that is known alone."""
    index = index_of(conversation, event.message_id)
    if index is None:
        made = Message(event.message_id, Role.ACTIVITY, run_id, created_at=rfc3339(event.timestamp))
        return appended(conversation, _shown(made, event))
    known = conversation.messages[index]
    if event.replace is False or known.role is not Role.ACTIVITY or known.run_id != run_id:
        return conversation
    return with_message(conversation, index, _shown(known, event))


def _shown(message: Message, event: ActivitySnapshotEvent) -> Message:
    return replace(
        message,
        activity_type=event.activity_type,
        activity=event.content,
        metadata=merged_metadata(message.metadata, event.metadata),
        subagent_run_id=event.subagent_run_id,
    )


def patch_activity(conversation: Conversation, run_id: str, event: ActivityDeltaEvent) -> Conversation:
    """An activity of the run changed by a JSON Patch (RFC 6902): all of it, or nothing when it does not fit."""
    index = index_of(conversation, event.message_id)
    if index is None:
        return conversation
    known = conversation.messages[index]
    if known.role is not Role.ACTIVITY or known.run_id != run_id:
        return conversation
    content = patched(known.activity, write_event(event)["patch"])
    if not isinstance(content, dict):
        return conversation
    changed = replace(known, activity=cast(Json, content), activity_type=event.activity_type)
    return with_message(conversation, index, changed)


def patched(value: Json, operations: list[dict[str, Any]]) -> Json:
    """`value` after the patch; None when an operation cannot be done, copies too much or names `__proto__`."""
    paths = [str(operation.get(key, "")) for operation in operations for key in ("path", "from")]
    if any(_POLLUTING in path.split("/") for path in paths):
        return None
    changed = copy.deepcopy(value)
    try:
        for operation in operations:
            changed = jsonpatch.apply_patch(changed, [operation], in_place=True)
            if operation.get("op") == "copy" and len(json.dumps(changed)) > MAX_COPIED_CHARS:
                return None
        return sanitise(changed)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TooDeep, RecursionError):
        return None


def start_subagent(conversation: Conversation, run_id: str, event: SubagentStartedEvent) -> Conversation:
    """A subagent begins; one that the run has changes nothing."""
    if _subagent(conversation, run_id, event.subagent_run_id) is not None:
        return conversation
    return appended(
        conversation,
        Message(
            id=our_metadata(event).get("row") or free_id(message_ids(conversation), run_id, event.subagent_run_id),
            role=Role.SUBAGENT,
            run_id=run_id,
            text=event.description or "",
            status=MessageStatus.STREAMING,
            created_at=rfc3339(event.timestamp),
            name=event.name,
            activity={},
            metadata=merged_metadata(None, event.metadata),
            subagent_run_id=event.subagent_run_id,
        ),
    )


def end_subagent(
    conversation: Conversation, run_id: str, event: SubagentFinishedEvent | SubagentErrorEvent
) -> Conversation:
    """A subagent has done its work, or failed."""
    index = _subagent(conversation, run_id, event.subagent_run_id)
    if index is None or conversation.messages[index].status is not MessageStatus.STREAMING:
        return conversation
    if isinstance(event, SubagentErrorEvent):
        status, outcome = MessageStatus.INTERRUPTED, {"error": event.message}
    else:
        wire = write_event(event)
        status, outcome = MessageStatus.COMPLETE, {key: wire[key] for key in ("result", "outcome") if key in wire}
    ended = replace(conversation.messages[index], status=status, activity=outcome)
    return with_message(conversation, index, ended)


def _subagent(conversation: Conversation, run_id: str, subagent_run_id: str) -> int | None:
    return find(
        conversation,
        lambda message: (
            message.role is Role.SUBAGENT and message.run_id == run_id and message.subagent_run_id == subagent_run_id
        ),
    )


def keep_encrypted(conversation: Conversation, run_id: str, event: ReasoningEncryptedValueEvent) -> Conversation:
    """A provider's opaque value put with the message or the call that it belongs to."""
    for_call = event.subtype == "tool-call"
    index = find(
        conversation,
        lambda message: (
            message.run_id == run_id
            and (message.call.id if for_call and message.call else None if for_call else message.id) == event.entity_id
        ),
    )
    if index is None:
        return conversation
    message = conversation.messages[index]
    if for_call and message.call:
        sealed = replace(message, call=replace(message.call, encrypted_value=event.encrypted_value))
    else:
        sealed = replace(message, encrypted_value=event.encrypted_value)
    return with_message(conversation, index, sealed)
