"""What the server says happened: the log of a thread, its history, and whether the one is the fold of the other."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx

from agui_app.conversation.history import from_page, with_older
from agui_app.conversation.items import rows
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import read_event
from agui_app.protocol.sse import SseDecoder

API = "/api/v1/agent"
WITHIN_S = 30  # a bound on hangs
TERMINAL = ("RUN_FINISHED", "RUN_ERROR")
PAIRS = {
    "TEXT_MESSAGE_START": ("TEXT_MESSAGE_END", "messageId"),
    "REASONING_MESSAGE_START": ("REASONING_MESSAGE_END", "messageId"),
    "REASONING_START": ("REASONING_END", "messageId"),
    "TOOL_CALL_START": ("TOOL_CALL_END", "toolCallId"),
    "STEP_STARTED": ("STEP_FINISHED", "stepName"),
}
"""What starts, and what ends it, by which member."""

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A frame as a reader got it."""

    id: str
    data: str

    @property
    def event(self) -> Obj:
        return json.loads(self.data)


async def frames(
    http: httpx.AsyncClient, thread: str, *, after: str | None = None, run: str | None = None
) -> AsyncGenerator[Shown, None]:
    """The frames of one connection, until it ends. Raises httpx errors; 204 is an end without frames."""
    headers = {} if after is None else {"Last-Event-ID": after}
    params = {} if run is None else {"runId": run}
    async with http.stream("GET", f"{API}/runs/{thread}/events", headers=headers, params=params) as response:
        response.raise_for_status()
        decoder = SseDecoder()
        async for chunk in response.aiter_bytes():
            for frame in decoder.feed(chunk):
                yield Shown(frame.id or "", frame.data)


async def log_of(http: httpx.AsyncClient, thread: str) -> list[Shown]:
    """The whole log of the thread up to now, as one who comes anew is given it."""
    last = (await page(http, thread, limit=1))["lastEventId"]
    found: list[Shown] = []
    if last == "0":
        return found
    async with asyncio.timeout(WITHIN_S), aclosing(frames(http, thread, after="0")) as reading:
        async for frame in reading:
            found.append(frame)
            if frame.id == last:
                break
    return found


async def run_log(http: httpx.AsyncClient, thread: str, run: str) -> list[Shown]:
    """The frames of a run, from its first event to its last."""
    async with asyncio.timeout(WITHIN_S), aclosing(frames(http, thread, run=run)) as reading:
        return [frame async for frame in reading]


async def page(http: httpx.AsyncClient, thread: str, limit: int = 50, before: str | None = None) -> Obj:
    """A page of the thread's history."""
    params: dict[str, str | int] = {"limit": limit} | ({} if before is None else {"before": before})
    response = await http.get(f"{API}/runs/{thread}/history", params=params)
    return response.raise_for_status().json()


async def transcript(http: httpx.AsyncClient, thread: str, limit: int = 50) -> Conversation:
    """The thread as its pages have it, read from the newest back to the oldest."""
    newest = await page(http, thread, limit)
    conversation = from_page(newest)
    while newest["hasMore"]:
        newest = await page(http, thread, limit, newest["nextCursor"])
        conversation = with_older(conversation, newest)
    return conversation


def told(log: Sequence[Shown]) -> Conversation:
    """The fold of the log."""
    return fold(Conversation(), [read_event(frame.event) for frame in log])


def assert_history_is_the_fold(history: Conversation, log: Sequence[Shown]) -> None:
    """The same rows and runs, and no message twice."""
    folded = told(log)
    assert rows(history) == rows(folded)
    assert history.runs == folded.runs
    assert [id for id, count in Counter(message.id for message in history.messages).items() if count > 1] == []


def runs_of(log: Sequence[Shown]) -> list[list[Obj]]:
    """The events, a list for each run."""
    runs: list[list[Obj]] = []
    for event in (frame.event for frame in log):
        if event["type"] == "RUN_STARTED":
            runs.append([])
        runs[-1].append(event)
    return runs


def breaches(run: Sequence[Obj]) -> list[str]:
    """What is wrong with the order of a run that is over: nothing, when it is closed as the contract says."""
    types = [event["type"] for event in run]
    wrong = [] if types[0] == "RUN_STARTED" and types.count("RUN_STARTED") == 1 else ["not one RUN_STARTED, first"]
    if types[-1] not in TERMINAL or sum(type in TERMINAL for type in types) != 1:
        wrong.append(f"not one terminal event, last: {types[-1]}")
    for start, (end, key) in PAIRS.items():
        started = Counter(event[key] for event in run if event["type"] == start)
        ended = Counter(event[key] for event in run if event["type"] == end)
        if started != ended:
            wrong.append(f"{start} {started - ended} without its end, {end} {ended - started} without its start")
    called = {event["toolCallId"] for event in run if event["type"] == "TOOL_CALL_START"}
    answered = Counter(event["toolCallId"] for event in run if event["type"] == "TOOL_CALL_RESULT")
    if Counter(called) != answered:
        wrong.append(f"calls {called}, answered {answered}")
    return wrong
