"""Calling an application in this process: `AsgiTransport`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from agui_app.client import AsgiTransport


def over(app: Callable[[Scope, Receive, Send], Any]) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=AsgiTransport(app), base_url="http://localhost:3000")


class TestInProcess:
    async def test_the_application_gets_the_request_as_it_was_sent(self) -> None:
        async def echo(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            body = await request.body()
            text = f"{request.method} {request.url} {scope['raw_path']!r} {request.headers['x-a']} {body!r}"
            await Response(text, 201, {"x-b": "2"})(scope, receive, send)

        async def body() -> AsyncIterator[bytes]:
            yield b"one "
            yield b"two"

        async with over(echo) as http:
            response = await http.post("/a%20b?q=1&q=2", content=body(), headers={"x-a": "1"})
        assert (response.status_code, response.headers["x-b"], response.text) == (
            201,
            "2",
            "POST http://localhost:3000/a b?q=1&q=2 b'/a%20b' 1 b'one two'",
        )

    async def test_a_response_streams_as_it_is_written(self) -> None:
        step = asyncio.Event()

        async def pieces() -> AsyncIterator[bytes]:
            yield b"first"
            await step.wait()
            yield b"second"

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await StreamingResponse(pieces())(scope, receive, send)

        async with over(app) as http, http.stream("GET", "/") as response:
            chunks = response.aiter_bytes()
            assert await anext(chunks) == b"first"
            step.set()
            assert [chunk async for chunk in chunks] == [b"second"]

    async def test_what_was_written_meanwhile_comes_at_once(self) -> None:
        written = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200})
            for piece in (b"a", b"b", b"c"):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            written.set()
            await send({"type": "http.response.body"})

        async with over(app) as http, http.stream("GET", "/") as response:
            await written.wait()
            assert [chunk async for chunk in response.aiter_bytes()] == [b"abc"]

    async def test_closing_tells_the_application(self) -> None:
        heard: list[str] = []

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200})
            heard.append((await receive())["type"])
            heard.append((await receive())["type"])
            try:
                await send({"type": "http.response.body", "body": b"x"})
            except OSError as error:
                heard.append(str(error))

        async with over(app) as http, http.stream("GET", "/"):
            pass
        assert heard == ["http.request", "http.disconnect", "the client has left"]

    async def test_an_application_that_does_not_hear_is_cancelled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agui_app.client.asgi.LEAVE_GRACE_S", 0)
        ended = asyncio.Event()

        async def deaf(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200})
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with over(deaf) as http, http.stream("GET", "/"):
            pass
        await ended.wait()

    async def test_an_application_waits_for_a_slow_reader(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agui_app.client.asgi.MAX_WAITING_BYTES", 10)
        sent: list[int] = []

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200})
            for n in range(6):
                await send({"type": "http.response.body", "body": b"12345", "more_body": n < 5})
                sent.append(n)

        async with over(app) as http, http.stream("GET", "/") as response:
            chunks = response.aiter_raw()
            assert await anext(chunks) == b"1234512345"
            assert sent == [0, 1]
            assert b"".join([chunk async for chunk in chunks]) == b"12345" * 4

    async def test_an_exception_before_the_headers_goes_to_the_caller(self) -> None:
        async def broken(scope: Scope, receive: Receive, send: Send) -> None:
            raise LookupError("broken")

        async def silent(scope: Scope, receive: Receive, send: Send) -> None:
            return

        async with over(broken) as http:
            with pytest.raises(LookupError, match="broken"):
                await http.get("/")
        async with over(silent) as http:
            with pytest.raises(RuntimeError, match="without a response"):
                await http.get("/")

    async def test_an_exception_after_the_headers_is_a_broken_response(self) -> None:
        async def broken(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200})
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
            raise LookupError("broken")

        async with over(broken) as http, http.stream("GET", "/") as response:
            chunks = response.aiter_raw()
            assert await anext(chunks) == b"x"
            with pytest.raises(httpx.ReadError) as caught:
                await anext(chunks)
        assert isinstance(caught.value.__cause__, LookupError)

    async def test_a_silent_application_is_a_timeout(self) -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] == "/headers":
                await send({"type": "http.response.start", "status": 200})
            await receive()
            await receive()

        for path in ("/", "/headers"):
            async with over(app) as http:
                with pytest.raises(httpx.ReadTimeout):
                    await http.get(path, timeout=httpx.Timeout(1, read=0.01))

    async def test_a_caller_that_is_cancelled_takes_the_application_along(self) -> None:
        asked, left = asyncio.Event(), asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            asked.set()
            messages: list[Message] = [await receive(), await receive()]
            assert messages[1] == {"type": "http.disconnect"}
            left.set()

        async with over(app) as http:
            call = asyncio.create_task(http.get("/"))
            await asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        await left.wait()
