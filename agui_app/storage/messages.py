"""Messages and runs as rows, and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from sqlalchemy import RowMapping

from agui_app.conversation.model import (
    CallStatus,
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
from agui_app.conversation.summaries import SUMMARY_VERSION
from agui_app.protocol.times import read_timestamp_ms, rfc3339

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def message_columns(message: Message) -> dict[str, Any]:
    """The columns that a message fills, but `metadata` of a tool message (`tool_metadata`) and its place."""
    columns: dict[str, Any] = {
        "id": message.id,
        "role": message.role.value,
        "content": message.text,
        "run_id": message.run_id,
        "status": message.status.value,
        "created_at": _moment(message.created_at),
        "data": _role_data(message) or None,
    }
    if message.role is not Role.TOOL:
        columns["metadata"] = message.metadata
    return columns


def tool_metadata(message: Message, bucket: str | None, path: str | None) -> dict[str, Any]:
    """The eight keys of a tool message; without a path its payload is not stored yet."""
    tool = message.tool
    metadata: dict[str, Any] = {
        "tool_call_id": tool and tool.call_id,
        "tool_name": tool and tool.tool_name,
        "run_id": message.run_id,
        "stage": tool and tool.stage,
        "task_id": tool and tool.task_id,
        "storage_bucket": bucket if path else None,
        "storage_path": path,
        "summary_version": SUMMARY_VERSION,
    }
    return metadata if path else {**metadata, "storage_missing": True}


def read_message(row: RowMapping, payload: Mapping[str, Json] | None = None) -> Message:
    """The message of a row; a tool message without `payload` has `payload_missing`.

    What its row notes about where the payload lies is no part of a tool message.
    """
    role = Role(row["role"])
    data = cast(dict[str, Any], row["data"] or {})
    return Message(
        id=row["id"],
        role=role,
        run_id=row["run_id"],
        text=row["content"],
        status=MessageStatus(row["status"]),
        created_at=moment_text(row["created_at"]),
        name=data.get("name"),
        call=_read_call(data.get("call")),
        tool=_read_tool(row["metadata"], payload) if role is Role.TOOL else None,
        parts=tuple(data.get("parts", ())),
        activity_type=data.get("activityType"),
        activity=data.get("activity"),
        metadata=None if role is Role.TOOL else row["metadata"],
        subagent_run_id=data.get("subagentRunId"),
        encrypted_value=data.get("encryptedValue"),
    )


def payload_path(row: RowMapping) -> str | None:
    """Where the payload of a tool message lies; None for other roles, and while it is not stored."""
    metadata: dict[str, Any] = row["metadata"] or {}
    return metadata.get("storage_path") if row["role"] == Role.TOOL else None


def run_columns(run: Run) -> dict[str, Any]:
    """The columns that a run of the fold fills; not `superseded_by`, which the run that replaces it writes."""
    return {
        "status": run.status.value,
        "outcome": run.outcome,
        "error": None if run.error is None else {"message": run.error.message, "code": run.error.code},
        "steps": [
            {"name": step.name, "state": step.state, "startedAt": step.started_at, "finishedAt": step.finished_at}
            for step in run.steps
        ],
        "usage": run.usage,
        "result": run.result,
        "interrupts": list(run.interrupts) or None,
        "started_at": _moment(run.started_at),
        "finished_at": _moment(run.finished_at),
    }


def read_run(row: RowMapping) -> Run:
    """The run of a row."""
    error = row["error"]
    steps = cast(list[dict[str, Any]], row["steps"] or [])
    return Run(
        run_id=row["id"],
        status=RunStatus(row["status"]),
        outcome=row["outcome"],
        error=None if error is None else RunFailure(error["message"], error.get("code")),
        steps=tuple(
            Step(step["name"], StepState(step["state"]), step.get("startedAt"), step.get("finishedAt"))
            for step in steps
        ),
        started_at=moment_text(row["started_at"]),
        finished_at=moment_text(row["finished_at"]),
        usage=row["usage"],
        result=row["result"],
        interrupts=tuple(row["interrupts"] or ()),
        superseded_by=row["superseded_by"],
    )


def _role_data(message: Message) -> dict[str, Any]:
    call = message.call
    fields = {
        "name": message.name,
        "call": call
        and {
            "id": call.id,
            "name": call.name,
            "argsText": call.args_text,
            "status": call.status.value,
            "parentMessageId": call.parent_message_id,
            "resultMessageId": call.result_message_id,
            "error": call.error,
            "errorCode": call.error_code,
            "encryptedValue": call.encrypted_value,
        },
        "parts": list(message.parts) or None,
        "activityType": message.activity_type,
        "activity": message.activity,
        "subagentRunId": message.subagent_run_id,
        "encryptedValue": message.encrypted_value,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _read_call(call: dict[str, Any] | None) -> ToolCall | None:
    if call is None:
        return None
    return ToolCall(
        id=call["id"],
        name=call["name"],
        args_text=call["argsText"],
        status=CallStatus(call["status"]),
        parent_message_id=call["parentMessageId"],
        result_message_id=call["resultMessageId"],
        error=call["error"],
        error_code=call["errorCode"],
        encrypted_value=call["encryptedValue"],
    )


def _read_tool(metadata: Mapping[str, Any], payload: Mapping[str, Json] | None) -> ToolResult:
    known = payload or {}
    return ToolResult(
        call_id=metadata["tool_call_id"],
        tool_name=metadata["tool_name"],
        args=known.get("args"),
        result=known.get("result"),
        error=known.get("error"),
        ui=known.get("ui"),
        content=known.get("content"),
        stage=metadata["stage"],
        task_id=metadata["task_id"],
        payload_missing=payload is None,
    )


def _moment(text: str | None) -> datetime | None:
    timestamp_ms = read_timestamp_ms(text)
    return None if timestamp_ms is None else _EPOCH + timedelta(milliseconds=timestamp_ms)


def moment_text(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC, as the fold writes it."""
    return None if moment is None else rfc3339(moment_ms(moment))


def moment_ms(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)
