"""The caller's side of the public API."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any, Self, TypeAlias, cast

import httpx
from httpx_sse import aconnect_sse

from agui_app.client.answers import Ended, ServerEvent, Unreachable, check_stream, json_object, refusal
from agui_app.errors import AguiError
from agui_app.protocol.sanitise import sanitise, sanitise_text
from agui_app.protocol.sse import SseDecoder, SseFrame

API = "/api/v1/agent"
REQUEST_TIMEOUT_S = 10
SILENCE_S = 45  # three keep-alives missed: the connection is dead
FIRST_BACK_OFF_S = 0.2
LAST_BACK_OFF_S = 5.0
RESYNC = ServerEvent("", {"type": "resync"})

OnConnection: TypeAlias = Callable[[bool], Awaitable[None]]
"""Gets whether the connection stands."""


async def _nobody(_: bool) -> None:
    """For streams whose reader need not know."""


log = logging.getLogger(__name__)


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

    async def rename_thread(self, thread_id: str, title: str) -> dict[str, Any]:
        """The thread's line under its new title."""
        return await self._request("PATCH", f"/threads/{thread_id}", json={"title": sanitise_text(title)})

    async def delete_thread(self, thread_id: str) -> None:
        """The thread is gone, with everything that belongs to it; its run is cancelled first."""
        await self._answer("DELETE", f"/threads/{thread_id}")

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
        on_connection: OnConnection = _nobody,
    ) -> AsyncGenerator[list[ServerEvent], None]:
        """The events of a thread after `after`, all that have come at once, across dropped connections.

        Without `after`: from the start of the active run, or else what comes next. It ends only with the run that
        `run_id` names. Close it with `aclosing`. `on_connection` is told when the stream stands, and when it dropped.

        Raises: NotFound and other refusals; what may pass (a drop, a 5xx) is tried again, with longer pauses.
        """
        path = f"/runs/{thread_id}/events"
        stream = self._batches(path, after, params=_given(runId=run_id), on_connection=on_connection)
        async with aclosing(stream) as batches:
            async for batch in batches:
                yield batch

    async def changes(self, after: str | None = None) -> AsyncGenerator[ServerEvent, None]:
        """What changes for the caller, one by one, across dropped connections: `thread.created`, `thread.updated`,
        `thread.deleted` (each with its `thread`), `calendar.changed`, `calendar.deleted` (each with its `event`).

        `resync` comes first, and again whenever something may have been missed: a list that is read then and changed
        by what follows is true. With `after`, the id of an event, only when there is no going on from there. Close it
        with `aclosing`.

        Raises: refusals; what may pass (a drop, a 5xx) is tried again, with longer pauses.
        """
        async with aclosing(self._batches("/changes", after, when_unsure=(RESYNC,))) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def _batches(
        self,
        path: str,
        after: str | None,
        *,
        params: dict[str, str] | None = None,
        when_unsure: tuple[ServerEvent, ...] = (),
        on_connection: OnConnection = _nobody,
    ) -> AsyncGenerator[list[ServerEvent], None]:
        """The events of a stream after `after`; `when_unsure` on a connection that goes on from no known position."""
        position, pauses = after, _pauses()
        while True:
            unsure = when_unsure if position is None else ()
            try:
                async with aclosing(self._connect(path, position, params, on_connection)) as reads:
                    async for frames in reads:
                        if frames:
                            position, pauses = frames[-1].id or position, _pauses()
                        batch = [*unsure, *(event for frame in frames if (event := self._event(frame)))]
                        unsure = ()
                        if batch:
                            yield batch
            except Ended:
                return
            except (httpx.TransportError, AguiError) as error:
                if isinstance(error, AguiError) and not may_pass(error):
                    raise
                log.info("the stream %s dropped: %r", path, error)
            await on_connection(False)
            await self._sleep(next(pauses))

    async def _connect(
        self, path: str, after: str | None, params: dict[str, str] | None, on_connection: OnConnection
    ) -> AsyncGenerator[list[SseFrame], None]:
        """One connection: the frames that each read completed, none when it completed none."""
        headers = {"Accept-Encoding": "identity", **_given(**{"Last-Event-ID": after})}
        stream = aconnect_sse(
            self._http, "GET", API + path, params=params, headers=headers, timeout=self._stream_timeout
        )
        async with stream as source:
            await check_stream(source)
            await on_connection(True)
            decoder = SseDecoder()
            async with aclosing(cast(AsyncGenerator[bytes, None], source.response.aiter_bytes())) as chunks:
                async for chunk in chunks:
                    yield decoder.feed(chunk)

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
        return json_object(await self._answer(method, path, **kwargs))

    async def _answer(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        try:
            response = await self._http.request(method, API + path, **kwargs)
        except httpx.TransportError as error:
            raise Unreachable(f"the server did not answer: {error!r}") from error
        if not response.is_success:
            raise refusal(response)
        return response


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
