"""Commits what runs have to say: one task, one transaction for everything that waits, then the readers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from agui_app.errors import StoreUnavailable
from agui_app.runs.batch import Batch, RunRef, store_batch
from agui_app.storage.change import Change, Changed, Tell, tell_nobody
from agui_app.storage.database import Database
from agui_app.storage.hub import Frame, Hub


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: Batch
    done: asyncio.Future[None]


class Writer:
    """Group commit: while one transaction is under way, the batches of every run gather for the next."""

    def __init__(self, database: Database, hub: Hub, clock: Callable[[], datetime], tell: Tell = tell_nobody):
        self._database = database
        self._hub = hub
        self._clock = clock
        self._tell = tell
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
        if frames and frames[-1].last:
            self._tell(run.owner_id, Change(Changed.THREAD_UPDATED, run.thread_id))

    def publish_first(self, run: RunRef, frames: Sequence[Frame], *, new_thread: bool) -> None:
        """The beginning of a run, which another transaction committed. Call it right after the commit."""
        self.publish(run, frames)
        what = Changed.THREAD_CREATED if new_thread else Changed.THREAD_UPDATED
        self._tell(run.owner_id, Change(what, run.thread_id))

    def publish_deletion(self, owner_id: str, thread_id: str) -> None:
        """The thread is no more: its readers end. Call it right after the commit."""
        self._hub.end(owner_id, thread_id)
        self._tell(owner_id, Change(Changed.THREAD_DELETED, thread_id))

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
        now = self._clock()
        changes: list[tuple[str, Change]] = []
        if any(batch.effects for batch in batches):
            stored, changes = await self._store_with_effects(batches, now)
        else:
            stored = await self._database.transact(lambda connection: _store(connection, batches, now))
        for batch, frames in zip(batches, stored, strict=True):
            self.publish(batch.run, frames)
        for owner_id, change in changes:
            self._tell(owner_id, change)

    async def _store_with_effects(
        self, batches: Sequence[Batch], now: datetime
    ) -> tuple[list[list[Frame]], list[tuple[str, Change]]]:
        changes: list[tuple[str, Change]] = []
        async with self._database.write() as session:
            for batch in batches:
                for effect in batch.effects:
                    changes += [(batch.run.owner_id, change) for change in await effect(session) or ()]
            await session.flush()
            connection = await session.connection()
            return await connection.run_sync(_store, batches, now), changes


def _store(connection: Connection, batches: Sequence[Batch], now: datetime) -> list[list[Frame]]:
    return [store_batch(connection, batch, now) for batch in batches]


def _settle(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():  # whoever asked has gone
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
