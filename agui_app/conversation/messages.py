"""Messages in the standard form of AG-UI, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from agui_app.conversation.calls import is_error
from agui_app.conversation.edits import merged_metadata
from agui_app.conversation.model import Conversation, Json, Message, Role, ToolCall

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard message, read: its calls apart, since each gets a carrier of its own."""

    message: Message
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None
    """Role tool: the call that it answers."""
    content: Json = None
    """Role tool: its content as it came."""
    error: Json = None
    run_id: str | None = None
    """The run that the message says it is of; None: it does not say."""


def read_standard(value: object) -> Standard | None:
    """The message in `value`; None when it is none that can be shown: no id, or a role that nobody knows."""
    if not isinstance(value, dict):
        return None
    wire = cast(Obj, value)
    id, role = wire.get("id"), wire.get("role")
    if not isinstance(id, str) or not isinstance(role, str) or role not in _READ_ROLES:
        return None
    parts = _parts(wire.get("content"))
    message = Message(
        id=id,
        role=Role(role),
        text=text_of_content(wire.get("content")),
        name=_text(wire, "name"),
        parts=parts if role == Role.USER else (),
        metadata=merged_metadata(None, wire.get("metadata")),
        subagent_run_id=_text(wire, "subagentRunId"),
        encrypted_value=_text(wire, "encryptedValue"),
    )
    run_id = _text(wire, "runId")
    match message.role:
        case Role.TOOL:
            call_id = _text(wire, "toolCallId")
            if call_id is None:
                return None
            content = wire.get("content")
            return Standard(message, answers=call_id, content=content, error=wire.get("error"), run_id=run_id)
        case Role.ACTIVITY:
            activity_type, activity = _text(wire, "activityType") or "", wire.get("content")
            return Standard(replace(message, activity_type=activity_type, activity=activity), run_id=run_id)
        case _:
            return Standard(message, calls=tuple(_calls(wire.get("toolCalls"), id)), run_id=run_id)


_READ_ROLES = frozenset(role.value for role in Role if role is not Role.SUBAGENT)


def text_of_content(content: object) -> str:
    """The text of a message's content: itself, or its text parts, one a line."""
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in _parts(content) if part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _parts(content: object) -> tuple[Obj, ...]:
    values = cast(list[object], content) if isinstance(content, list) else []
    return tuple(cast(Obj, part) for part in values if isinstance(part, dict))


def _calls(value: object, parent_id: str) -> Iterable[ToolCall]:
    for call in _parts(value):
        function: object = call.get("function")
        named = cast(Obj, function) if isinstance(function, dict) else {}
        id, name = _text(call, "id"), _text(named, "name")
        if id is not None and name is not None:
            yield ToolCall(
                id,
                name,
                args_text=_text(named, "arguments") or "",
                parent_message_id=parent_id,
                encrypted_value=_text(call, "encryptedValue"),
            )


def _text(wire: Mapping[str, Any], key: str) -> str | None:
    value = wire.get(key)
    return value if isinstance(value, str) else None


@dataclass(slots=True)
class _Turn:
    """A standard assistant message with the tool messages that follow it."""

    wire: Obj
    results: list[Obj] = field(default_factory=list[Obj])


def standard_messages(conversation: Conversation | Iterable[Message]) -> list[Obj]:
    """The messages in AG-UI form: calls in the assistant message that they name, their results after it.

    Left out: subagents, for which AG-UI has no message, and assistant messages that say and do nothing.
    """
    messages = conversation.messages if isinstance(conversation, Conversation) else conversation
    turns: list[_Turn] = []
    spoken: dict[tuple[str | None, str], _Turn] = {}
    carried: dict[tuple[str | None, str], _Turn] = {}
    for message in messages:
        key = (message.run_id, message.id)
        if message.tool is not None and (turn := carried.get((message.run_id, message.tool.call_id))):
            turn.results.append(_tool_wire(message))
            continue
        call = message.call
        turn = spoken.get((message.run_id, call.parent_message_id or "")) if call and not message.text else None
        if turn is None and (wire := _wire(message)) is not None:
            turn = spoken[key] = _Turn(wire)
            turns.append(turn)
        if turn is not None and call is not None:
            turn.wire.setdefault("toolCalls", []).append(_call_wire(call))
            carried[message.run_id, call.id] = turn
    return [wire for turn in turns for wire in (turn.wire, *turn.results)]


def _wire(message: Message) -> Obj | None:
    match message.role:
        case Role.SUBAGENT:
            return None
        case Role.TOOL:
            return _tool_wire(message)
        case Role.ACTIVITY:
            return _given(message, activityType=message.activity_type, content=message.activity)
        case Role.USER:
            return _given(message, content=list(message.parts) or message.text, name=message.name)
        case Role.ASSISTANT:
            if not message.text and message.call is None:
                return None
            return _given(message, content=message.text or None, name=message.name)
        case _:  # system, developer, reasoning
            return _given(message, content=message.text, name=message.name)


def _given(message: Message, **members: Json) -> Obj:
    shared = {
        "metadata": message.metadata,
        "subagentRunId": message.subagent_run_id,
        "encryptedValue": message.encrypted_value,
    }
    given = {key: value for key, value in (members | shared).items() if value is not None}
    return {"id": message.id, "role": message.role.value, **given}


def _tool_wire(message: Message) -> Obj:
    tool = message.tool
    if tool is None:
        return _given(message, content=message.text, toolCallId="")
    error = tool.error if is_error(tool.error) else None
    written = error if error is None or isinstance(error, str) else message.text
    content = message.text if tool.content is None else tool.content
    return _given(message, toolCallId=tool.call_id, content=content, error=written)


def _call_wire(call: ToolCall) -> Obj:
    sealed = {} if call.encrypted_value is None else {"encryptedValue": call.encrypted_value}
    function = {"name": call.name, "arguments": call.args_text}
    return {"id": call.id, "type": "function", "function": function, **sealed}
