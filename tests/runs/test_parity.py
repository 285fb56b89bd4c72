"""A page read at any moment, and the events after it, are the whole truth."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agui_app.agents.base import AgentInput
from agui_app.conversation.history import from_page, with_older
from agui_app.conversation.items import rows
from agui_app.conversation.model import Conversation, Item, Run
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import read_event
from tests.runs.house import House, Obj, Open, Scripted, Waits, body, call, text, user

SCRIPT: list[Obj] = [
    {"type": "STEP_STARTED", "stepName": "intent"},
    {"type": "REASONING_START", "messageId": "th"},
    {"type": "REASONING_MESSAGE_START", "messageId": "th", "role": "reasoning"},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "th", "delta": "hm"},
    {"type": "REASONING_MESSAGE_END", "messageId": "th"},
    {"type": "REASONING_END", "messageId": "th"},
    *text("a", "b"),
    {"type": "STEP_FINISHED", "stepName": "intent"},
    {"type": "STEP_STARTED", "stepName": "execution"},
    *call("echo", {"say": "one"}, id="c1")[:2],
    *call("refuse", id="c2"),
    *call("echo", {"say": "one"}, id="c1")[2:],
    {"type": "ACTIVITY_SNAPSHOT", "messageId": "act", "activityType": "plan", "content": {"steps": []}},
    {
        "type": "ACTIVITY_DELTA",
        "messageId": "act",
        "activityType": "plan",
        "patch": [{"op": "add", "path": "/steps/0", "value": 1}],
    },
    {"type": "TOOL_CALL_RESULT", "messageId": "lost", "toolCallId": "nobody", "content": "detached", "role": "tool"},
    {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "u0", "role": "user", "content": "hello, corrected"}]},
]


class Shelf:
    """An agent that says one event at a time, when the test asks for it."""

    def __init__(self, *rounds: list[Obj]):
        self.rounds = iter(rounds)
        self.asked: asyncio.Queue[None] = asyncio.Queue()

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        for event in next(self.rounds):
            await self.asked.get()
            yield event


def seen(conversation: Conversation) -> tuple[tuple[Item, ...], tuple[Run, ...]]:
    return rows(conversation), conversation.runs


def log_of(events: list[Obj], after: int) -> list[Any]:
    return [read_event(event) for event in events[after:]]


async def pages_back(house: House, limit: int, thread: str = "t") -> Conversation:
    page = await house.page(thread, limit=limit)
    conversation = from_page(page)
    while page["hasMore"]:
        page = await house.page(thread, before=page["nextCursor"], limit=limit)
        conversation = with_older(conversation, page)
    return conversation


async def test_a_page_read_after_every_event_plus_the_rest_is_the_final_fold(open_house: Open, until: Waits) -> None:
    script = [event for event in SCRIPT if event["type"] != "MESSAGES_SNAPSHOT"]
    agent = Shelf([], script, text("done", id="m9"))
    async with open_house(agent) as house:
        await house.play(body(user("earlier", "u0"), run="r0"))
        await house.start(body(user()))
        pages = [await house.page()]
        for _ in range(len(script) + 3):
            before = len(await house.log())
            agent.asked.put_nowait(None)

            async def logged(before: int = before) -> bool:
                return len(await house.log()) > before

            await until(logged)
            pages.append(await house.page())
        await house.events()
        log = await house.log()
        final = fold(Conversation(), [read_event(event) for event in log])
        for page in pages:
            assert seen(fold(from_page(page), log_of(log, int(page["lastEventId"])))) == seen(final)


@pytest.mark.parametrize("limit", [1, 2, 3, 200])
async def test_pages_of_any_length_give_the_same_rows_and_runs(open_house: Open, limit: int) -> None:
    agent = Scripted(text("before", id="m0"), SCRIPT, text("done", id="m9"))
    async with open_house(agent) as house:
        await house.play(body(user("hello", "u0"), run="r0"))
        await house.play(body(user()))
        final = fold(Conversation(), [read_event(event) for event in await house.log()])
        assert seen(await pages_back(house, limit)) == seen(final)
        assert rows(final)[0].text == "hello, corrected"


async def test_a_run_that_said_nothing_is_on_the_page_where_it_stood(open_house: Open) -> None:
    failing = [{"type": "RUN_ERROR", "message": "no", "code": "x"}]
    async with open_house(Scripted(text("a"), failing, text("b", id="m2"))) as house:
        await house.play(body(user()))
        await house.play(body(run="r2"))
        await house.play(body(user("more", "u2"), run="r3"))
        for limit in (1, 2, 3, 50):
            assert [run.run_id for run in (await pages_back(house, limit)).runs] == ["r", "r2", "r3"]


async def test_a_resume_at_every_position_gives_the_same_fold(open_house: Open) -> None:
    async with open_house(Scripted(SCRIPT, text("done", id="m9"))) as house:
        await house.play(body(user("hello", "u0")))
        log = [read_event(event) for event in await house.log()]
        whole = fold(Conversation(), log)
        for position in range(len(log) + 1):
            reading = house.services.events.follow("local", "t", after=position)
            rest = [read_event(json.loads((await anext(reading)).data)) for _ in range(len(log) - position)]
            await reading.aclose()
            assert fold(fold(Conversation(), log[:position]), rest) == whole
