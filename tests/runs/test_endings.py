"""However a run ends, whatever was open: one terminal event, everything closed, and later turns are not poisoned."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agui_app.agents.base import AgentInput
from agui_app.conversation.closing import closing_events
from agui_app.conversation.history import from_page
from agui_app.conversation.items import rows
from agui_app.conversation.model import CallStatus, Conversation, MessageStatus, StepState
from agui_app.conversation.reducer import fold
from agui_app.errors import StoreUnavailable
from agui_app.protocol.events import read_event
from agui_app.runs import writer
from agui_app.settings import Settings
from agui_app.tools.registry import ToolContext, ToolOutcome
from tests.runs.house import House, Obj, Open, Waits, body, call, text, tool, user

OPEN: dict[str, list[Obj]] = {
    "text": text("half")[:2],
    "reasoning": [
        {"type": "REASONING_START", "messageId": "th"},
        {"type": "REASONING_MESSAGE_START", "messageId": "th", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "th", "delta": "hm"},
    ],
    "call arguments": call("hold", '{"a": ')[:2],
    "call executing": call("hold"),
    "step": [{"type": "STEP_STARTED", "stepName": "intent"}],
    "subagent": [
        {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "helper"},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "act", "activityType": "plan", "content": {"steps": []}},
    ],
}
RUN_ERROR: Obj = {"type": "RUN_ERROR", "message": "no more", "code": "theirs"}
RUN_FINISHED: Obj = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "success"}}

STATUS = {
    "success": "finished",
    "the agent raises": "failed",
    "the agent ends early": "finished",
    "RUN_ERROR": "failed",
    "cancel": "cancelled",
    "timeout": "failed",
    "shutdown": "interrupted",
    "crash": "interrupted",
    "the database away": "finished",
}
"""The way that a run ends -> its status then."""
LASTING = frozenset({"cancel", "timeout", "shutdown", "crash"})
"""What ends a run from outside, while its agent or its tool is at work."""


class Case:
    """An agent that opens something and ends in some way; on later turns it says a word."""

    def __init__(self, way: str, part: str):
        self.way, self.part = way, part
        self.opened = asyncio.Event()
        self.go_on = asyncio.Event()
        self.inputs: list[AgentInput] = []

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        self.inputs.append(input)
        if input.run_id != "r":
            for event in text("later", id="m9"):
                yield event
            return
        if len(self.inputs) > 1:  # the round after a tool's result
            return
        for event in OPEN[self.part]:
            yield event
        self.opened.set()
        if self.way in LASTING and self.part != "call executing":
            await asyncio.Event().wait()
        if self.way == "the database away":
            await self.go_on.wait()
        if self.way == "the agent raises":
            raise ValueError("a bug")
        if self.way in ("success", "RUN_ERROR"):
            yield RUN_FINISHED if self.way == "success" else RUN_ERROR

    async def hold(self, context: ToolContext, args: Obj) -> ToolOutcome:
        if self.way in LASTING:
            await asyncio.Event().wait()
        return ToolOutcome(result={"ok": True})


def hold_of(case: Case) -> list[Any]:
    return [tool("hold", case.hold)]


async def last_part_is_logged(house: House, part: str) -> bool:
    last = OPEN[part][-1]
    return any(event["type"] == last["type"] for event in await house.log())


def without_holes(conversation: Conversation) -> None:
    """Nothing of it is open."""
    messages = conversation.messages
    assert [one for one in messages if one.status is MessageStatus.STREAMING] == []
    assert [one for one in messages if one.call and one.call.status is CallStatus.PENDING] == []
    assert [step for run in conversation.runs for step in run.steps if step.state is StepState.ACTIVE] == []
    assert (conversation.active_run_id, conversation.open_reasoning) == (None, ())


async def check(house: House, case: Case) -> None:
    events = await house.events()
    assert [event["type"] for event in events].count("RUN_STARTED") == 1
    terminal = [event for event in events if event["type"] in ("RUN_FINISHED", "RUN_ERROR")]
    assert terminal == [events[-1]]
    log = [read_event(event) for event in await house.log()]
    assert closing_events(fold(Conversation(), log[:-1]), stopped=False, error="", finished=True) == []
    live, loaded = fold(Conversation(), log), from_page(await house.page())
    without_holes(live)
    assert (rows(loaded), loaded.runs) == (rows(live), live.runs)
    assert live.runs[0].status == expected_status(case)
    await house.play(body(user("and now?", "u2"), run="r2"))
    given = house.agent.inputs[-1].messages
    calls = [one.call.id for one in given if one.call is not None]
    results = [one.tool for one in given if one.tool is not None]
    assert [one.call_id for one in results] == calls == (["c1"] if case.part.startswith("call") else [])
    carried_out = case.part == "call executing" and expected_status(case) == "finished"
    assert [one.error is None for one in results] == [carried_out] * len(calls)
    assert (await house.page())["runs"][-1]["status"] == "finished"


def expected_status(case: Case) -> str:
    """An agent of which nothing more comes in the middle of a call was interrupted: it did not end."""
    if case.part == "call arguments" and case.way in ("the agent ends early", "the database away"):
        return "interrupted"
    return STATUS[case.way]


@pytest.mark.parametrize("part", OPEN)
@pytest.mark.parametrize("way", STATUS)
async def test_every_run_ends_once_and_closed(
    way: str,
    part: str,
    open_house: Open,
    settings: Settings,
    tmp_path: Path,
    until: Waits,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case, data_dir = Case(way, part), settings.data_dir
    more: dict[str, Any] = {"run_timeout_s": 0.2} if way == "timeout" else {}
    async with open_house(case, tools=hold_of(case), **more) as house:
        await house.start(body(user()))
        await case.opened.wait()
        if way in LASTING - {"timeout"} or way == "the database away":
            await until(lambda: last_part_is_logged(house, part))
        match way:
            case "cancel":
                await house.services.runs.cancel("local", "t", None)
            case "crash":
                data_dir = tmp_path / "image"
                shutil.copytree(settings.data_dir, data_dir)
            case "the database away":
                away_for_a_while(monkeypatch, 3)
                case.go_on.set()
            case _:
                pass
        if way not in ("shutdown", "crash"):
            await check(house, case)
            return
    async with open_house(case, data_dir=data_dir) as house:
        await check(house, case)


def away_for_a_while(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """The database takes nothing for so many attempts."""
    store, fails = writer.store_batch, [True] * times

    def store_batch(*args: Any) -> Any:
        if fails:
            fails.pop()
            raise StoreUnavailable("away")
        return store(*args)

    monkeypatch.setattr(writer, "store_batch", store_batch)
