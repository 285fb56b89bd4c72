"""Small changes of a conversation, each a new value."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any, cast

from agui_app.conversation.model import Conversation, Json, Message, Run
from agui_app.protocol.events import OURS
from agui_app.protocol.ids import derived_id


def index_of(conversation: Conversation, message_id: str) -> int | None:
    """Where the message of that id stands; searched from the newest, which streams are about."""
    return find(conversation, lambda message: message.id == message_id)


def find(conversation: Conversation, fits: Callable[[Message], bool]) -> int | None:
    """Where the newest message that `fits` stands."""
    messages = conversation.messages
    return next((index for index in range(len(messages) - 1, -1, -1) if fits(messages[index])), None)


def index_of_call(conversation: Conversation, run_id: str, call_id: str) -> int | None:
    """Where the carrier of a run's call stands."""
    return find(
        conversation,
        lambda message: message.run_id == run_id and message.call is not None and message.call.id == call_id,
    )


def index_of_result(conversation: Conversation, run_id: str, call_id: str) -> int | None:
    """Where the tool message that answers a run's call stands."""
    return find(
        conversation,
        lambda message: message.run_id == run_id and message.tool is not None and message.tool.call_id == call_id,
    )


def with_message(conversation: Conversation, index: int, message: Message) -> Conversation:
    """`message` in the place of the one at `index`."""
    before, after = conversation.messages[:index], conversation.messages[index + 1 :]
    return replace(conversation, messages=(*before, message, *after))


def inserted(conversation: Conversation, index: int, message: Message) -> Conversation:
    """`message` before the one at `index`."""
    return replace(conversation, messages=(*conversation.messages[:index], message, *conversation.messages[index:]))


def appended(conversation: Conversation, message: Message) -> Conversation:
    """`message` at the end."""
    return replace(conversation, messages=(*conversation.messages, message))


def active_run(conversation: Conversation) -> Run | None:
    """The run that goes on."""
    return next((run for run in conversation.runs if run.run_id == conversation.active_run_id), None)


def with_run(conversation: Conversation, run: Run) -> Conversation:
    """`run` in the place of the one with its id."""
    runs = tuple(run if known.run_id == run.run_id else known for known in conversation.runs)
    return replace(conversation, runs=runs)


def free_id(taken: Container[str], *parts: str) -> str:
    """An id made of `parts` that is not taken; the same whenever it is made of the same conversation."""
    made, count = derived_id(*parts), 1
    while made in taken:
        count += 1
        made = derived_id(*parts, str(count))
    return made


def message_ids(conversation: Conversation) -> frozenset[str]:
    """The ids that are taken."""
    return frozenset(message.id for message in conversation.messages)


def merged_metadata(known: Json, came: Json) -> Json:
    """The metadata of an event added to a message's, without what this program noted there; None when empty."""
    if not isinstance(came, dict):
        return known
    theirs = {key: value for key, value in cast(dict[str, Any], came).items() if key != OURS}
    before = cast(dict[str, Any], known or {})
    return {**before, **theirs} or None
