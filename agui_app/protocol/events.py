"""Every event, read and written. The only module that imports ag_ui.

An `Event` is a model of AG-UI 1.0, one of our two own (`ToolCallResult`, `ToolCallErrorEvent`), or an
`UnknownEvent`: something that nobody could read, kept as it came and shown nowhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from ag_ui.core import (
    ActivityDeltaEvent,
    ActivitySnapshotEvent,
    BaseEvent,
    CustomEvent,
    EventType,
    MessagesSnapshotEvent,
    RawEvent,
    ReasoningEncryptedValueEvent,
    ReasoningEndEvent,
    ReasoningMessageChunkEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    SubagentErrorEvent,
    SubagentFinishedEvent,
    SubagentStartedEvent,
    TextMessageChunkEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    TokenUsage,
    ToolCallArgsEvent,
    ToolCallChunkEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from ag_ui.core.types import GeneratedBaseModel
from pydantic import Field, ValidationError

from agui_app.protocol.mending import OURS, Obj, camel_keys, lift_extras, mend_result, without_nulls
from agui_app.protocol.sanitise import sanitise, sanitise_text
from agui_app.protocol.times import read_timestamp_ms

__all__ = [
    "OURS",
    "ActivityDeltaEvent",
    "ActivitySnapshotEvent",
    "BaseEvent",
    "CustomEvent",
    "Event",
    "EventType",
    "MessagesSnapshot",
    "MessagesSnapshotEvent",
    "RawEvent",
    "ReasoningEncryptedValueEvent",
    "ReasoningEndEvent",
    "ReasoningMessageChunkEvent",
    "ReasoningMessageContentEvent",
    "ReasoningMessageEndEvent",
    "ReasoningMessageStartEvent",
    "ReasoningStartEvent",
    "RunAgentInput",
    "RunErrorEvent",
    "RunFinishedCancelledOutcome",
    "RunFinishedEvent",
    "RunFinishedInterruptOutcome",
    "RunFinishedSuccessOutcome",
    "RunStarted",
    "RunStartedEvent",
    "StateDeltaEvent",
    "StateSnapshotEvent",
    "StepFinishedEvent",
    "StepStartedEvent",
    "SubagentErrorEvent",
    "SubagentFinishedEvent",
    "SubagentStartedEvent",
    "TextMessageChunkEvent",
    "TextMessageContentEvent",
    "TextMessageEndEvent",
    "TextMessageStartEvent",
    "TokenUsage",
    "ToolCallArgsEvent",
    "ToolCallChunkEvent",
    "ToolCallEndEvent",
    "ToolCallErrorEvent",
    "ToolCallResult",
    "ToolCallResultEvent",
    "ToolCallStartEvent",
    "UnknownEvent",
    "dump_event",
    "event_type",
    "our_metadata",
    "parse_event",
    "read_event",
    "stamp",
    "wire_of",
    "with_our_metadata",
    "write_event",
    "write_standard_event",
]

TOOL_CALL_ERROR = "TOOL_CALL_ERROR"
RESULT_EXTRAS = ("toolName", "args", "result", "error", "ui", "stage", "taskId")
"""What TOOL_CALL_RESULT carries at top level on our stream and under `metadata` on the standard endpoint."""


class RunStarted(RunStartedEvent):
    """RUN_STARTED whose `input` is kept as it came: messages of unknown roles do not spoil the event."""

    input: Any = None


class MessagesSnapshot(MessagesSnapshotEvent):
    """MESSAGES_SNAPSHOT whose messages are kept as they came, as JSON objects."""

    messages: list[Any]


class ToolCallResult(ToolCallResultEvent):
    """TOOL_CALL_RESULT with what our stream adds to it. `result` may be null as a value: then it is set to None."""

    content: Any
    """Text, or a list of content parts."""
    call_id: str | None = None
    tool_name: str | None = None
    args: Any = None
    result: Any = None
    error: Any = None
    ui: Any = None
    stage: str | None = None
    task_id: str | None = None


class ToolCallErrorEvent(GeneratedBaseModel):
    """A call that was not carried out; a ToolCallResult with the same error follows it."""

    type: Literal["TOOL_CALL_ERROR"] = TOOL_CALL_ERROR
    timestamp: int | None = None
    metadata: dict[str, Any] | None = None
    tool_call_id: str
    error: Any = Field(...)
    code: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """What could not be read. It is kept in the log and changes nothing."""

    type: str
    raw: Any
    reason: str | None = None
    """Why a known type was not understood; None for a type that AG-UI 1.0 does not have."""


_Model: TypeAlias = type[BaseEvent] | type[ToolCallErrorEvent]

Event: TypeAlias = BaseEvent | ToolCallErrorEvent | UnknownEvent

_STANDARD: tuple[type[BaseEvent], ...] = (
    *(TextMessageStartEvent, TextMessageContentEvent, TextMessageEndEvent, TextMessageChunkEvent),
    *(ToolCallStartEvent, ToolCallArgsEvent, ToolCallEndEvent, ToolCallChunkEvent, ToolCallResult),
    *(StateSnapshotEvent, StateDeltaEvent, MessagesSnapshot, ActivitySnapshotEvent, ActivityDeltaEvent),
    *(RawEvent, CustomEvent, RunStarted, RunFinishedEvent, RunErrorEvent, StepStartedEvent, StepFinishedEvent),
    *(ReasoningStartEvent, ReasoningMessageStartEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent),
    *(ReasoningMessageChunkEvent, ReasoningEndEvent, ReasoningEncryptedValueEvent),
    *(SubagentStartedEvent, SubagentFinishedEvent, SubagentErrorEvent),
)
CLASSES: dict[str, _Model] = {
    **{cls.model_fields["type"].default.value: cls for cls in _STANDARD},
    TOOL_CALL_ERROR: ToolCallErrorEvent,
}
"""Wire type -> the class that reads it."""


def event_type(event: Event) -> str:
    """The type as it stands on the wire."""
    return event.type.value if isinstance(event.type, EventType) else event.type


@dataclass(frozen=True, slots=True)
class _Fields:
    aliases: dict[str, str]
    """Attribute name -> name on the wire."""
    optional: frozenset[str]
    """Wire names of the fields that may be left out."""
    nullable: frozenset[str]
    """Wire names of the optional fields in which null is a value of its own."""


@cache
def _fields(cls: _Model) -> _Fields:
    aliases = {name: field.alias or name for name, field in cls.model_fields.items()}
    optional = frozenset(aliases[name] for name, field in cls.model_fields.items() if not field.is_required())
    return _Fields(aliases, optional, frozenset({"result"} if cls is ToolCallResult else ()))


def parse_event(text: str | bytes) -> Event:
    """The event that a line of JSON holds; never raises."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        return UnknownEvent("", sanitise_text(shown), str(error))
    return read_event(raw)


