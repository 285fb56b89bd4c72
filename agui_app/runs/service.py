"""Runs as the API sees them: start, cancel, bounds; and the end of a whole thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from sqlalchemy import select

from agui_app.errors import NotFound, RunActive, StoreUnavailable
from agui_app.runs.accept import Accepted, StartedRun, accept
from agui_app.runs.endings import Stop
from agui_app.runs.parts import Parts
from agui_app.runs.pipeline import Pipeline
from agui_app.runs.requests import RunRequest, read_request
from agui_app.storage.deletion import delete_thread
from agui_app.storage.tables import RUNS
from agui_app.storage.threads import find_thread

__all__ = ["Runs", "StartedRun"]

CANCEL_WAIT_S = 2.0  # a run sent while a cancel is under way waits that long for its turn
DELETE_WAIT_S = 5.0  # the agent's second, and the database's
SHUTDOWN_BOUND_S = 5.0  # the agent's second, and the database's

T = TypeVar("T")


class Runs:
    """Starts and stops runs, and knows those of this process."""

    def __init__(self, parts: Parts):
        self._parts = parts
        self._active: dict[tuple[str, str], Pipeline] = {}
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._closed = False

    async def start(self, owner_id: str, body: dict[str, Any]) -> StartedRun:
        """The run that `body` (a valid RunAgentInput, camelCase JSON; threadId and runId optional) started.

        Raises: RunConflict, RunActive (extra `activeRunId`), InvalidRequest, StoreUnavailable.
        """
        request = read_request(body, default_timezone=self._parts.settings.timezone)
        deadline = asyncio.get_running_loop().time() + CANCEL_WAIT_S
        while True:
            # A client that goes away must not leave a run that is stored and never carried out.
            started = await asyncio.shield(self._parts.spawn(_captured(self._start(owner_id, request))))
            if isinstance(started, StartedRun):
                return started
            if not isinstance(started, RunActive) or not await self._makes_way(owner_id, request, deadline):
                raise started

    async def cancel(self, owner_id: str, thread_id: str, run_id: str | None) -> dict[str, str]:
        """`{status: "cancelling", runId}` or `{status: "idle"}`. Raises NotFound for an unknown thread."""
        async with self._parts.database.read() as session:
            await find_thread(session, owner_id, thread_id)
        pipeline = self._active.get((owner_id, thread_id))
        if pipeline is None or run_id not in (None, pipeline.ref.run_id):
            return {"status": "idle"}
        pipeline.stop(Stop.CANCELLED)
        return {"status": "cancelling", "runId": pipeline.ref.run_id}

    async def delete(self, owner_id: str, thread_id: str) -> None:
        """The thread is gone, with its runs and everything else of it; an active run is cancelled first.

        A run that is sent meanwhile waits, and begins the thread anew.

        Raises: NotFound. StoreUnavailable: also when the active run did not end within DELETE_WAIT_S, which takes a
        database that is away; nothing is deleted then.
        """
        failure = await asyncio.shield(self._parts.spawn(_captured(self._delete(owner_id, thread_id))))
        if failure is not None:
            raise failure

    async def run_bounds(self, owner_id: str, thread_id: str, run_id: str) -> tuple[int, int | None]:
        """First and last event id of the run; None while it is active. Raises NotFound."""
        async with self._parts.database.read() as session:
            thread = await find_thread(session, owner_id, thread_id)
            found = await session.execute(
                select(RUNS.c.first_event_id, RUNS.c.last_event_id).where(
                    RUNS.c.owner_id == owner_id, RUNS.c.thread_pk == thread["pk"], RUNS.c.id == run_id
                )
            )
            bounds = found.one_or_none()
        if bounds is None:
            raise NotFound(f"There is no run {run_id!r} in this thread")
        first, last = bounds
        return first, last

    async def shutdown(self) -> None:
        """Every run is ended as interrupted; no new one starts."""
        self._closed = True
        pipelines = list(self._active.values())
        for pipeline in pipelines:
            pipeline.stop(Stop.SHUTDOWN)
        ends = [self._parts.spawn(pipeline.done.wait()) for pipeline in pipelines]
        if ends:
            _, late = await asyncio.wait(ends, timeout=SHUTDOWN_BOUND_S)
            for one in late:
                one.cancel()

    async def _start(self, owner_id: str, request: RunRequest) -> StartedRun:
        if self._closed:
            raise StoreUnavailable("The server is stopping")
        parts = self._parts
        async with self._turn(owner_id, request.thread_id):
            async with parts.database.write() as session:
                run = await accept(session, owner_id, request, parts.clock())
            if isinstance(run, StartedRun):
                return run
            parts.writer.publish_first(run.ref, run.frames, new_thread=run.new_thread)
            self._launch(run)
        return run.started

    async def _delete(self, owner_id: str, thread_id: str) -> None:
        parts = self._parts
        async with self._turn(owner_id, thread_id):
            await self._end_active(owner_id, thread_id)
            async with parts.database.write() as session:
                await delete_thread(session, owner_id, thread_id, parts.clock())
            parts.writer.publish_deletion(owner_id, thread_id)

    async def _end_active(self, owner_id: str, thread_id: str) -> None:
        pipeline = self._active.get((owner_id, thread_id))
        if pipeline is None:
            return
        pipeline.stop(Stop.CANCELLED)
        try:
            async with asyncio.timeout(DELETE_WAIT_S):
                await pipeline.done.wait()
        except TimeoutError as error:
            raise StoreUnavailable("The thread's run could not be ended in time; try again in a moment") from error

    def _turn(self, owner_id: str, thread_id: str | None) -> asyncio.Lock:
        """Held while a run of the thread is taken in and launched, or the thread is deleted: never both at once."""
        return self._turns.setdefault((owner_id, thread_id or ""), asyncio.Lock())

    def _launch(self, accepted: Accepted) -> None:
        pipeline = Pipeline(accepted, self._parts)
        key = (accepted.ref.owner_id, accepted.ref.thread_id)
        self._active[key] = pipeline
        if self._closed:
            pipeline.stop(Stop.SHUTDOWN)

        async def carry_out() -> None:
            try:
                await pipeline.run()
            finally:
                if self._active.get(key) is pipeline:
                    del self._active[key]

        self._parts.spawn(carry_out())

    async def _makes_way(self, owner_id: str, request: RunRequest, deadline: float) -> bool:
        """Whether the active run was being stopped, and is over before the deadline."""
        pipeline = self._active.get((owner_id, request.thread_id or ""))
        if pipeline is None or pipeline.stop_reason is None:
            return False
        try:
            async with asyncio.timeout_at(deadline):
                await pipeline.done.wait()
        except TimeoutError:
            return False
        return True


async def _captured(work: Coroutine[Any, Any, T]) -> T | Exception:
    """What `work` returns or raises, as a value: a task of the group must not raise."""
    try:
        return await work
    except Exception as error:
        return error
