"""Commits what runs have to say: one task, one transaction for everything that waits, then the readers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, update
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.errors import StoreUnavailable
from agui_app.storage.database import Database
from agui_app.storage.hub import Frame, Hub
from agui_app.storage.tables import EVENTS, MESSAGES, PENDING_PAYLOADS, RUNS, THREADS

Effect = Callable[[AsyncSession], Awaitable[None]]
"""What a tool call does to the database; it belongs to the transaction that reports it."""


@dataclass(frozen=True, slots=True)
class RunRef:
    """Which run, by the names of the outside and of the tables."""

    owner_id: str
    thread_id: str
    run_id: str
    thread_pk: int
    run_pk: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What is committed together: all of it or nothing."""

    run: RunRef
    events: Sequence[str] = ()
    """One-line JSON each."""
    ends: bool = False
    """The last event is the terminal event of the run."""
    inserts: Sequence[Mapping[str, Any]] = ()
    """Columns of new message rows."""
    updates: Sequence[tuple[str, Mapping[str, Any]]] = ()
    """Message id, columns that change."""
    deletes: Sequence[str] = ()
    run_columns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    thread_columns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pending: Sequence[Mapping[str, Any]] = ()
    """Columns of payloads that wait for the object store."""
    effects: Sequence[Effect] = ()


async def store_batch(session: AsyncSession, batch: Batch, now: datetime) -> list[Frame]:
    """The frames of the batch, once the transaction of `session` commits."""
    run = batch.run
    for effect in batch.effects:
        await effect(session)
    frames: list[Frame] = []
    if batch.events or batch.thread_columns:
        frames = await _log_events(session, batch, now)
    await _store_messages(session, batch)
    columns = dict(batch.run_columns)
    if batch.ends and frames:
        columns["last_event_id"] = frames[-1].id
    if columns:
        await session.execute(update(RUNS).where(RUNS.c.pk == run.run_pk).values(**columns))
    return frames


async def _log_events(session: AsyncSession, batch: Batch, now: datetime) -> list[Frame]:
    run, count = batch.run, len(batch.events)
    newest = await session.execute(
        update(THREADS)
        .where(THREADS.c.pk == run.thread_pk)
        .values(last_event_id=THREADS.c.last_event_id + count, **batch.thread_columns)
        .returning(THREADS.c.last_event_id)
    )
    first = newest.scalar_one() - count + 1
    frames = [
        Frame(first + index, run.run_id, data, last=batch.ends and index == count - 1)
        for index, data in enumerate(batch.events)
    ]
    if frames:
        common = {"thread_pk": run.thread_pk, "run_pk": run.run_pk, "owner_id": run.owner_id, "created_at": now}
        await session.execute(insert(EVENTS), [{**common, "id": frame.id, "data": frame.data} for frame in frames])
    return frames


async def _store_messages(session: AsyncSession, batch: Batch) -> None:
    run = batch.run
    mine = MESSAGES.c.thread_pk == run.thread_pk
    owned = {"thread_pk": run.thread_pk, "owner_id": run.owner_id}
    if batch.deletes:
        await session.execute(delete(MESSAGES).where(mine, MESSAGES.c.id.in_(batch.deletes)))
    for message_id, columns in batch.updates:
        await session.execute(update(MESSAGES).where(mine, MESSAGES.c.id == message_id).values(**columns))
    if batch.inserts:
        await session.execute(insert(MESSAGES), [{**owned, **row} for row in batch.inserts])
    if batch.pending:
        waiting = PENDING_PAYLOADS.c.message_id.in_([row["message_id"] for row in batch.pending])
        await session.execute(delete(PENDING_PAYLOADS).where(PENDING_PAYLOADS.c.thread_pk == run.thread_pk, waiting))
        await session.execute(insert(PENDING_PAYLOADS), [{**owned, **row} for row in batch.pending])


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: Batch
    done: asyncio.Future[None]


class Writer:
    """Group commit: while one transaction is under way, the batches of every run gather for the next."""

    def __init__(self, database: Database, hub: Hub, clock: Callable[[], datetime]):
        self._database = database
        self._hub = hub
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._news = asyncio.Event()
        self._closed = False

    async def submit(self, batch: Batch) -> None:
        """Back when the batch is committed and the readers have it.

        Raises: StoreUnavailable: nothing of it is stored. Whatever an effect raises, likewise.
        """
        if self._closed:
            raise StoreUnavailable("The server is stopping")
        waiting = _Waiting(batch, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._news.set()
        await waiting.done

    def publish(self, run: RunRef, frames: Sequence[Frame]) -> None:
        """What another transaction committed. Call it right after the commit."""
        self._hub.publish(run.owner_id, run.thread_id, frames)

    async def run(self) -> None:
        """Writes until closed, and what waits then."""
        while self._waiting or not self._closed:
            await self._news.wait()
            self._news.clear()
            waiting, self._waiting = self._waiting, []
            await self._commit(waiting)
            if self._closed:
                self._news.set()

    def close(self) -> None:
        """`run` ends when everything is written."""
        self._closed = True
        self._news.set()

    async def _commit(self, waiting: Sequence[_Waiting]) -> None:
        error = await self._attempt([one.batch for one in waiting])
        if error is not None and len(waiting) > 1 and not isinstance(error, StoreUnavailable):
            for one in waiting:  # one of them is at fault: each stands for itself
                await self._commit([one])
            return
        for one in waiting:
            _settle(one.done, error)

    async def _attempt(self, batches: Sequence[Batch]) -> Exception | None:
        try:
            await self._transaction(batches)
        except Exception as error:  # an effect raises what it likes; it goes to the run it belongs to
            return error
        return None

    async def _transaction(self, batches: Sequence[Batch]) -> None:
        async with self._database.write() as session:
            now = self._clock()
            stored = [(batch.run, await store_batch(session, batch, now)) for batch in batches]
        for run, frames in stored:
            self.publish(run, frames)


def _settle(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():  # whoever asked has gone
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
