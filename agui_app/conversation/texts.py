"""Texts that stream: messages and reasoning."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from agui_app.conversation.edits import appended, index_of, merged_metadata, with_message
from agui_app.conversation.model import Conversation, Message, MessageStatus, Role
from agui_app.protocol.events import (
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    our_metadata,
)
from agui_app.protocol.times import rfc3339

SPOKEN = frozenset({Role.ASSISTANT, Role.USER, Role.SYSTEM, Role.DEVELOPER})
REASONED = frozenset({Role.REASONING})


def start_text(
    conversation: Conversation, run_id: str, event: TextMessageStartEvent | ReasoningMessageStartEvent
) -> Conversation:
    """A message begins; an id that is known changes nothing."""
    if index_of(conversation, event.message_id) is not None:
        return conversation
    return appended(
        conversation,
        Message(
            id=event.message_id,
            role=Role(event.role or "assistant"),
            run_id=run_id,
            status=MessageStatus.STREAMING,
            created_at=rfc3339(event.timestamp),
            name=event.name if isinstance(event, TextMessageStartEvent) else None,
            metadata=merged_metadata(None, event.metadata),
            subagent_run_id=event.subagent_run_id,
        ),
    )


def add_text(
    conversation: Conversation, run_id: str, event: TextMessageContentEvent | ReasoningMessageContentEvent
) -> Conversation:
    """A message of the run grows. What an agent says after its end is kept too: nothing that was said is lost."""
    roles = SPOKEN if isinstance(event, TextMessageContentEvent) else REASONED
    index = _index(conversation, run_id, event.message_id, roles)
    if index is None:
        return conversation
    message = conversation.messages[index]
    if message.status is not MessageStatus.STREAMING and message.role not in (Role.ASSISTANT, Role.REASONING):
        return conversation
    metadata = merged_metadata(message.metadata, event.metadata)
    return with_message(conversation, index, replace(message, text=message.text + event.delta, metadata=metadata))


def end_text(
    conversation: Conversation, run_id: str, event: TextMessageEndEvent | ReasoningMessageEndEvent
) -> Conversation:
    """A message of the run is whole, or was cut when somebody else ended it."""
    roles = SPOKEN if isinstance(event, TextMessageEndEvent) else REASONED
    index = _index(conversation, run_id, event.message_id, roles)
    if index is None:
        return conversation
    message = conversation.messages[index]
    status = message.status
    if status is MessageStatus.STREAMING:
        status = MessageStatus.INTERRUPTED if our_metadata(event).get("interrupted") else MessageStatus.COMPLETE
    metadata = merged_metadata(message.metadata, event.metadata)
    return with_message(conversation, index, replace(message, status=status, metadata=metadata))


def _index(conversation: Conversation, run_id: str, message_id: str, roles: Container[Role]) -> int | None:
    index = index_of(conversation, message_id)
    if index is None:
        return None
    message = conversation.messages[index]
    return index if message.run_id == run_id and message.role in roles else None