def read_event(raw: object) -> Event:
    """The event that `raw` stands for: a JSON object, or an event that somebody built. Never raises.

    Old forms are mended, text is made sound, optional fields that cannot be read are put aside under
    `metadata["agui-app"].unreadable`. What still fails comes back as an UnknownEvent.
    """
    value = raw if isinstance(raw, UnknownEvent) else wire_of(raw)
    if isinstance(value, UnknownEvent):
        return value
    if not isinstance(value, dict):
        return UnknownEvent("", value, "an event is a JSON object")
    wire = _extension(cast(Obj, value))
    kind = wire.get("type")
    if not isinstance(kind, str):
        return UnknownEvent("", wire, "`type` is no text")
    cls = CLASSES.get(kind)
    return UnknownEvent(kind, wire) if cls is None else _validated(cls, kind, wire)


def wire_of(raw: object) -> object:
    """`raw` as sound JSON, an event written out; an UnknownEvent when it cannot be."""
    try:
        return write_event(raw) if isinstance(raw, BaseEvent | ToolCallErrorEvent) else sanitise(raw)
    except Exception as error:  # nested too deep, no JSON at all, or a value whose own methods raise
        return UnknownEvent("", None, type(error).__name__)


def _extension(wire: Obj) -> Obj:
    """TOOL_CALL_ERROR taken out of the CUSTOM event that carries it where only AG-UI 1.0 may pass."""
    value = wire.get("value")
    if wire.get("type") != "CUSTOM" or wire.get("name") != TOOL_CALL_ERROR or not isinstance(value, dict):
        return wire
    rest = {key: member for key, member in wire.items() if key not in ("name", "value")}
    return {**rest, **cast(Obj, value), "type": TOOL_CALL_ERROR}


