"""SSE streams: frames as bytes, with comments in silence; of a thread its log, with a snapshot where it has a gap."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from agui_app.api.params import DEFAULT_PAGE
from agui_app.errors import AguiError
from agui_app.protocol.sse import encode_comment, encode_frame
from agui_app.services import Services
from agui_app.storage.events import Frame, Resync

KEEP_ALIVE = encode_comment("keep-alive")
OPENED = encode_comment("open")  # proxies and clients see the stream open before its first event
MAX_WAITING = 256  # frames gathered for one write; a reader that takes none holds up its own follower alone

T = TypeVar("T")

log = logging.getLogger(__name__)


class EventStream(Response):
    """Writes chunks as they come; the client's going ends it at once, and nothing is left behind."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes, None]) -> None:
        self._chunks = chunks
        self.status_code = 200
        self.background = None
        self.init_headers({"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A task of its own, since a server may tell of the end by `receive` alone, also while nothing is to be sent.
        writing = asyncio.create_task(self._write(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _stop(leaving)
            await _stop(writing)
        if not writing.cancelled():
            writing.result()

    async def _write(self, send: Send) -> None:
        start: Message = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        async with aclosing(self._chunks) as chunks:
            open_still = await _sent(send, start)
            try:
                while open_still and (chunk := await anext(chunks, None)) is not None:
                    open_still = await _sent(send, {"type": "http.response.body", "body": chunk, "more_body": True})
            except AguiError as error:  # an end, to a client: it comes again and is told what is wrong
                log.warning("a stream broke off: %s", error.detail)
            await _sent(send, {"type": "http.response.body", "body": b"", "more_body": False})


async def chunks(
    services: Services, owner_id: str, thread_id: str, *, after: int | None, run_id: str | None
) -> AsyncGenerator[bytes, None]:
    """The log of the thread after `after` as SSE bytes."""

    async def snapshot(_: Resync) -> tuple[int, bytes]:
        return await _snapshot(services, owner_id, thread_id)

    frames = services.events.follow(owner_id, thread_id, after=after, run_id=run_id)
    async with aclosing(encoded(frames, snapshot)) as out:
        async for chunk in out:
            yield chunk


async def encoded(
    frames: AsyncGenerator[Frame | Resync | None, None], resync: Callable[[Resync], Awaitable[tuple[int, bytes]]]
) -> AsyncGenerator[bytes, None]:
    """The frames as SSE bytes, several waiting ones in one chunk, after a comment that shows the stream open.

    `resync`: what is sent where there is a gap, and the position up to which it holds everything.
    """
    yield OPENED
    floor = 0  # frames up to here are in what was sent for a gap
    async with aclosing(gathered(frames)) as batches:
        async for batch in batches:
            written: list[bytes] = []
            for item in batch:
                if isinstance(item, Resync):
                    floor, whole = await resync(item)
                    written.append(whole)
                elif item is None:
                    written.append(KEEP_ALIVE)
                elif item.id > floor:
                    written.append(encode_frame(item.id, item.data))
            if written:
                yield b"".join(written)


async def gathered(source: AsyncGenerator[T, None], limit: int = MAX_WAITING) -> AsyncGenerator[list[T], None]:
    """What `source` has given since the last step, at least one each time; `source` runs on meanwhile."""
    waiting: list[T] = []
    came, room = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with aclosing(source) as items:
            async for item in items:
                waiting.append(item)
                came.set()
                if len(waiting) >= limit:
                    room.clear()
                    await room.wait()

    reader = asyncio.create_task(read())  # owned by this generator: a TaskGroup would wrap its GeneratorExit
    reader.add_done_callback(lambda _: came.set())
    try:
        while True:
            await came.wait()
            came.clear()
            finished = reader.done()
            if waiting:
                batch, waiting[:] = list(waiting), []
                room.set()
                yield batch
            if finished:
                reader.result()
                return
    finally:
        await _stop(reader)


async def _sent(send: Send, message: Message) -> bool:
    try:
        await send(message)
    except OSError:  # the client has left
        return False
    return True


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stop(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait((task,))


async def _snapshot(services: Services, owner_id: str, thread_id: str) -> tuple[int, bytes]:
    """The newest page as a MESSAGES_SNAPSHOT frame, and the position that it stands at."""
    page = await services.history.page(owner_id, thread_id, None, DEFAULT_PAGE)
    last_event_id = int(page["lastEventId"])
    event = {
        "type": "MESSAGES_SNAPSHOT",
        "messages": [_standard(message) for message in page["messages"]],
        "metadata": {
            "agui-app": {
                "partial": True,
                **{name: page[name] for name in ("threadId", "nextCursor", "hasMore", "runs", "activeRunId")},
            }
        },
    }
    return last_event_id, encode_frame(last_event_id, json.dumps(event, ensure_ascii=False, separators=(",", ":")))


def _standard(message: dict[str, Any]) -> dict[str, Any]:
    """A message of a history page that is an AG-UI message too: its calls carry `type` and `function`."""
    calls: list[dict[str, Any]] = message.get("toolCalls") or []
    if not calls:
        return message
    return {
        **message,
        "toolCalls": [
            {**call, "type": "function", "function": {"name": call["name"], "arguments": call["argsText"]}}
            for call in calls
        ],
    }
