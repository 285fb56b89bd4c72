"""Old events leave the log."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from agui_app.errors import StoreUnavailable
from agui_app.storage import retention
from agui_app.storage.database import Database
from agui_app.storage.retention import purge_events, purge_forever
from agui_app.storage.tables import EVENTS
from tests.storage.conftest import T0, Seed


async def ids(database: Database) -> list[int]:
    async with database.read() as session:
        return list(await session.scalars(select(EVENTS.c.id).order_by(EVENTS.c.thread_pk, EVENTS.c.id)))


async def test_events_of_runs_that_finished_long_ago_are_purged(database: Database, seed: Seed) -> None:
    await seed("t", runs=3, active=True)
    assert await purge_events(database, T0 + timedelta(milliseconds=500)) == 0
    assert await purge_events(database, T0 + timedelta(milliseconds=501)) == 1
    assert await ids(database) == list(range(5, 13))
    assert await purge_events(database, T0 + timedelta(days=9)) == 1
    assert await ids(database) == [9, 10, 11, 12]
    assert await purge_events(database, T0 + timedelta(days=9)) == 0


async def test_purging_goes_on_through_threads_and_troubles(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "THREADS_AT_ONCE", 1)
    for name in "abc":
        await seed(name)
    paused: list[float] = []
    purge, failing = purge_events, [True]

    async def once_failing(*args: Any) -> int:
        if failing:
            failing.pop()
            raise StoreUnavailable("away")
        return await purge(*args)

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 5:
            raise asyncio.CancelledError

    monkeypatch.setattr(retention, "purge_events", once_failing)
    monkeypatch.setattr(asyncio, "sleep", pause)
    with pytest.raises(asyncio.CancelledError):
        await purge_forever(database, lambda: T0 + timedelta(days=9), 8.0)
    assert (await ids(database), paused) == ([], [2.0, 1.0, 1.0, 1.0, 2.0])
