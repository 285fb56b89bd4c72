"""The values that a conversation is made of. Frozen; every change is a new value."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value."""


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    DEVELOPER = "developer"
    TOOL = "tool"
    REASONING = "reasoning"
    ACTIVITY = "activity"
    SUBAGENT = "subagent"


class MessageStatus(StrEnum):
    STREAMING = "streaming"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"


class CallStatus(StrEnum):
    PENDING = "pending"
    EXECUTING = "executing"
    COMPLETED = "completed"
    ERROR = "error"


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    WAITING = "waiting"


class StepState(StrEnum):
    ACTIVE = "active"
    DONE = "done"
    ERROR = "error"
    STOPPED = "stopped"


STAGES = ("intent", "execution", "report")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the agent made it. An assistant message carries at most one.

    Every call sits on a message of its own (its carrier), so that the row of a call without a result stands
    where the call began, however a page is cut. `parent_message_id` is what the agent named; standard AG-UI
    messages group calls by it again.
    """

    id: str
    name: str
    args_text: str = ""
    status: CallStatus = CallStatus.PENDING
    parent_message_id: str | None = None
    result_message_id: str | None = None
    """Id of the tool message that answers it; that message draws the row then."""
    error: Json = None
    """Why it was not carried out (TOOL_CALL_ERROR), as long as no result says so."""
    error_code: str | None = None
    encrypted_value: str | None = None
    """A provider's opaque value, given back to it on a later turn."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool message holds besides its text."""

    call_id: str
    tool_name: str
    args: Json = None
    result: Json = None
    error: Json = None
    ui: Json = None
    content: Json = None
    """`content` of the event as the agent sent it: text, or a list of parts."""
    stage: str | None = None
    task_id: str | None = None
    payload_missing: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a thread, in the order of the transcript."""

    id: str
    role: Role
    run_id: str | None = None
    text: str = ""
    """Text as a reader sees it; for role tool the one-line summary (at most 200 characters)."""
    status: MessageStatus = MessageStatus.COMPLETE
    created_at: str | None = None
    """RFC 3339, UTC."""
    name: str | None = None
    call: ToolCall | None = None
    """Role assistant: the one call that this message carries."""
    tool: ToolResult | None = None
    """Role tool."""
    parts: tuple[Json, ...] = ()
    """Role user: content parts when the content is no plain text (text and image parts, in order)."""
    activity_type: str | None = None
    activity: Json = None
    """Role activity: its content. Role subagent: name, description, and result or error when it ended."""
    metadata: Json = None
    """`metadata` of the event or message without what this program noted there, when there is any."""
    subagent_run_id: str | None = None
    """The subagent's invocation that this belongs to."""
    encrypted_value: str | None = None
    """A provider's opaque value, given back to it on a later turn."""


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    state: StepState
    started_at: str | None = None
    finished_at: str | None = None


@dataclass(frozen=True, slots=True)
class RunFailure:
    message: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    run_id: str
    status: RunStatus = RunStatus.RUNNING
    outcome: Json = None
    """`outcome` of RUN_FINISHED as it came."""
    error: RunFailure | None = None
    steps: tuple[Step, ...] = ()
    started_at: str | None = None
    finished_at: str | None = None
    usage: Json = None
    result: Json = None
    interrupts: tuple[Json, ...] = ()
    superseded_by: str | None = None
    """The run that was the first to replace this one, or a part of it, by a retry or an edit."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A window of a thread: messages oldest first, and every run that touches them, in order of start."""

    messages: tuple[Message, ...] = ()
    runs: tuple[Run, ...] = ()
    active_run_id: str | None = None
    open_reasoning: tuple[str, ...] = field(default=())
    """Ids of reasoning spans that are open (REASONING_START without an end); they draw nothing."""


class ItemKind(StrEnum):
    MESSAGE = "message"
    TOOL_CALL = "toolCall"
    TOOL_RESULT = "toolResult"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class Item:
    """One row of the transcript, the same live and from history (the specification's ChatListItem)."""

    id: str
    """Stable from the first event of the row to its last: a call's row keeps its id when the result comes."""
    kind: ItemKind
    status: str
    """message: MessageStatus; toolCall: CallStatus; toolResult: completed or error; schedule: MessageStatus."""
    run_id: str | None = None
    timestamp: str | None = None
    sender: str = ""
    role: str | None = None
    text: str = ""
    call_id: str | None = None
    tool_name: str | None = None
    args_text: str = ""
    args: Json = None
    error: Json = None
    card: Json = None
    """The UI schema as it came, or the one derived (error card, schedule); None: no card."""
    card_type: str | None = None
    fallback: bool = False
    """The fallback card draws it: unknown type, or data that fails its model."""
    parts: tuple[Json, ...] = ()
    activity_type: str | None = None
    activity: Json = None
    payload_missing: bool = False
