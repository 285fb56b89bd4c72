from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.history import from_page, page_message, page_run, with_older
from agui_app.conversation.model import (
    CallStatus,
    Conversation,
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

Obj = dict[str, Any]
AT = "2026-02-28T12:00:00.000Z"
IMAGE = {"type": "image", "id": "i", "source": {"type": "url", "value": "/a/1", "mimeType": "image/png"}}
INLINE = {"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}
ODD = {"type": "odd", "source": 7}


def page(message: Message) -> Obj:
    return {key: value for key, value in page_message(message).items() if key not in ("id", "role", "createdAt")}


def shared(content: Any = "", status: str = "complete") -> Obj:
    return {"content": content, "runId": "r1", "status": status}


MESSAGES: dict[str, tuple[Message, Obj]] = {
    "user": (Message("m", Role.USER, "r1", "hi"), {**shared("hi"), "attachments": []}),
    "user with parts": (
        Message("m", Role.USER, "r1", "see", parts=({"type": "text", "text": "see"}, IMAGE, INLINE, ODD)),
        {
            **shared("see"),
            "attachments": [
                {"type": "image", "id": "i", "mimeType": "image/png", "url": "/a/1"},
                {"type": "image", "mimeType": "image/png"},
                {"type": "odd"},
            ],
            "parts": [{"type": "text", "text": "see"}, IMAGE, INLINE, ODD],
        },
    ),
    "assistant": (
        Message(
            "m", Role.ASSISTANT, "r1", "a", MessageStatus.STREAMING, name="n", metadata={"k": 1}, subagent_run_id="s"
        ),
        {**shared("a", "streaming"), "name": "n", "metadata": {"k": 1}, "subagentRunId": "s"},
    ),
    "call": (
        Message("m", Role.ASSISTANT, "r1", call=ToolCall("c", "f", '{"v":1}', CallStatus.COMPLETED, "p", "tm")),
        {
            **shared(),
            "toolCalls": [
                {
                    "id": "c",
                    "name": "f",
                    "argsText": '{"v":1}',
                    "args": {"v": 1},
                    "status": "completed",
                    "resultMessageId": "tm",
                    "parentMessageId": "p",
                }
            ],
        },
    ),
    "refused call": (
        Message(
            "m",
            Role.ASSISTANT,
            "r1",
            call=ToolCall("c", "f", "nonsense", CallStatus.ERROR, error="no", error_code="x", encrypted_value="e"),
        ),
        {
            **shared(),
            "toolCalls": [
                {
                    "id": "c",
                    "name": "f",
                    "argsText": "nonsense",
                    "status": "error",
                    "error": "no",
                    "code": "x",
                    "encryptedValue": "e",
                }
            ],
        },
    ),
    "tool": (
        Message("m", Role.TOOL, "r1", "line", tool=ToolResult("c", "f", {"v": 1}, 0, ui={"k": 1})),
        {
            **shared("line"),
            "toolCallId": "c",
            "toolName": "f",
            "args": {"v": 1},
            "result": 0,
            "error": None,
            "ui": {"k": 1},
        },
    ),
    "tool without its payload": (
        Message(
            "m",
            Role.TOOL,
            "r1",
            "line",
            tool=ToolResult("c", "f", stage="execution", task_id="t", payload_missing=True),
            metadata={"stage": "execution", "task_id": "t"},
        ),
        {
            **shared("line"),
            "toolCallId": "c",
            "toolName": "f",
            "args": None,
            "result": None,
            "error": None,
            "ui": None,
            "payloadMissing": True,
            "metadata": {"stage": "execution", "task_id": "t"},
        },
    ),
    "reasoning": (
        Message("m", Role.REASONING, "r1", "why", encrypted_value="e"),
        {**shared("why"), "encryptedValue": "e"},
    ),
    "activity": (
        Message("m", Role.ACTIVITY, "r1", activity_type="PLAN", activity={"s": 1}),
        {**shared({"s": 1}), "activityType": "PLAN"},
    ),
    "subagent": (
        Message("m", Role.SUBAGENT, "r1", "d", activity={"result": 1}),
        {**shared("d"), "activity": {"result": 1}},
    ),
}


@pytest.mark.parametrize(("message", "written"), MESSAGES.values(), ids=MESSAGES)
def test_a_message_on_a_page(message: Message, written: Obj):
    assert page(message) == written
    assert from_page({"messages": [page_message(message)]}) == Conversation((message,))


def test_a_tool_message_without_a_result_is_written():
    assert page(Message("m", Role.TOOL, "r1", "line")) == shared("line")


RUNS: dict[str, tuple[Run, Obj]] = {
    "running": (
        Run("r1", started_at=AT, steps=(Step("s", StepState.ACTIVE, AT),)),
        {"status": "running", "startedAt": AT, "steps": [{"name": "s", "state": "active", "startedAt": AT}]},
    ),
    "finished": (
        Run(
            "r1",
            RunStatus.WAITING,
            {"type": "interrupt"},
            steps=(Step("s", StepState.DONE, AT, AT),),
            started_at=AT,
            finished_at=AT,
            usage=[{"inputTokens": 1}],
            result=0,
            interrupts=({"id": "i"},),
        ),
        {
            "status": "waiting",
            "outcome": {"type": "interrupt"},
            "steps": [{"name": "s", "state": "done", "startedAt": AT, "finishedAt": AT}],
            "startedAt": AT,
            "finishedAt": AT,
            "usage": [{"inputTokens": 1}],
            "result": 0,
            "interrupts": [{"id": "i"}],
        },
    ),
    "failed": (
        Run("r1", RunStatus.FAILED, error=RunFailure("no", "x")),
        {"status": "failed", "error": {"message": "no", "code": "x"}, "steps": [], "startedAt": None},
    ),
}


@pytest.mark.parametrize(("run", "written"), RUNS.values(), ids=RUNS)
def test_a_run_on_a_page(run: Run, written: Obj):
    assert page_run(run) == {"runId": "r1", **written}
    assert from_page({"runs": [page_run(run)]}).runs == (run,)


def test_the_active_run_is_the_one_that_the_page_names_or_that_is_running():
    running = page_run(Run("r2"))
    assert from_page({"runs": [page_run(Run("r1", RunStatus.FINISHED)), running]}).active_run_id == "r2"
    assert from_page({"activeRunId": "r2", "runs": [running]}) == Conversation(runs=(Run("r2"),), active_run_id="r2")
    assert from_page({"activeRunId": "r2"}) == Conversation(runs=(Run("r2"),), active_run_id="r2")
    assert from_page({}) == Conversation()


def test_an_older_page_comes_before_what_is_there():
    newer = Conversation((Message("b", Role.USER, "r2", "new"),), (Run("r2"),), "r2")
    older = Conversation(
        (Message("a", Role.USER, "r1", "old"), Message("b", Role.USER, "r2", "stale")),
        (Run("r1", RunStatus.FINISHED), Run("r2", RunStatus.FAILED)),
    )
    written = {
        "messages": [page_message(message) for message in older.messages],
        "runs": [page_run(run) for run in older.runs],
    }
    assert with_older(newer, written) == Conversation(
        (older.messages[0], newer.messages[0]), (older.runs[0], newer.runs[0]), "r2"
    )
