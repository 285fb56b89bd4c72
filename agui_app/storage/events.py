"""The event log of the threads: read after an id, follow live."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from agui_app.errors import NotFound
from agui_app.storage.database import Database
from agui_app.storage.hub import Frame, Hub, Reader, live
from agui_app.storage.tables import Event, Run
from agui_app.storage.threads import find_thread

__all__ = ["EventLog", "Frame", "Resync", "read_run_events"]

CHUNK = 500  # frames read at once while catching up; no transaction is held while they are sent


@dataclass(frozen=True, slots=True)
class Resync:
    """The id to resume after is unknown, purged or beyond the end: the caller sends a snapshot of the history.

    The snapshot is read after this, so it may hold more: frames up to its `lastEventId` are to be skipped.
    """

    id: int
    """The position that frames go on from."""


@dataclass(frozen=True, slots=True)
class _Start:
    thread_pk: int
    position: int
    """The id that the reader has."""
    newest: int
    """The newest id, of the thread or of the run to read, at that moment."""
    resync: bool = False
    end: int | None = None
    """The id to end after, when it is known."""


class EventLog:
    """Reads and follows the log."""

    def __init__(self, database: Database, hub: Hub, *, keepalive_s: float):
        self._database = database
        self._hub = hub
        self._keepalive_s = keepalive_s

    async def follow(
        self, owner_id: str, thread_id: str, *, after: int | None, run_id: str | None = None
    ) -> AsyncGenerator[Frame | Resync | None, None]:
        """The events of a thread as they are committed; None when nothing came for `keepalive_s`.

        `after` None: from the first event of the active run, or else what comes next. With `run_id`: that run,
        and the end after its last event (at once when `after` is that event). A reader that falls too far behind
        is cut off: the iterator ends. Close it with `aclosing`.

        Raises: NotFound: no such thread (or run), at the first step. StoreUnavailable.
        """
        with self._hub.reader(owner_id, thread_id) as reader:  # before the look at the log: nothing falls between
            start = await self._start(owner_id, thread_id, after, run_id)
            if start.resync:
                yield Resync(start.newest)
                if run_id is not None:
                    return
            position = start.position
            async with aclosing(self._catch_up(reader, start)) as logged:
                async for frame in logged:
                    position = frame.id
                    yield frame
            if position < start.newest or (start.end is not None and position >= start.end):
                return  # cut off, or the run is read to its end
            async with aclosing(live(reader, position, self._keepalive_s)) as frames:
                async for frame in frames:
                    yield frame
                    if run_id is not None and frame is not None and frame.last:
                        return

    async def _catch_up(self, reader: Reader, start: _Start) -> AsyncGenerator[Frame, None]:
        position = start.position
        while position < start.newest and not reader.closed:
            frames = await self._read(start, position)
            if not frames:
                return
            for frame in frames:
                yield frame
            position = frames[-1].id

    async def _start(self, owner_id: str, thread_id: str, after: int | None, run_id: str | None) -> _Start:
        async with self._database.read() as session:
            row = await find_thread(session, owner_id, thread_id)
            pk, newest = thread = (row["pk"], row["last_event_id"])
            if run_id is not None:
                return await _start_in_run(session, thread, run_id, after)
            if after is None:
                active = await session.execute(
                    select(col(Run.first_event_id)).where(col(Run.thread_pk) == pk, col(Run.status) == "running")
                )
                first = active.scalar_one_or_none()
                return _Start(pk, newest if first is None else first - 1, newest)
            if await _is_known(session, thread, after):
                return _Start(pk, after, newest)
            return _Start(pk, newest, newest, resync=True)

    async def _read(self, start: _Start, after: int) -> list[Frame]:
        async with self._database.read() as session:
            rows = await session.execute(
                select(col(Event.id), col(Run.id), col(Event.data), col(Run.last_event_id))
                .join(Run, col(Run.pk) == col(Event.run_pk))
                .where(col(Event.thread_pk) == start.thread_pk, col(Event.id) > after, col(Event.id) <= start.newest)
                .order_by(col(Event.id))
                .limit(CHUNK)
            )
            return [Frame(id, run_id, data, id == last) for id, run_id, data, last in rows.all()]


async def _is_known(session: AsyncSession, thread: tuple[int, int], after: int) -> bool:
    """Whether every event after `after` is in the log: ids count up by one, and purging takes the oldest."""
    pk, newest = thread
    if after == newest:
        return True
    found = await session.execute(select(col(Event.id)).where(col(Event.thread_pk) == pk, col(Event.id) == after + 1))
    return found.one_or_none() is not None


async def _start_in_run(session: AsyncSession, thread: tuple[int, int], run_id: str, after: int | None) -> _Start:
    pk, newest = thread
    found = await session.execute(
        select(col(Run.first_event_id), col(Run.last_event_id)).where(col(Run.thread_pk) == pk, col(Run.id) == run_id)
    )
    bounds = found.one_or_none()
    if bounds is None:
        raise NotFound(f"There is no run {run_id!r} in this thread")
    first, last = bounds
    position = first - 1 if after is None else max(after, first - 1)
    end = newest if last is None else last
    if position > end or (position < end and not await _is_known(session, thread, position)):
        return _Start(pk, newest, newest, resync=True, end=last)
    return _Start(pk, position, end, end=last)


async def read_run_events(session: AsyncSession, thread_pk: int, run_pk: int, first: int, upto: int) -> list[str]:
    """The events of a run, oldest first, each as one-line JSON."""
    rows = await session.execute(
        select(col(Event.data))
        .where(
            col(Event.thread_pk) == thread_pk,
            col(Event.id) >= first,
            col(Event.id) <= upto,
            col(Event.run_pk) == run_pk,
        )
        .order_by(col(Event.id))
    )
    return list(rows.scalars())
