"""Every vector and every recording, told by an agent to real services: however it is read, it is the same.

Live (the frames that a reader gets) = after a reload = after a resume at every position = a page read after every
event, of any length, plus the rest of the events.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agui_app.agents.base import AgentInput
from agui_app.conversation.history import from_page, with_older
from agui_app.conversation.items import rows
from agui_app.conversation.model import Conversation, Item, Run
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import Event, read_event
from agui_app.protocol.sse import SseDecoder
from agui_app.storage.events import Frame
from agui_app.storage.tables import PENDING_PAYLOADS
from tests.conversation.beyond import BEYOND
from tests.conversation.streams import RECORDINGS, STREAMS
from tests.runs.house import House, Obj, Open, Waits, call, text

LIMITS = (1, 2, 3, 200)

Seen = tuple[tuple[Item, ...], tuple[Run, ...]]


@dataclass(frozen=True)
class Look:
    """A page that a reader took in the middle of a run."""

    limit: int
    page: Obj

    @property
    def position(self) -> int:
        return int(self.page["lastEventId"])


class Told:
    """An agent that tells a script, and looks at the thread as readers do after every event of it."""

    def __init__(self, before: list[list[Any]], runs: list[list[Any]]):
        self._before = iter(before)
        self._runs = iter(runs)
        self.house: House
        self.looks: list[Look] = []

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        before = next(self._before, None)
        if before is not None:
            for event in before:
                yield event
            return
        for event in next(self._runs, []):
            await self._look(input.thread_id)
            yield event
        await self._look(input.thread_id)

    async def _look(self, thread_id: str) -> None:
        pipeline = self.house.services.runs._active["local", thread_id]
        await pipeline._stream.settle()
        self.looks += [Look(limit, await self.house.page(thread_id, limit=limit)) for limit in LIMITS]


def raw_events(path: Path) -> list[Any]:
    if path.suffix == ".sse":
        return [json.loads(frame.data) for frame in SseDecoder().feed(path.read_bytes())]
    return json.loads(path.read_text(encoding="utf-8"))["events"]


def runs_of(raws: Iterable[Any]) -> list[tuple[list[Obj], list[Any]]]:
    """What each run is given, and what its agent says."""
    runs: list[tuple[list[Obj], list[Any]]] = []
    for raw in raws:
        if isinstance(raw, dict) and raw.get("type") == "RUN_STARTED":
            given: Obj = raw.get("input") or {}
            runs.append((given.get("messages") or [], []))
        if runs:
            runs[-1][1].append(raw)
    return runs


def seen(conversation: Conversation) -> Seen:
    return rows(conversation), conversation.runs


async def tell(agent: Told, house: House, given: list[list[Obj]], until: Waits) -> list[Frame]:
    """Every frame of the thread, once all its runs are over and all that waits is stored."""
    agent.house = house
    frames: list[Frame] = []
    for number, messages in enumerate(given):
        await house.start({"threadId": "t", "runId": f"r{number}", "messages": messages})
        frames += await house.frames("t", f"r{number}")

    async def stored() -> bool:
        return not await house.rows(PENDING_PAYLOADS)

    await until(stored)
    return frames


async def loaded(house: House, limit: int) -> Conversation:
    """The thread as one has it who loads it page by page, the newest first."""
    page = await house.page(limit=limit)
    conversation = from_page(page)
    while page["hasMore"]:
        page = await house.page(before=page["nextCursor"], limit=limit)
        conversation = with_older(conversation, page)
    return conversation


async def resumed(house: House, known: list[Event], position: int, newest: int) -> Conversation:
    """The thread as one has it who has the events up to `position`, and follows from there."""
    conversation = fold(Conversation(), known)
    if position == newest:
        return conversation
    reading = house.services.events.follow("local", "t", after=position)
    rest: list[Event] = []
    async for frame in reading:
        assert isinstance(frame, Frame)
        rest.append(read_event(json.loads(frame.data)))
        if frame.id == newest:
            break
    await reading.aclose()
    return fold(conversation, rest)


SOURCES: dict[str, list[Any]] = {
    **{path.stem: raw_events(path) for path in (*STREAMS, *RECORDINGS)},
    **BEYOND,
}


@pytest.mark.parametrize("name", SOURCES)
async def test_live_history_and_resume_agree_wherever_a_reader_comes_in(
    open_house: Open, until: Waits, name: str
) -> None:
    runs = runs_of(SOURCES[name])
    said_before = [*text("earlier", id="m0"), *call("echo", {"say": "x"}, id="c1")]
    agent = Told([said_before, text("x", id="m00")], [said for _, said in runs])
    async with open_house(agent) as house:
        frames = await tell(agent, house, [[], *(given for given, _ in runs)], until)
        events = {frame.id: read_event(json.loads(frame.data)) for frame in frames}
        newest = frames[-1].id
        live = fold(Conversation(), events.values())
        for limit in LIMITS:
            assert seen(await loaded(house, limit)) == seen(live), f"loaded by {limit}"
        for position in range(newest - len(frames), newest + 1):
            known = [event for id, event in events.items() if id <= position]
            assert seen(await resumed(house, known, position, newest)) == seen(live), f"resumed after {position}"
        for look in agent.looks:
            where = f"a page of {look.limit} after event {look.position}, and the rest"
            rest = [event for id, event in events.items() if id > look.position]
            window = fold(from_page(look.page), rest)
            assert rows(window) == rows(live)[len(rows(live)) - len(rows(window)) :], where
            before = await house.page(before=look.page["nextCursor"]) if look.page["hasMore"] else {}
            whole = with_older(window, before)
            assert seen(whole) == seen(live), f"{where}, and the pages before it"
