"""HTTP out: a client of the public API over httpx and httpx-sse.

`AguiClient` starts runs, follows threads and reads pages; `AsgiTransport` lets it call an application in its own
process, streams included. It knows the protocol and nothing of the server's inside.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, cast

import httpx
from httpx_sse import EventSource, aconnect_sse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agui_app import errors
from agui_app.errors import AguiError, FieldError, InvalidRequest, ToolError
from agui_app.protocol.sanitise import sanitise
from agui_app.protocol.sse import SseDecoder, SseFrame

API = "/api/v1/agent"
REQUEST_TIMEOUT_S = 10
SILENCE_S = 45  # three keep-alives missed: the connection is dead
FIRST_BACK_OFF_S = 0.2
LAST_BACK_OFF_S = 5.0
LEAVE_GRACE_S = 1.0  # what an application may take to notice that its client has left
MAX_WAITING_BYTES = 262_144  # of a response that its reader has not taken; then the application waits
IN_PROCESS_URL = "http://localhost"
"""The base URL for an AsgiTransport: a host that the server answers to."""

OnConnection: TypeAlias = Callable[[bool], Awaitable[None]]
"""Gets whether the connection stands."""

log = logging.getLogger(__name__)


class Unreachable(AguiError):
    """The server did not answer, or not as this API does."""

    code, status, title = "unreachable", 503, "Server unreachable"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a thread, as the server sent it."""

    id: str
    """Resume after it; opaque. Empty when the server gave none."""
    event: dict[str, Any]
    """The event's JSON: not validated."""

    @property
    def page(self) -> dict[str, Any] | None:
        """The newest history page when this is a resynchronisation: it replaces the reader's window."""
        metadata = self.event.get("metadata")
        ours = cast(dict[str, Any], metadata).get("agui-app") if isinstance(metadata, dict) else None
        if self.event.get("type") != "MESSAGES_SNAPSHOT" or not isinstance(ours, dict):
            return None
        page = cast(dict[str, Any], ours)
        if page.get("partial") is not True:
            return None
        kept = {name: page.get(name) for name in ("threadId", "runs", "hasMore", "nextCursor", "activeRunId")}
        return {**kept, "messages": self.event.get("messages"), "lastEventId": self.id}


