"""Runs that are stopped: by their reader, by time, by the server's end, by its death."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.agents.base import AgentInput
from agui_app.errors import NotFound, StoreUnavailable
from agui_app.runs import pipeline, recover
from agui_app.settings import Settings
from agui_app.storage.events import Frame
from agui_app.tools.registry import ToolContext, ToolOutcome
from tests.runs.house import House, Obj, Open, Scripted, Waits, body, call, text, tool, user, without_time

CUT: Obj = {"metadata": {"agui-app": {"interrupted": True}}}
STOPPED: Obj = {"metadata": {"agui-app": {"interrupted": True, "stopped": True}}}
STEP: Obj = {"type": "STEP_STARTED", "stepName": "intent"}


async def forever(input: AgentInput) -> AsyncIterator[Any]:
    for event in (STEP, *text("half")[:2]):
        yield event
    await asyncio.Event().wait()


async def shown(house: House, type: str, thread: str = "t") -> None:
    """Back when an event of that type is in the log."""
    reading = house.services.events.follow("local", thread, after=0)
    async with asyncio.timeout(10):
        async for frame in reading:
            if isinstance(frame, Frame) and f'"type":"{type}"' in frame.data:
                break
    await reading.aclose()


async def test_a_cancelled_run_keeps_what_was_said_and_closes_the_agent(open_house: Open) -> None:
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        await shown(house, "TEXT_MESSAGE_CONTENT")
        assert await house.services.runs.cancel("local", "t", "r") == {"status": "cancelling", "runId": "r"}
        again = await house.services.runs.cancel("local", "t", None)
        assert again["status"] in ("cancelling", "idle")  # as quick as the run ends
        assert (await house.events())[1:] == [
            STEP,
            *text("half")[:2],
            {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT},
            {"type": "STEP_FINISHED", "stepName": "intent", **STOPPED},
            {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "cancelled"}},
        ]
        assert house.agent.closed == 1
        page = await house.page()
        assert [(one["content"], one["status"]) for one in page["messages"]] == [
            ("hello", "complete"),
            ("half", "interrupted"),
        ]
        assert [(run["status"], run["steps"][0]["state"]) for run in page["runs"]] == [("cancelled", "stopped")]


async def test_nothing_to_stop_is_idle_and_an_unknown_thread_is_not_found(open_house: Open) -> None:
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        runs = house.services.runs
        assert await runs.cancel("local", "t", "another") == {"status": "idle"}
        await runs.cancel("local", "t", "r")
        await house.events()
        assert await runs.cancel("local", "t", None) == {"status": "idle"}
        for owner, thread in (("local", "nowhere"), ("other", "t")):
            with pytest.raises(NotFound):
                await runs.cancel(owner, thread, None)
        with pytest.raises(NotFound):
            await runs.run_bounds("local", "t", "nothing")


async def test_a_run_cancelled_before_it_began_ends_cancelled(open_house: Open) -> None:
    async with open_house(Scripted(forever)) as house:
        started = await house.start(body(user()))
        cancelling = await house.services.runs.cancel("local", "t", started.run_id)
        assert cancelling["status"] == "cancelling"
        assert (await house.events())[-1]["outcome"] == {"type": "cancelled"}


async def test_a_tool_is_stopped_with_its_run_and_its_call_gets_a_result(open_house: Open, until: Waits) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def slow(context: ToolContext, args: Obj) -> ToolOutcome:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with open_house(Scripted(call("slow")), tools=[tool("slow", slow)]) as house:
        await house.start(body(user()))
        await began.wait()
        await house.services.runs.cancel("local", "t", None)
        events = await house.events()
        assert ended.is_set()
        assert [(event["type"], event.get("error")) for event in events[4:]] == [
            ("TOOL_CALL_RESULT", "cancelled"),
            ("RUN_FINISHED", None),
        ]


async def test_a_run_cancelled_while_an_effect_fails_has_no_trace_of_it(open_house: Open) -> None:
    committing, go_on = asyncio.Event(), asyncio.Event()

    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        async def commit(session: AsyncSession) -> None:
            committing.set()
            await go_on.wait()
            raise RuntimeError("no")

        return ToolOutcome(result="never", commit=commit)

    async with open_house(Scripted(call("slow")), tools=[tool("slow", handler)]) as house:
        await house.start(body(user()))
        await committing.wait()
        stopping = asyncio.ensure_future(house.services.runs.cancel("local", "t", None))
        await stopping
        go_on.set()
        events = await house.events()
        results = [(event.get("result"), event["error"]) for event in events if event["type"] == "TOOL_CALL_RESULT"]
        assert results == [(None, "cancelled")]


async def test_a_run_that_takes_too_long_is_ended(open_house: Open) -> None:
    async with open_house(Scripted(forever), run_timeout_s=0.2) as house:
        events = await house.play(body(user()))
        assert events[-1] == {"type": "RUN_ERROR", "message": "The run took longer than 0.2 s", "code": "timeout"}
        assert [run["status"] for run in await house.runs()] == ["failed"]


async def test_an_agent_that_does_not_stop_does_not_keep_its_run(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "STOP_BOUND_S", 0.01)
    let_go = asyncio.Event()

    async def stubborn(input: AgentInput) -> AsyncIterator[Any]:
        yield text("half")[0]
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        yield text("late", id="m2")[0]

    async with open_house(Scripted(stubborn)) as house:
        await house.start(body(user()))
        await shown(house, "TEXT_MESSAGE_START")
        await house.services.runs.cancel("local", "t", None)
        events = await house.events()
        assert events[-1]["outcome"] == {"type": "cancelled"}
        let_go.set()
        await house.play(body(user("next", "u2"), run="r2"))
        assert [event["type"] for event in await house.log()].count("TEXT_MESSAGE_START") == 1


async def test_a_server_that_stops_ends_its_runs_and_its_readers(open_house: Open, until: Waits) -> None:
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        await shown(house, "TEXT_MESSAGE_CONTENT")
        seen: list[Obj] = []

        async def read() -> None:
            async for frame in house.services.events.follow("local", "t", after=0):
                assert isinstance(frame, Frame)
                seen.append(without_time(json.loads(frame.data)))

        reading = asyncio.ensure_future(read())
        await until(lambda: len(seen) == 4)
    await reading
    assert seen[4:] == [
        {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT},
        {"type": "STEP_FINISHED", "stepName": "intent", **CUT},
        {"type": "RUN_ERROR", "message": "The server was stopped", "code": "interrupted"},
    ]
    async with open_house() as house:
        page = await house.page()
        assert [run["status"] for run in page["runs"]] == ["interrupted"]
        assert page["messages"][1]["content"] == "half"


async def test_a_run_whose_server_died_is_ended_at_the_next_start(
    open_house: Open, settings: Settings, tmp_path: Path, until: Waits
) -> None:
    async def dies(input: AgentInput) -> AsyncIterator[Any]:
        for event in (STEP, *text("half"), *text("more", id="m2")[:2], *call("pick", '{"a": 1}', id="c2")[:2]):
            yield event
        await asyncio.Event().wait()

    agent = Scripted([*call("echo", {"say": "hi"})], dies)
    image = tmp_path / "image"
    async with open_house(agent) as house:
        await house.start(body(user()))
        await shown(house, "TOOL_CALL_ARGS")

        async def all_said() -> bool:
            return any(event.get("delta") == '{"a": 1}' for event in await house.log())

        await until(all_said)
        shutil.copytree(settings.data_dir, image)  # what a kill leaves behind
    async with open_house(data_dir=image) as house:
        assert (await house.events())[5:] == [
            STEP,
            *text("half"),
            *text("more", id="m2")[:2],
            *call("pick", '{"a": 1}', id="c2")[:2],
            {"type": "TEXT_MESSAGE_END", "messageId": "m2", **CUT},
            *(await house.events())[14:16],
            {"type": "STEP_FINISHED", "stepName": "intent", **CUT},
            {"type": "RUN_ERROR", "message": "The server was stopped", "code": "interrupted"},
        ]
        page = await house.page()
        assert [(one["role"], one["content"], one["status"]) for one in page["messages"]] == [
            ("user", "hello", "complete"),
            ("assistant", "", "complete"),
            ("tool", "hi", "complete"),
            ("assistant", "half", "complete"),
            ("assistant", "more", "interrupted"),
            ("assistant", "", "complete"),
            ("tool", "pick failed: interrupted", "complete"),
        ]
        assert (page["messages"][2]["ui"]["cardType"], page["runs"][0]["status"]) == ("x.v1", "interrupted")
        assert await house.play(body(user("again", "u2"), run="r2"))
    async with open_house(data_dir=image) as house:
        assert [run["status"] for run in await house.runs()] == ["interrupted", "finished"]


async def test_a_run_that_cannot_be_ended_from_its_log_is_ended_without(
    open_house: Open, settings: Settings, tmp_path: Path, until: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    image = tmp_path / "image"
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        await shown(house, "TEXT_MESSAGE_CONTENT")
        shutil.copytree(settings.data_dir, image)
    monkeypatch.setattr(recover, "end_from_log", fail)
    async with open_house(data_dir=image) as house:
        assert (await house.events())[-1]["code"] == "interrupted"
        page = await house.page()
        assert [(one["role"], one["status"]) for one in page["messages"]] == [
            ("user", "complete"),
            ("assistant", "interrupted"),
        ]
        assert (page["runs"][0]["status"], page["activeRunId"]) == ("interrupted", None)


async def test_a_database_that_is_away_at_the_start_stops_it(
    open_house: Open, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> None:
        raise StoreUnavailable("away")

    image = tmp_path / "image"
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        shutil.copytree(settings.data_dir, image)
    monkeypatch.setattr(recover, "end_from_log", away)
    with pytest.raises(StoreUnavailable):
        async with open_house(data_dir=image):
            pass
