from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from starlette.types import Message

from agui_app.api.stream import EventStream, chunks, gathered
from agui_app.client import AsgiTransport
from agui_app.errors import StoreUnavailable
from agui_app.services import Services
from agui_app.storage.events import Frame, Resync

OPENED = b": open\n\n"
PAGE = {
    "threadId": "t",
    "messages": [
        {"id": "u", "role": "user", "content": "你好"},
        {
            "id": "a",
            "role": "assistant",
            "content": "",
            "toolCalls": [{"id": "c", "name": "f", "argsText": "{}", "status": "completed"}],
        },
    ],
    "runs": [{"runId": "r"}],
    "hasMore": True,
    "nextCursor": "older",
    "lastEventId": "5",
    "activeRunId": None,
}


@dataclass
class Log:
    """An event log that gives these items; then it ends, raises or stays open."""

    items: list[Frame | Resync | None]
    then: Exception | asyncio.Event | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    readers: int = 0

    async def follow(self, owner_id: str, thread_id: str, **position: Any) -> AsyncGenerator[Any, None]:
        self.asked.append({"owner": owner_id, "thread": thread_id, **position})
        self.readers += 1
        try:
            for item in self.items:
                yield item
            if isinstance(self.then, Exception):
                raise self.then
            if self.then is not None:
                await self.then.wait()
        finally:
            self.readers -= 1


async def page(owner_id: str, thread_id: str, before: str | None, limit: int) -> dict[str, Any]:
    assert (owner_id, thread_id, before, limit) == ("local", "t", None, 50)
    return PAGE


def stream(log: Log, after: int | None = None) -> AsyncGenerator[bytes, None]:
    services = cast(Services, SimpleNamespace(events=log, history=SimpleNamespace(page=page)))
    return chunks(services, "local", "t", after=after, run_id="r")


def frame(id: int) -> Frame:
    return Frame(id, "r", f'{{"n":{id}}}')


def encoded(id: int) -> bytes:
    return f'id: {id}\ndata: {{"n":{id}}}\n\n'.encode()


async def test_frames_that_wait_go_out_in_one_chunk_after_the_opening_comment() -> None:
    log = Log([frame(1), frame(2), None, frame(3)])
    assert [chunk async for chunk in stream(log, after=0)] == [
        OPENED,
        encoded(1) + encoded(2) + b": keep-alive\n\n" + encoded(3),
    ]
    assert log.asked == [{"owner": "local", "thread": "t", "after": 0, "run_id": "r"}]


async def test_a_frame_goes_out_while_the_next_one_is_waited_for() -> None:
    log = Log([frame(1)], then=asyncio.Event())
    async with aclosing(stream(log)) as out:
        assert [await anext(out), await anext(out)] == [OPENED, encoded(1)]
        assert log.readers == 1
    assert log.readers == 0


async def test_a_gap_is_answered_with_the_newest_page_and_frames_that_it_holds_are_left_out() -> None:
    log = Log([Resync(4), frame(5), frame(6)])
    opened, snapshot = [chunk async for chunk in stream(log, after=99)]
    head, data, rest = snapshot.split(b"\n", 2)
    assert (opened, head, rest) == (OPENED, b"id: 5", b"\n" + encoded(6))
    assert json.loads(data.removeprefix(b"data: ")) == {
        "type": "MESSAGES_SNAPSHOT",
        "messages": [
            {"id": "u", "role": "user", "content": "你好"},
            {
                "id": "a",
                "role": "assistant",
                "content": "",
                "toolCalls": [
                    {
                        "id": "c",
                        "name": "f",
                        "argsText": "{}",
                        "status": "completed",
                        "type": "function",
                        "function": {"name": "f", "arguments": "{}"},
                    }
                ],
            },
        ],
        "metadata": {
            "agui-app": {
                "partial": True,
                "threadId": "t",
                "nextCursor": "older",
                "hasMore": True,
                "runs": [{"runId": "r"}],
                "activeRunId": None,
            }
        },
    }


async def test_only_frames_that_the_page_holds_make_no_empty_chunk() -> None:
    log = Log([frame(1)])
    log.items = [Resync(4)]
    more = asyncio.Event()

    async def follow(*_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        yield Resync(4)
        await more.wait()
        yield frame(5)

    log.follow = follow  # type: ignore[method-assign]
    async with aclosing(stream(log)) as out:
        await anext(out)
        await anext(out)
        more.set()
        assert [chunk async for chunk in out] == []


def over(log: Log) -> httpx.AsyncClient:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await EventStream(stream(log))(scope, receive, send)

    return httpx.AsyncClient(transport=AsgiTransport(app), base_url="http://localhost")


async def test_the_headers_forbid_buffering_storing_and_compression() -> None:
    async with over(Log([])) as http:
        response = await http.get("/", headers={"accept-encoding": "gzip"})
    assert dict(response.headers) == {
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "content-type": "text/event-stream; charset=utf-8",
    }


async def test_a_client_that_leaves_ends_its_reader() -> None:
    log = Log([frame(1)], then=asyncio.Event())
    async with over(log) as http, http.stream("GET", "/") as response:
        received = aiter(response.aiter_bytes())
        while b"id: 1" not in await anext(received):
            pass
        assert log.readers == 1
    assert log.readers == 0


async def test_a_send_that_fails_ends_the_reader() -> None:
    log = Log([frame(1)], then=asyncio.Event())
    sent: list[str] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message["type"])
        if len(sent) > 2:
            raise OSError("gone")

    await EventStream(stream(log))({"type": "http"}, receive, send)
    assert log.readers == 0


async def test_a_store_that_goes_away_ends_the_stream_so_that_the_client_comes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with over(Log([frame(1)], then=StoreUnavailable("away"))) as http:
            assert (await http.get("/")).content == OPENED + encoded(1)
    assert "a stream broke off: away" in caplog.text


async def test_an_error_that_nobody_foresaw_breaks_the_response_off() -> None:
    async with over(Log([], then=LookupError("x"))) as http:
        with pytest.raises(httpx.ReadError):
            await http.get("/")


async def test_a_source_that_runs_ahead_waits_for_its_reader() -> None:
    given: list[int] = []

    async def source() -> AsyncGenerator[int, None]:
        for n in range(5):
            given.append(n)
            yield n

    async with aclosing(gathered(source(), limit=2)) as batches:
        assert await anext(batches) == [0, 1]
        assert given == [0, 1]
        assert [batch async for batch in batches] == [[2, 3], [4]]


async def test_what_the_source_raises_comes_after_what_it_gave() -> None:
    async def source() -> AsyncGenerator[int, None]:
        yield 1
        raise LookupError("x")

    async with aclosing(gathered(source())) as batches:
        assert await anext(batches) == [1]
        with pytest.raises(LookupError):
            await anext(batches)


async def test_closing_before_the_first_step_leaves_nothing_behind() -> None:
    log = Log([frame(1)])
    out: AsyncIterator[bytes] = stream(log)
    await cast(AsyncGenerator[bytes, None], out).aclose()
    assert log.readers == 0
