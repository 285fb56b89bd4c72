"""The way to an application in this process, streams included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAVE_GRACE_S = 1.0  # what an application may take to notice that its client has left
MAX_WAITING_BYTES = 262_144  # of a response that its reader has not taken; then the application waits
IN_PROCESS_URL = "http://localhost"
"""The base URL for an AsgiTransport: a host that the server answers to."""


class AsgiTransport(httpx.AsyncBaseTransport):
    """Sends requests to an ASGI application in this process; a response streams as the application writes it.

    The application runs in a task of its own for each request, and is told of the end (`http.disconnect`) when the
    response is closed. An exception before its headers goes to the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(self._app, request)
        try:
            await exchange.headers()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx.Response(exchange.status, headers=exchange.raw_headers, stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request and its response, between the caller's task and the application's."""

    def __init__(self, app: ASGIApp, request: httpx.Request) -> None:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        self.status = 0
        self.raw_headers: list[tuple[bytes, bytes]] = []
        self._body = aiter(request.stream)
        self._body_read = False
        self._read_timeout_s: float | None = request.extensions.get("timeout", {}).get("read")
        self._waiting = bytearray()
        self._news, self._room, self._left = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._room.set()
        self._complete = False
        self._task = asyncio.create_task(_run(app, _scope(request), self._receive, self._send))
        self._task.add_done_callback(lambda _: self._news.set())

    async def headers(self) -> None:
        """Waits for them. Raises: what the application raised; httpx.ReadTimeout."""
        while not self.status:
            await self._wait()
            if self._task.done() and not self.status:
                raise self._task.result() or RuntimeError("the application ended without a response")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            ended = self._complete or self._task.done()
            if self._waiting:
                chunk = bytes(self._waiting)
                self._waiting.clear()
                self._room.set()
                yield chunk
            elif not ended:
                await self._wait()
            if ended:
                break
        if not self._complete:
            raise httpx.ReadError("the application ended in the middle of its response") from self._task.result()

    async def aclose(self) -> None:
        self._left.set()
        self._room.set()
        try:
            await asyncio.wait((self._task,), timeout=LEAVE_GRACE_S)
        finally:
            self._task.cancel()

    async def _wait(self) -> None:
        self._news.clear()
        try:
            async with asyncio.timeout(self._read_timeout_s):
                await self._news.wait()
        except TimeoutError as error:
            raise httpx.ReadTimeout("the application was silent for too long") from error

    async def _receive(self) -> Message:
        if not self._body_read:
            async for chunk in self._body:
                if chunk:
                    return {"type": "http.request", "body": chunk, "more_body": True}
            self._body_read = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self._room.wait()
        if self._left.is_set():
            raise OSError("the client has left")
        if message["type"] == "http.response.start":
            self.status, self.raw_headers = message["status"], list(message.get("headers", ()))
        else:
            self._waiting += message.get("body", b"")
            self._complete = not message.get("more_body", False)
            if len(self._waiting) >= MAX_WAITING_BYTES:
                self._room.clear()
        self._news.set()


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> Exception | None:
    """What the application raised: an outcome, for whoever waits for the response."""
    try:
        await app(scope, receive, send)
    except Exception as error:
        return error
    return None


def _scope(request: httpx.Request) -> Scope:
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.partition(b"?")[0],
        "query_string": url.query,
        "root_path": "",
        "server": (url.host, url.port),
        "client": ("127.0.0.1", 0),
        "state": {},
    }
