"""Messages and runs as rows, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import insert, select

from agui_app.conversation.model import (
    CallStatus,
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
from agui_app.storage.database import Database
from agui_app.storage.messages import message_columns, payload_path, read_message, read_run, run_columns, tool_metadata
from agui_app.storage.tables import MESSAGES, RUNS
from tests.storage.conftest import Seed

TIME = "2026-03-02T09:00:00.123Z"
CALL = ToolCall("c1", "look", '{"q": 1}', CallStatus.ERROR, "m0", "x1", {"why": "no"}, "failed", "sealed")
TOOL = ToolResult("c1", "look", {"q": 1}, [1], None, {"type": "card"}, "as it came", "execution", "task")
PAYLOAD = {"args": {"q": 1}, "result": [1], "error": None, "ui": {"type": "card"}, "content": "as it came"}


async def through_the_table(database: Database, seed: Seed, message: Message, **more: Any) -> Any:
    thread_pk = await seed("t", runs=0)
    columns = {**message_columns(message), "owner_id": "local", "thread_pk": thread_pk, "position": 9, **more}
    async with database.write() as session:
        await session.execute(insert(MESSAGES).values(**columns))
    async with database.read() as session:
        return (await session.execute(select(MESSAGES))).mappings().one()


@pytest.mark.parametrize(
    "message",
    [
        Message("u", Role.USER, "r", "hi", created_at=TIME, name="Ann", parts=({"type": "text", "text": "hi"},)),
        Message("a", Role.ASSISTANT, None, "half", MessageStatus.STREAMING, metadata={"x": [1, None]}),
        Message("a", Role.ASSISTANT, "r", call=CALL, created_at=TIME),
        Message("g", Role.REASONING, "r", "hm", MessageStatus.INTERRUPTED, TIME, encrypted_value="sealed"),
        Message("p", Role.ACTIVITY, "r", activity_type="plan", activity={"steps": [1]}, subagent_run_id="s"),
        Message("d", Role.DEVELOPER, "r", "be brief"),
    ],
)
async def test_a_message_comes_back_as_it_was(database: Database, seed: Seed, message: Message) -> None:
    assert read_message(await through_the_table(database, seed, message)) == message


async def test_a_result_comes_back_with_its_payload_and_without_it_as_its_summary(database, seed) -> None:
    message = Message("x1", Role.TOOL, "r", "looked", created_at=TIME, tool=TOOL)
    row = await through_the_table(database, seed, message, metadata=tool_metadata(message, "local", "a.json"))
    assert payload_path(row) == "a.json"
    assert read_message(row, PAYLOAD) == message
    missing = ToolResult("c1", "look", stage="execution", task_id="task", payload_missing=True)
    assert read_message(row) == replace(message, tool=missing)


@pytest.mark.parametrize(
    "run",
    [
        Run("r", RunStatus.RUNNING),
        Run(
            "r",
            RunStatus.WAITING,
            outcome={"type": "interrupt"},
            steps=(Step("intent", StepState.DONE, TIME, TIME), Step("own", StepState.ACTIVE)),
            started_at=TIME,
            finished_at=TIME,
            usage=[{"inputTokens": 1}],
            result={"n": None},
            interrupts=({"id": "i"},),
        ),
        Run("r", RunStatus.FAILED, error=RunFailure("no", "x")),
    ],
)
async def test_a_run_comes_back_as_it_was(database: Database, seed: Seed, run: Run) -> None:
    thread_pk = await seed("t", runs=0)
    rest = {"position": 0, "body_hash": "", "first_event_id": 1, "locale": "en", "timezone": "UTC"}
    async with database.write() as session:
        await session.execute(
            insert(RUNS).values(owner_id="local", thread_pk=thread_pk, id="r", **rest, **run_columns(run))
        )
    async with database.read() as session:
        assert read_run((await session.execute(select(RUNS))).mappings().one()) == run
