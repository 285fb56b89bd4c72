"""Reading and following the log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from sqlalchemy import delete, update

from agui_app.errors import NotFound
from agui_app.storage import events as module
from agui_app.storage.database import Database
from agui_app.storage.events import EventLog, Frame, Resync
from agui_app.storage.hub import Hub
from agui_app.storage.tables import EVENTS, RUNS, THREADS

Reading = AsyncGenerator[Frame | Resync | None, None]


@pytest.fixture
def hub() -> Hub:
    return Hub(limit=10)


@pytest.fixture
def log(database: Database, hub: Hub) -> EventLog:
    return EventLog(database, hub, keepalive_s=60)


def frame(id: int, run: int, thread: str = "t", *, last: bool | None = None) -> Frame:
    """The frame that `seed` stored."""
    place = (id - 1) % 4 + 1
    return Frame(id, f"{thread}-r{run}", f"{thread}-r{run} {place}", place == 4 if last is None else last)


async def take(reading: Reading, count: int) -> list[Frame | Resync | None]:
    return [await anext(reading) for _ in range(count)]


async def rest(reading: Reading) -> list[Frame | Resync | None]:
    return [one async for one in reading]


async def test_a_reader_resumes_after_any_id_and_goes_on_live(database, seed, log: EventLog, hub: Hub) -> None:
    await seed("t", runs=2)
    for after in range(9):
        async with aclosing(log.follow("local", "t", after=after)) as reading:
            logged = await take(reading, 8 - after)
            assert logged == [frame(id, (id - 1) // 4) for id in range(after + 1, 9)]
            waiting = asyncio.ensure_future(anext(reading))
            while not len(hub):
                await asyncio.sleep(0)
            live = Frame(9, "t-r2", "live")
            hub.publish("local", "t", [live])
            assert await waiting == live
    assert len(hub) == 0


async def test_the_log_is_read_in_pieces(seed, log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 3)
    await seed("t", runs=3)
    async with aclosing(log.follow("local", "t", after=0)) as reading:
        assert await take(reading, 12) == [frame(id, (id - 1) // 4) for id in range(1, 13)]


async def test_without_an_id_the_active_run_is_read_from_its_start(seed, log: EventLog) -> None:
    await seed("t", runs=2, active=True)
    async with aclosing(log.follow("local", "t", after=None)) as reading:
        assert await take(reading, 4) == [frame(id, 1, last=False) for id in (5, 6, 7, 8)]


async def test_without_an_id_and_an_active_run_only_what_comes_is_read(seed, log: EventLog, hub: Hub) -> None:
    await seed("t")
    async with aclosing(log.follow("local", "t", after=None)) as reading:
        waiting = asyncio.ensure_future(anext(reading))
        while not len(hub):
            await asyncio.sleep(0)
        hub.publish("local", "t", [Frame(5, "t-r1", "new")])
        assert await waiting == Frame(5, "t-r1", "new")


async def test_what_is_published_while_the_log_is_read_comes_once(seed, log: EventLog, hub: Hub) -> None:
    await seed("t", runs=2)
    async with aclosing(log.follow("local", "t", after=0)) as reading:
        first = await anext(reading)
        hub.publish("local", "t", [frame(7, 1), frame(8, 1)])
        hub.publish("local", "t", [Frame(9, "t-r2", "new")])
        assert [first, *await take(reading, 8)] == [
            *(frame(id, (id - 1) // 4) for id in range(1, 9)),
            Frame(9, "t-r2", "new"),
        ]


@pytest.mark.parametrize("after", [-1, 5, 99])
async def test_an_id_that_the_log_does_not_have_is_a_resync(seed, log: EventLog, hub: Hub, after: int) -> None:
    await seed("t")
    async with aclosing(log.follow("local", "t", after=after)) as reading:
        assert await anext(reading) == Resync(4)
        hub.publish("local", "t", [Frame(5, "t-r1", "new")])
        assert await anext(reading) == Frame(5, "t-r1", "new")


async def test_a_purged_id_is_a_resync_and_the_newest_never_is(database: Database, seed, log: EventLog) -> None:
    await seed("t", runs=2)
    async with database.write() as session:
        await session.execute(delete(EVENTS).where(EVENTS.c.id <= 4))
    async with aclosing(log.follow("local", "t", after=3)) as reading:
        assert await anext(reading) == Resync(8)
    async with aclosing(log.follow("local", "t", after=4)) as reading:
        assert await anext(reading) == frame(5, 1)


async def test_silence_is_none(seed, database: Database, hub: Hub) -> None:
    await seed("t")
    log = EventLog(database, hub, keepalive_s=0.001)
    async with aclosing(log.follow("local", "t", after=4)) as reading:
        assert await take(reading, 2) == [None, None]


async def test_one_run_is_read_from_its_first_event_to_its_last(seed, log: EventLog) -> None:
    await seed("t", runs=3)
    assert await rest(log.follow("local", "t", after=None, run_id="t-r1")) == [frame(id, 1) for id in (5, 6, 7, 8)]
    assert await rest(log.follow("local", "t", after=6, run_id="t-r1")) == [frame(7, 1), frame(8, 1)]
    assert await rest(log.follow("local", "t", after=0, run_id="t-r1")) == [frame(id, 1) for id in (5, 6, 7, 8)]
    assert await rest(log.follow("local", "t", after=8, run_id="t-r1")) == []


async def test_an_id_beyond_the_run_is_a_resync_and_the_end(seed, log: EventLog) -> None:
    await seed("t", runs=2)
    assert await rest(log.follow("local", "t", after=7, run_id="t-r0")) == [Resync(8)]


async def test_a_purged_run_is_a_resync_and_the_end(database: Database, seed, log: EventLog) -> None:
    await seed("t", runs=2)
    async with database.write() as session:
        await session.execute(delete(EVENTS).where(EVENTS.c.id <= 4))
    assert await rest(log.follow("local", "t", after=None, run_id="t-r0")) == [Resync(8)]


async def test_an_active_run_is_read_until_its_terminal_event(seed, log: EventLog, hub: Hub) -> None:
    await seed("t", runs=1, active=True)
    reading = log.follow("local", "t", after=2, run_id="t-r0")
    assert await take(reading, 2) == [frame(3, 0, last=False), frame(4, 0, last=False)]
    end = Frame(5, "t-r0", "end", last=True)
    hub.publish("local", "t", [end, Frame(6, "t-r1", "the next run")])
    assert await rest(reading) == [end]
    assert len(hub) == 0


async def test_a_reader_too_far_behind_is_cut_off_and_others_are_not(seed, log: EventLog, hub: Hub) -> None:
    await seed("t")
    slow, quick = (log.follow("local", "t", after=3) for _ in range(2))
    assert [await anext(slow), await anext(quick)] == [frame(4, 0)] * 2
    news = [Frame(id, "t-r1", "new") for id in range(5, 25)]
    hub.publish("local", "t", news[:10])
    assert await take(quick, 10) == news[:10]
    hub.publish("local", "t", news[10:])
    assert await rest(slow) == []
    assert await take(quick, 10) == news[10:]
    await quick.aclose()
    assert len(hub) == 0


async def test_a_reader_cut_off_while_it_reads_the_log_ends(seed, log: EventLog, hub: Hub, monkeypatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 1)
    await seed("t")
    reading = log.follow("local", "t", after=0)
    assert await anext(reading) == frame(1, 0)
    hub.publish("local", "t", [Frame(id, "t-r1", "new") for id in range(5, 25)])
    assert await rest(reading) == []


async def test_readers_end_with_the_server_after_what_they_were_given(seed, log: EventLog, hub: Hub) -> None:
    await seed("t")
    reading = log.follow("local", "t", after=3)
    assert await anext(reading) == frame(4, 0)
    hub.publish("local", "t", [Frame(5, "t-r1", "last words")])
    hub.close()
    assert await rest(reading) == [Frame(5, "t-r1", "last words")]
    assert await rest(log.follow("local", "t", after=4)) == []


async def test_a_reader_that_leaves_while_it_waits_leaves_nothing_behind(seed, log: EventLog, hub: Hub) -> None:
    await seed("t")
    waiting = asyncio.ensure_future(anext(log.follow("local", "t", after=4)))
    while not len(hub):
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(hub) == 0


@pytest.mark.parametrize(
    ("owner", "thread", "run"),
    [("local", "u", None), ("other", "t", None), ("local", "t", "r9"), ("local", "t", "u-r0")],
)
async def test_what_is_not_there_or_not_ones_own_is_not_found(seed, log, hub, owner, thread, run) -> None:
    await seed("t")
    await seed("mine", owner_id="other")
    with pytest.raises(NotFound):
        await rest(log.follow(owner, thread, after=None, run_id=run))
    assert len(hub) == 0


async def test_frames_go_to_the_readers_of_their_thread_and_owner_alone(seed, log: EventLog, hub: Hub) -> None:
    await seed("t")
    reading = log.follow("local", "t", after=3)
    await anext(reading)
    hub.publish("local", "u", [Frame(5, "u", "another thread")])
    hub.publish("other", "t", [Frame(5, "t", "another owner")])
    hub.publish("local", "t", [Frame(5, "t", "mine")])
    assert await anext(reading) == Frame(5, "t", "mine")
    await reading.aclose()


async def test_a_hole_in_the_log_ends_the_reading(database: Database, seed, log: EventLog) -> None:
    await seed("t")
    async with database.write() as session:
        await session.execute(update(THREADS).values(last_event_id=9))
        await session.execute(update(RUNS).values(last_event_id=9))
    reading = log.follow("local", "t", after=3, run_id="t-r0")
    assert await rest(reading) == [frame(4, 0, last=False)]
