"""Services around agents that follow a script, and short words for what tests ask of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from agui_app.agents.base import AgentInput
from agui_app.errors import ToolError
from agui_app.runs.service import StartedRun
from agui_app.services import Services
from agui_app.storage.events import Frame
from agui_app.storage.tables import EVENTS, MESSAGES, RUNS, THREADS
from agui_app.tools.registry import Tool, ToolContext, ToolOutcome

T0 = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TIME = "2026-03-02T09:00:00.000Z"
MS = 1_772_442_000_000

Obj = dict[str, Any]
Round = Callable[[AgentInput], AsyncIterator[Any]]


class Scripted:
    """An agent whose rounds are given; keeps what it was asked."""

    def __init__(self, *rounds: Round | list[Any]):
        self.rounds: Iterator[Round | list[Any]] = iter(rounds)
        self.inputs: list[AgentInput] = []
        self.closed = 0

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        self.inputs.append(input)
        script = next(self.rounds, [])
        try:
            if isinstance(script, list):
                for event in script:
                    yield event
            else:
                async with aclosing(script(input)) as events:
                    async for event in events:
                        yield event
        finally:
            self.closed += 1


def text(*pieces: str, id: str = "m1") -> list[Obj]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"},
        *({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": piece} for piece in pieces),
        {"type": "TEXT_MESSAGE_END", "messageId": id},
    ]


def call(name: str, args: object = None, *, id: str = "c1") -> list[Obj]:
    written = args if isinstance(args, str) else json.dumps(args or {})
    return [
        {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": written},
        {"type": "TOOL_CALL_END", "toolCallId": id},
    ]


def user(content: Any = "hello", id: str = "u1") -> Obj:
    return {"id": id, "role": "user", "content": content}


def body(*messages: Obj, thread: str = "t", run: str = "r", **more: Any) -> Obj:
    return {"threadId": thread, "runId": run, "messages": list(messages), **more}


async def echo(context: ToolContext, args: Obj) -> ToolOutcome:
    return ToolOutcome(result={"ok": True, "message": args["say"]}, ui={"type": "card", "cardType": "x.v1", "data": {}})


async def refuse(context: ToolContext, args: Obj) -> ToolOutcome:
    raise ToolError("it will not", tool_code="failed")


ECHO_SCHEMA: Obj = {"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]}
ANY_SCHEMA: Obj = {"type": "object"}


def tool(name: str, handler: Any, schema: Obj | None = None) -> Tool:
    return Tool(name, f"does {name}", schema or ANY_SCHEMA, handler)


@dataclass
class House:
    """Open services, and short words for what tests ask of them."""

    services: Services
    agent: Any
    started: list[StartedRun] = field(default_factory=list)

    async def start(self, body: Obj) -> StartedRun:
        return await self.services.runs.start("local", body)

    async def frames(self, thread: str = "t", run: str = "r") -> list[Frame]:
        """Every frame of the run, once it is over."""
        async with asyncio.timeout(10):
            reading = self.services.events.follow("local", thread, after=None, run_id=run)
            return [frame async for frame in reading if isinstance(frame, Frame)]

    async def events(self, thread: str = "t", run: str = "r") -> list[Obj]:
        """Every event of the run, once it is over, without its time."""
        return [without_time(json.loads(frame.data)) for frame in await self.frames(thread, run)]

    async def play(self, body: Obj) -> list[Obj]:
        started = await self.start(body)
        return await self.events(started.thread_id, started.run_id)

    async def page(self, thread: str | None = "t", before: str | None = None, limit: int = 50) -> Obj:
        return await self.services.history.page("local", thread, before, limit)

    async def rows(self, table: Any) -> list[Obj]:
        keys = {"messages": "position", "runs": "pk", "threads": "pk", "events": "id"}
        async with self.services.database.read() as session:
            found = await session.execute(select(table).order_by(table.c[keys.get(table.name, "pk")]))
            return [dict(row) for row in found.mappings()]

    async def messages(self) -> list[Obj]:
        return await self.rows(MESSAGES)

    async def runs(self) -> list[Obj]:
        return await self.rows(RUNS)

    async def threads(self) -> list[Obj]:
        return await self.rows(THREADS)

    async def rows_of_log(self) -> list[Obj]:
        return await self.rows(EVENTS)

    async def log(self) -> list[Obj]:
        return [json.loads(row["data"]) for row in await self.rows_of_log()]


def without_time(event: Obj) -> Obj:
    return {key: value for key, value in event.items() if key != "timestamp"}


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = T0

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


Open = Callable[..., AbstractAsyncContextManager[House]]
Waits = Callable[[Callable[[], Any]], Awaitable[Any]]
