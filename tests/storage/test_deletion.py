"""Deleted threads: what goes, what stays, what is remembered."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text, update

from agui_app.errors import NotFound
from agui_app.storage import calendar
from agui_app.storage.calendar import CalendarEvent
from agui_app.storage.database import Database
from agui_app.storage.deletion import LATE_PUT, delete_thread, position_after_deletion
from agui_app.storage.tables import (
    DELETED_THREADS,
    DISCARDED_PAYLOADS,
    EVENTS,
    MESSAGES,
    PENDING_PAYLOADS,
    RUNS,
    THREADS,
)
from tests.storage.conftest import T0, Seed

OF_A_THREAD = (THREADS, MESSAGES, RUNS, EVENTS, PENDING_PAYLOADS)


async def remove(database: Database, thread_id: str, owner_id: str = "local") -> None:
    async with database.write() as session:
        await delete_thread(session, owner_id, thread_id, T0)


async def position(database: Database, thread_id: str, owner_id: str = "local") -> int:
    async with database.write() as session:
        return await position_after_deletion(session, owner_id, thread_id)


async def counts(database: Database) -> list[int]:
    async with database.read() as session:
        return [await session.scalar(select(func.count()).select_from(table)) or 0 for table in OF_A_THREAD]


async def store_payloads(database: Database, thread_pk: int, name: str) -> None:
    """A stored payload, one that waits, and one of a replaced message."""
    async with database.write() as session:
        mine = MESSAGES.c.thread_pk == thread_pk
        for number, path in (("0", f"{name}.json"), ("1", None)):
            await session.execute(
                update(MESSAGES)
                .where(mine, MESSAGES.c.id == f"assistant{number}")
                .values(role="tool", superseded_by="r9" if path else None, metadata={"storage_path": path})
            )
        await session.execute(
            insert(PENDING_PAYLOADS).values(
                owner_id="local",
                thread_pk=thread_pk,
                message_id="assistant1",
                path=f"{name}-pending.json",
                payload={},
                attempts=3,
                next_attempt_at=T0,
                created_at=T0,
            )
        )


async def test_everything_of_a_thread_goes_and_nothing_else(database: Database, seed: Seed) -> None:
    await store_payloads(database, await seed("other", runs=2), "other")
    before = await counts(database)
    await store_payloads(database, await seed("t", runs=2, active=True), "mine")
    event: dict[str, Any] = {"owner_id": "local", "timezone": "UTC", "created_at": T0, "updated_at": T0}
    async with database.write() as session:
        await calendar.insert(session, CalendarEvent(id="e", title="stays", all_day=True, **event))
    assert [now - then for now, then in zip(await counts(database), before, strict=True)] == [1, 4, 2, 8, 1]
    await remove(database, "t")
    assert await counts(database) == before
    async with database.read() as session:
        assert await calendar.get(session, "local", "e") is not None
        columns = (DISCARDED_PAYLOADS.c.owner_id, DISCARDED_PAYLOADS.c.path, DISCARDED_PAYLOADS.c.next_attempt_at)
        assert [tuple(row) for row in await session.execute(select(*columns))] == [
            ("local", "mine.json", T0),
            ("local", "mine-pending.json", T0),
            ("local", "mine-pending.json", T0 + LATE_PUT),
        ]


async def test_every_connection_keeps_the_foreign_keys(database: Database) -> None:
    async with database.read() as reading, database.write() as writing:
        asked = [await session.scalar(text("PRAGMA foreign_keys")) for session in (reading, writing)]
    direct = await database.transact(lambda connection: connection.scalar(text("PRAGMA foreign_keys")))
    assert (asked, direct) == ([1, 1], 1)


async def test_what_is_not_there_or_anothers_is_not_found(database: Database, seed: Seed) -> None:
    await seed("t", owner_id="other")
    before = await counts(database)
    for thread_id in ("t", "nowhere"):
        with pytest.raises(NotFound):
            await remove(database, thread_id)
    assert await counts(database) == before
    await remove(database, "t", "other")
    with pytest.raises(NotFound):
        await remove(database, "t", "other")


async def test_ids_go_on_after_those_of_the_deleted_thread_with_a_gap(database: Database, seed: Seed) -> None:
    await seed("t", runs=2)
    await remove(database, "t")
    assert [await position(database, "t", "other"), await position(database, "new")] == [0, 0]
    assert await position(database, "t") == 9
    async with database.read() as session:
        assert (await session.execute(select(DELETED_THREADS))).all() == []


async def test_a_thread_may_be_deleted_again_and_again(database: Database, seed: Seed) -> None:
    for runs in (1, 2, 3):
        await seed("t", runs=runs, at=T0 + timedelta(hours=runs))
        await remove(database, "t")
        assert await position(database, "t") == 4 * runs + 1
