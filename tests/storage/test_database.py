"""Transactions."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Insert, func, insert, select, text
from sqlalchemy.exc import IntegrityError

from agui_app.errors import StoreUnavailable
from agui_app.storage import database as module
from agui_app.storage.database import Database
from agui_app.storage.tables import THREADS

COUNT = select(func.count()).select_from(THREADS)


def new_thread(id: str) -> Insert:
    now = datetime(2026, 3, 2, tzinfo=UTC)
    return insert(THREADS).values(
        owner_id="local", id=id, title="", created_at=now, updated_at=now, last_event_id=0, next_position=0
    )


async def count(database: Database) -> int | None:
    async with database.read() as session:
        return await session.scalar(COUNT)


async def test_a_write_is_kept_when_its_block_ends(database: Database) -> None:
    async with database.write() as session:
        await session.execute(new_thread("t"))
    assert await count(database) == 1


async def test_a_write_that_raises_leaves_nothing(database: Database) -> None:
    async def fail() -> None:
        async with database.write() as session:
            await session.execute(new_thread("t"))
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        await fail()
    assert await count(database) == 0


async def test_a_cancelled_write_leaves_nothing_and_blocks_nobody(database: Database) -> None:
    inside = asyncio.Event()

    async def hang() -> None:
        async with database.write() as session:
            await session.execute(new_thread("t"))
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hang())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with database.write() as session:
        await session.execute(new_thread("u"))
    assert await count(database) == 1


async def test_a_read_is_a_snapshot_and_does_not_wait_for_the_writer(database: Database) -> None:
    async with database.read() as reading:
        assert await reading.scalar(COUNT) == 0
        async with database.write() as session:
            await session.execute(new_thread("t"))
            assert await count(database) == 0
        assert await reading.scalar(COUNT) == 0
    assert await count(database) == 1


async def test_writes_of_one_process_take_turns(database: Database) -> None:
    async def write(number: int) -> None:
        async with database.write() as session:
            before = await session.scalar(COUNT)
            await session.execute(new_thread(f"t{number}"))
            assert await session.scalar(COUNT) == (before or 0) + 1

    await asyncio.gather(*(write(number) for number in range(10)))
    assert await count(database) == 10


async def test_nothing_is_written_through_a_reading_session(database: Database) -> None:
    with pytest.raises(StoreUnavailable):
        async with database.read() as session:
            await session.execute(new_thread("t"))


async def test_a_broken_rule_of_the_tables_is_no_unavailable_store(database: Database) -> None:
    async def break_it() -> None:
        async with database.write() as session:
            await session.execute(new_thread("t"))
            await session.execute(new_thread("t"))

    with pytest.raises(IntegrityError):
        await break_it()


async def test_the_log_is_written_ahead_and_synced_and_keys_are_checked(database: Database) -> None:
    async with database.write() as session:
        pragmas = [
            await session.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert pragmas == ["wal", 2, 1]


async def test_a_locked_database_is_unavailable_and_then_available_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.write() as session:
        await session.execute(text("PRAGMA busy_timeout=1"))
    other = sqlite3.connect(tmp_path / "test.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable):
        async with database.write() as session:
            await session.execute(new_thread("t"))
    assert await count(database) == 0
    other.execute("ROLLBACK")
    other.close()
    async with database.write() as session:
        await session.execute(new_thread("t"))
    assert await count(database) == 1


async def test_a_file_that_is_no_database_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("this is no database " * 100)
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'x.db'}")
    with pytest.raises(StoreUnavailable):
        await database.check()
    await database.close()


async def test_a_database_that_answers_passes_the_check(database: Database) -> None:
    await database.check()


async def test_readers_wait_for_a_connection_no_longer_than_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READERS", 1)
    monkeypatch.setattr(module, "POOL_TIMEOUT_S", 0.01)
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'x.db'}")
    async with database.read() as session:
        await session.execute(text("SELECT 1"))
        with pytest.raises(StoreUnavailable):
            await database.check()
    await database.close()