def _validated(cls: _Model, kind: str, wire: Obj) -> Event:
    mended = _mended(cls, kind, wire)
    try:
        return cls.model_validate(mended)
    except ValidationError as error:
        wrong = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}
        if not wrong or not wrong <= _fields(cls).optional - {"type"}:
            return UnknownEvent(kind, wire, _reason(error))
    kept = {key: value for key, value in mended.items() if key not in wrong}
    unreadable = {key: mended[key] for key in wrong}
    return with_our_metadata(cls.model_validate(kept), unreadable=unreadable)


def _mended(cls: _Model, kind: str, wire: Obj) -> Obj:
    fields = _fields(cls)
    mended = without_nulls(camel_keys(wire, fields.aliases), fields.optional - fields.nullable)
    if "timestamp" in mended:
        timestamp_ms = read_timestamp_ms(mended.pop("timestamp"))
        mended |= {} if timestamp_ms is None else {"timestamp": timestamp_ms}
    match kind:
        case "TOOL_CALL_RESULT":
            return mend_result(lift_extras(mended, RESULT_EXTRAS))
        case "RUN_FINISHED":
            return {"threadId": "", "runId": "", **mended}
        case "RUN_STARTED":
            return {"threadId": "", **mended}
        case _:
            return mended


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


def write_event(event: Event) -> Obj:
    """The wire form of our thread stream: a JSON object, absent instead of null.

    What was never an object with a type goes out as RAW, so that every frame is an event.
    """
    if isinstance(event, UnknownEvent):
        raw: object = event.raw
        if isinstance(raw, dict) and isinstance(cast(Obj, raw).get("type"), str):
            return cast(Obj, raw)
        return {"type": "RAW", "event": raw, "source": "unreadable"}
    wire: Obj = sanitise(event.model_dump(mode="json", by_alias=True, warnings=False))
    if isinstance(event, ToolCallResult) and "result" in event.model_fields_set:
        wire.setdefault("result", None)
    return wire


def dump_event(event: Event) -> str:
    """`write_event` as one line of JSON, in UTF-8 and not escaped to ASCII."""
    return sanitise_text(json.dumps(write_event(event), ensure_ascii=False, separators=(",", ":")))


def write_standard_event(event: Event) -> Obj | None:
    """The form of the standard endpoint: exactly AG-UI 1.0. None: AG-UI 1.0 has no word for it."""
    match event:
        case UnknownEvent():
            return None
        case ToolCallErrorEvent():
            wire = write_event(event)
            value = {key: wire.pop(key) for key in ("toolCallId", "error", "code") if key in wire}
            return {**wire, "type": "CUSTOM", "name": TOOL_CALL_ERROR, "value": value}
        case ToolCallResult():
            wire = write_event(event)
            extras = {key: wire.pop(key) for key in RESULT_EXTRAS if key in wire}
            wire.pop("callId", None)
            return {**wire, "metadata": {**wire.get("metadata", {}), **extras}} if extras else wire
        case _:
            return write_event(event)


def stamp(event: Event, timestamp_ms: int) -> Event:
    """`event` with a time, if it has none."""
    if isinstance(event, UnknownEvent) or event.timestamp is not None:
        return event
    return event.model_copy(update={"timestamp": timestamp_ms})


def our_metadata(event: Event) -> Obj:
    """What this program noted about the event: `metadata["agui-app"]`, `{}` without."""
    noted: Any = None if isinstance(event, UnknownEvent) else (event.metadata or {}).get(OURS)
    return cast(Obj, noted) if isinstance(noted, dict) else {}


def with_our_metadata(event: Event, **noted: Any) -> Event:
    """`event` with `noted` added to `metadata["agui-app"]`; an UnknownEvent stays as it is."""
    if isinstance(event, UnknownEvent):
        return event
    return event.model_copy(update={"metadata": {**(event.metadata or {}), OURS: {**our_metadata(event), **noted}}})
