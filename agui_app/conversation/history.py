"""History pages: messages and runs as JSON objects (contract of `GET …/history`), written and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from agui_app.conversation.items import SCHEDULE
from agui_app.conversation.model import (
    CallStatus,
    Conversation,
    Json,
    Message,
    MessageStatus,
    Role,
    Run,
    RunFailure,
    RunStatus,
    Step,
    StepState,
    ToolCall,
    ToolResult,
)
from agui_app.conversation.partial_json import is_readable, read_json

Obj = dict[str, Any]


def page_message(message: Message) -> Obj:
    """The message as a history page has it; keys that do not apply to its role are absent."""
    shared = {
        "name": message.name,
        "subagentRunId": message.subagent_run_id,
        "encryptedValue": message.encrypted_value,
        "metadata": message.metadata,
    }
    return {
        "id": message.id,
        "role": message.role.value,
        "content": message.activity if message.role is Role.ACTIVITY else message.text,
        "runId": message.run_id,
        "createdAt": message.created_at,
        "status": message.status.value,
        **_of_role(message),
        **{key: value for key, value in shared.items() if value is not None},
    }


def _of_role(message: Message) -> Obj:
    match message.role:
        case Role.USER:
            parts = list(message.parts)
            return {"attachments": [_attachment(part) for part in parts if part.get("type") != "text"]} | (
                {"parts": parts} if parts else {}
            )
        case Role.ASSISTANT if message.call is not None:
            return {"toolCalls": [_page_call(message.call)]}
        case Role.TOOL if message.tool is not None:
            return _page_result(message.tool)
        case Role.ACTIVITY:
            return {"activityType": message.activity_type}
        case Role.SUBAGENT:
            return {"activity": message.activity}
        case _:
            return {}


def _attachment(part: Obj) -> Obj:
    """What is attached, by reference: data that is written into the message itself is not repeated."""
    source: Any = part.get("source")
    named = cast(Obj, source) if isinstance(source, dict) else {}
    url = named.get("value") if named.get("type") == "url" else None
    given = {"type": part.get("type"), "id": part.get("id"), "mimeType": named.get("mimeType"), "url": url}
    return {key: value for key, value in given.items() if value is not None}


def _page_call(call: ToolCall) -> Obj:
    given = {
        "args": read_json(call.args_text) if is_readable(call.args_text) else None,
        "resultMessageId": call.result_message_id,
        "parentMessageId": call.parent_message_id,
        "error": call.error,
        "code": call.error_code,
        "encryptedValue": call.encrypted_value,
    }
    return {
        "id": call.id,
        "name": call.name,
        "argsText": call.args_text,
        "status": call.status.value,
        **{key: value for key, value in given.items() if value is not None},
    }


def _page_result(tool: ToolResult) -> Obj:
    written = {
        "toolCallId": tool.call_id,
        "toolName": tool.tool_name,
        "args": tool.args,
        "result": tool.result,
        "error": tool.error,
        "ui": tool.ui,
    }
    return written | ({"payloadMissing": True} if tool.payload_missing else {})


def page_run(run: Run) -> Obj:
    """The run as a history page has it."""
    error = run.error and {"message": run.error.message, "code": run.error.code}
    given = {
        "outcome": run.outcome,
        "error": error,
        "finishedAt": run.finished_at,
        "usage": run.usage,
        "result": run.result,
        "interrupts": list(run.interrupts) or None,
        "supersededBy": run.superseded_by,
    }
    return {
        "runId": run.run_id,
        "status": run.status.value,
        "steps": [_page_step(step) for step in run.steps],
        "startedAt": run.started_at,
        **{key: value for key, value in given.items() if value is not None},
    }


def _page_step(step: Step) -> Obj:
    written = {"name": step.name, "state": step.state.value, "startedAt": step.started_at}
    return written | ({} if step.finished_at is None else {"finishedAt": step.finished_at})


def from_page(page: Mapping[str, Any]) -> Conversation:
    """The conversation of a page: `reduce` goes on from it with the events after its `lastEventId`."""
    messages = tuple(_read_message(message) for message in page.get("messages") or ())
    runs = tuple(_read_run(run) for run in page.get("runs") or ())
    active = page.get("activeRunId") or next((run.run_id for run in runs if run.status is RunStatus.RUNNING), None)
    if active is not None and all(run.run_id != active for run in runs):
        runs = (*runs, Run(active))
    return Conversation(messages, runs, active)


def with_older(conversation: Conversation, page: Mapping[str, Any]) -> Conversation:
    """The conversation with an older page before it; what both have stays as the conversation has it."""
    older = from_page(page)
    known = {message.id for message in conversation.messages}
    run_ids = {run.run_id for run in conversation.runs}
    messages = tuple(message for message in older.messages if message.id not in known)
    runs = tuple(run for run in older.runs if run.run_id not in run_ids)
    return replace(conversation, messages=(*messages, *conversation.messages), runs=(*runs, *conversation.runs))


def _read_message(wire: Obj) -> Message:
    role = wire["role"]
    if role == SCHEDULE:  # a row of before there were activities
        return _read_message({**wire, "role": Role.ACTIVITY.value, "activityType": SCHEDULE})
    content: Json = wire.get("content")
    calls: list[Obj] = wire.get("toolCalls") or []
    return Message(
        id=wire["id"],
        role=Role(role),
        run_id=wire.get("runId"),
        text=content if isinstance(content, str) else "",
        status=MessageStatus(wire.get("status", "complete")),
        created_at=wire.get("createdAt"),
        name=wire.get("name"),
        call=_read_call(calls[0]) if calls else None,
        tool=_read_result(wire) if role == Role.TOOL else None,
        parts=tuple(wire.get("parts", ())),
        activity_type=wire.get("activityType"),
        activity=content if role == Role.ACTIVITY else wire.get("activity"),
        metadata=wire.get("metadata"),
        subagent_run_id=wire.get("subagentRunId"),
        encrypted_value=wire.get("encryptedValue"),
    )


def _read_call(wire: Obj) -> ToolCall:
    return ToolCall(
        id=wire["id"],
        name=wire["name"],
        args_text=wire["argsText"],
        status=CallStatus(wire["status"]),
        parent_message_id=wire.get("parentMessageId"),
        result_message_id=wire.get("resultMessageId"),
        error=wire.get("error"),
        error_code=wire.get("code"),
        encrypted_value=wire.get("encryptedValue"),
    )


def _read_result(wire: Obj) -> ToolResult:
    metadata: Obj = wire.get("metadata") or {}
    return ToolResult(
        call_id=wire["toolCallId"],
        tool_name=wire["toolName"],
        args=wire["args"],
        result=wire["result"],
        error=wire["error"],
        ui=wire["ui"],
        stage=metadata.get("stage"),
        task_id=metadata.get("task_id"),
        payload_missing=wire.get("payloadMissing", False),
    )


def _read_run(wire: Obj) -> Run:
    error: Obj | None = wire.get("error")
    return Run(
        run_id=wire["runId"],
        status=RunStatus(wire["status"]),
        outcome=wire.get("outcome"),
        error=None if error is None else RunFailure(error["message"], error.get("code")),
        steps=tuple(_read_step(step) for step in wire.get("steps", ())),
        started_at=wire.get("startedAt"),
        finished_at=wire.get("finishedAt"),
        usage=wire.get("usage"),
        result=wire.get("result"),
        interrupts=tuple(wire.get("interrupts", ())),
        superseded_by=wire.get("supersededBy"),
    )


def _read_step(wire: Obj) -> Step:
    return Step(wire["name"], StepState(wire["state"]), wire.get("startedAt"), wire.get("finishedAt"))