class AguiClient:
    """The public API from the caller's side. Use it as a context manager, or close it.

    Every method raises the error that the server's problem document names, or Unreachable.
    """

    def __init__(
        self,
        base_url: str,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        silence_s: float = SILENCE_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = httpx.AsyncClient(base_url=base_url, transport=transport, timeout=REQUEST_TIMEOUT_S)
        self._stream_timeout = httpx.Timeout(REQUEST_TIMEOUT_S, read=silence_s)
        self._sleep = sleep
        self.skipped = 0
        """Frames that were no JSON object."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def start_run(self, body: dict[str, Any]) -> dict[str, Any]:
        """`{threadId, runId, status, eventsUrl, lastEventId}` of the run that `body` (a RunAgentInput) starts."""
        return await self._request("POST", "/runs", json=sanitise(body))

    async def cancel(self, thread_id: str, run_id: str | None = None) -> dict[str, Any]:
        """`{status: "cancelling", runId}`, or `{status: "idle"}` when there was nothing to stop."""
        return await self._request("POST", f"/runs/{thread_id}/cancel", json=_given(runId=run_id))

    async def history(self, thread_id: str | None, before: str | None = None, limit: int = 50) -> dict[str, Any]:
        """A page of a thread's transcript; without a thread that of the cursor, or the newest."""
        return await self._request(
            "GET", "/history", params=_given(threadId=thread_id, before=before, limit=str(limit))
        )

    async def threads(self, before: str | None = None, limit: int = 50, q: str | None = None) -> dict[str, Any]:
        """`{threads, hasMore, nextCursor}`, the one that changed last first."""
        return await self._request("GET", "/threads", params=_given(before=before, limit=str(limit), q=q))

    async def follow(
        self, thread_id: str, after: str | None = None, *, run_id: str | None = None
    ) -> AsyncGenerator[ServerEvent, None]:
        """The events of a thread, one by one; as `follow_batches`."""
        async with aclosing(self.follow_batches(thread_id, after, run_id=run_id)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def follow_batches(
        self,
        thread_id: str,
        after: str | None = None,
        *,
        run_id: str | None = None,
        on_connection: OnConnection | None = None,
    ) -> AsyncGenerator[list[ServerEvent], None]:
        """The events of a thread after `after`, all that have come at once, across dropped connections.

        Without `after`: from the start of the active run, or else what comes next. It ends only with the run that
        `run_id` names. Close it with `aclosing`. `on_connection` is told when the stream stands, and when it dropped.

        Raises: NotFound and other refusals; what may pass (a drop, a 5xx) is tried again, with longer pauses.
        """
        position, pauses = after, _pauses()
        while True:
            connection = self._connect(thread_id, position, run_id, on_connection)
            try:
                async with aclosing(connection) as batches:
                    async for batch, reached in batches:
                        position, pauses = reached, _pauses()
                        if batch:
                            yield batch
            except _Ended:
                return
            except (httpx.TransportError, AguiError) as error:
                if isinstance(error, AguiError) and not may_pass(error):
                    raise
                log.info("the stream of a thread dropped: %r", error)
            if on_connection:
                await on_connection(False)
            await self._sleep(next(pauses))

    async def _connect(
        self, thread_id: str, after: str | None, run_id: str | None, on_connection: OnConnection | None
    ) -> AsyncGenerator[tuple[list[ServerEvent], str | None], None]:
        """One connection: what each read brought, and the position after it."""
        headers = {"Accept-Encoding": "identity", **_given(**{"Last-Event-ID": after})}
        stream = aconnect_sse(
            self._http,
            "GET",
            f"{API}/runs/{thread_id}/events",
            params=_given(runId=run_id),
            headers=headers,
            timeout=self._stream_timeout,
        )
        async with stream as source:
            await _check_stream(source)
            if on_connection:
                await on_connection(True)
            decoder = SseDecoder()
            async with aclosing(cast(AsyncGenerator[bytes, None], source.response.aiter_bytes())) as chunks:
                async for chunk in chunks:
                    frames = decoder.feed(chunk)
                    if frames:
                        yield [event for frame in frames if (event := self._event(frame))], frames[-1].id or after

    def _event(self, frame: SseFrame) -> ServerEvent | None:
        try:
            event = json.loads(frame.data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            self.skipped += 1
            return None
        return ServerEvent(frame.id or "", cast(dict[str, Any], event))

    async def _request(self, method: str, path: str, **kwargs: Any) -> dict[str, Any]:
        try:
            response = await self._http.request(method, API + path, **kwargs)
        except httpx.TransportError as error:
            raise Unreachable(f"the server did not answer: {error!r}") from error
        if not response.is_success:
            raise _refusal(response)
        return _json_object(response)


class _Ended(Exception):
    """The server has nothing more to say on this stream."""


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


def _given(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _pauses() -> Iterator[float]:
    pause_s = FIRST_BACK_OFF_S
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, LAST_BACK_OFF_S)


def may_pass(error: AguiError) -> bool:
    """Whether the same request may well succeed a little later."""
    return error.status >= 500 or error.status == 429


async def _check_stream(source: EventSource) -> None:
    response = source.response
    if response.status_code == 204:
        raise _Ended
    if not response.is_success:
        await response.aread()
        raise _refusal(response)
    media_type = response.headers.get("content-type", "")
    if media_type.partition(";")[0].strip().lower() != "text/event-stream":
        raise Unreachable(f"the server answered with {media_type!r}, not with a stream of events")


_BY_CODE: dict[str, type[AguiError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, AguiError) and kind is not ToolError
}


def _refusal(response: httpx.Response) -> AguiError:
    """The error that a problem document names."""
    problem = _json_object(response)
    try:
        kind = _BY_CODE.get(problem["code"], AguiError if response.is_server_error else InvalidRequest)
        fields = tuple(FieldError(field["pointer"], field["message"]) for field in problem.get("errors", ()))
        known = ("type", "title", "status", "detail", "code", "errors")
        extra = {name: value for name, value in problem.items() if name not in known}
        return kind(problem["detail"], errors=fields, extra=extra)
    except (KeyError, TypeError):
        return Unreachable(f"the server answered {response.status_code} and no problem document")


def _json_object(response: httpx.Response) -> dict[str, Any]:
    try:
        content = response.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise Unreachable(f"the server answered {response.status_code} and no JSON object")
    return cast(dict[str, Any], content)
