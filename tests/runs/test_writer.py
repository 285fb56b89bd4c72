"""Group commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.errors import StoreUnavailable
from agui_app.runs.batch import Batch, RunRef
from agui_app.runs.writer import Writer
from agui_app.storage.database import Database
from agui_app.storage.hub import Hub
from agui_app.storage.migrate import migrate
from agui_app.storage.tables import EVENTS, RUNS, THREADS
from tests.runs.house import T0


class Counting(Database):
    """Counts its write transactions."""

    writes = 0

    def write(self) -> Any:
        self.writes += 1
        return super().write()

    def transact(self, work: Any) -> Any:
        self.writes += 1
        return super().transact(work)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Counting]:
    url = f"sqlite+aiosqlite:///{tmp_path / 'x.db'}"
    await migrate(url)
    database = Counting(url)
    yield database
    await database.close()


@pytest.fixture
async def refs(database: Counting) -> list[RunRef]:
    made: list[RunRef] = []
    async with database.write() as session:
        for number in (1, 2, 3):
            common = {"owner_id": "local", "id": f"t{number}"}
            thread = {**common, "title": "", "created_at": T0, "updated_at": T0, "last_event_id": 0, "next_position": 0}
            thread_pk = await session.scalar(insert(THREADS).values(**thread).returning(THREADS.c.pk))
            run = {
                "status": "running",
                "position": 0,
                "body_hash": "",
                "first_event_id": 1,
                "locale": "",
                "timezone": "",
            }
            run_pk = await session.scalar(
                insert(RUNS).values(owner_id="local", id=f"r{number}", thread_pk=thread_pk, **run).returning(RUNS.c.pk)
            )
            assert thread_pk is not None
            assert run_pk is not None
            made.append(RunRef("local", f"t{number}", f"r{number}", thread_pk, run_pk))
    database.writes = 0
    return made


async def logged(database: Database) -> list[tuple[int, int, str]]:
    async with database.read() as session:
        query = select(EVENTS.c.thread_pk, EVENTS.c.id, EVENTS.c.data).order_by(EVENTS.c.thread_pk, EVENTS.c.id)
        return [tuple(row) for row in await session.execute(query)]


async def fails(session: AsyncSession) -> None:
    raise RuntimeError("no")


async def test_what_waits_together_is_committed_together(database: Counting, refs: list[RunRef]) -> None:
    writer = Writer(database, Hub(10), lambda: T0)
    waiting = [asyncio.ensure_future(writer.submit(Batch(ref, events=["a", "b"]))) for ref in refs]
    await asyncio.sleep(0)
    writer.close()
    await writer.run()
    await asyncio.gather(*waiting)
    assert database.writes == 1
    assert [event[1:] for event in await logged(database)] == [(1, "a"), (2, "b")] * 3


async def test_a_batch_at_fault_fails_alone(database: Counting, refs: list[RunRef]) -> None:
    writer = Writer(database, Hub(10), lambda: T0)
    batches = [
        Batch(refs[0], events=["a"]),
        Batch(refs[1], events=["b"], effects=[fails]),
        Batch(refs[2], events=["c"]),
    ]
    waiting = [asyncio.ensure_future(writer.submit(batch)) for batch in batches]
    await asyncio.sleep(0)
    writer.close()
    await writer.run()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), RuntimeError, type(None)]
    assert [event[2] for event in await logged(database)] == ["a", "c"]


async def test_a_store_that_is_away_fails_all_at_once(database: Counting, refs: list[RunRef], monkeypatch) -> None:
    async def away(work: Any) -> Any:
        database.writes += 1
        raise StoreUnavailable("away")

    monkeypatch.setattr(database, "transact", away)
    writer = Writer(database, Hub(10), lambda: T0)
    waiting = [asyncio.ensure_future(writer.submit(Batch(ref, events=["a"]))) for ref in refs]
    await asyncio.sleep(0)
    writer.close()
    await writer.run()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert ([type(outcome) for outcome in outcomes], database.writes) == ([StoreUnavailable] * 3, 1)


async def test_whoever_asked_and_left_does_not_stop_the_writer(database: Counting, refs: list[RunRef]) -> None:
    writer = Writer(database, Hub(10), lambda: T0)
    gone = asyncio.ensure_future(writer.submit(Batch(refs[0], events=["a"])))
    await asyncio.sleep(0)
    gone.cancel()
    writer.close()
    await writer.run()
    assert [event[2] for event in await logged(database)] == ["a"]
    with pytest.raises(StoreUnavailable):
        await writer.submit(Batch(refs[0]))


async def test_readers_get_frames_after_the_commit(database: Counting, refs: list[RunRef]) -> None:
    hub = Hub(10)
    writer = Writer(database, hub, lambda: T0)
    running = asyncio.ensure_future(writer.run())
    with hub.reader("local", "t1") as reader:
        await writer.submit(Batch(refs[0], events=["a", "b"], ends=True))
        frames = await reader.take(0)
    assert [(frame.id, frame.run_id, frame.data, frame.last) for frame in frames] == [
        (1, "r1", "a", False),
        (2, "r1", "b", True),
    ]
    writer.close()
    await running
