"""The stream of what changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from agui_app.errors import StoreUnavailable
from agui_app.storage import changes as module
from agui_app.storage import patience
from agui_app.storage.change import Change, Changed
from agui_app.storage.changes import Changes
from agui_app.storage.database import Database
from agui_app.storage.deletion import delete_thread
from agui_app.storage.events import Resync
from agui_app.storage.hub import Frame
from agui_app.storage.threads import Threads
from tests.storage.conftest import T0, Seed

FIRST = 1_000


def calendar(id: str) -> Change:
    return Change(Changed.CALENDAR_CHANGED, id)


def told(number: int, id: str) -> tuple[int, dict[str, Any]]:
    return FIRST + number, {"type": "calendar.changed", "event": {"id": id}}


@asynccontextmanager
async def running(database: Database, **changed: Any) -> AsyncIterator[Changes]:
    options = {"first_id": FIRST, "reader_limit": 10, "keepalive_s": 60.0, **changed}
    changes = Changes(database, **options)
    task = asyncio.ensure_future(changes.run())
    try:
        yield changes
    finally:
        task.cancel()
        await asyncio.wait({task})
        assert len(changes) == 0


async def take(frames: AsyncGenerator[Frame | Resync | None, None], count: int) -> list[tuple[int, Any]]:
    """The id and the event of the next frames."""
    found: list[tuple[int, Any]] = []
    async with asyncio.timeout(10):
        while len(found) < count:
            frame = await anext(frames)
            assert frame is not None
            found.append((frame.id, "resync" if isinstance(frame, Resync) else json.loads(frame.data)))
    return found


async def all_of(changes: Changes, *ids: str) -> None:
    """Tells these changes; back when they are handed on."""
    with changes.follow("local", None) as frames:
        for id in ids:
            changes.tell("local", calendar(id))
        async with aclosing(frames):
            await take(frames, len(ids))


async def test_a_thread_comes_with_its_line_and_goes_with_its_id_alone(database: Database, seed: Seed) -> None:
    await seed("t", active=True)
    threads = Threads(database)
    [line] = (await threads.list_threads("local", None, 50))["threads"]
    async with running(database) as changes:
        with changes.follow("local", None) as frames:
            async with aclosing(frames):
                changes.tell("local", Change(Changed.THREAD_CREATED, "t"))
                assert await take(frames, 1) == [(FIRST + 1, {"type": "thread.created", "thread": line})]
                renamed = await threads.rename("local", "t", "another")
                changes.tell("local", Change(Changed.THREAD_UPDATED, "t"))
                changes.tell("local", Change(Changed.CALENDAR_DELETED, "e"))
                assert await take(frames, 2) == [
                    (FIRST + 2, {"type": "thread.updated", "thread": renamed}),
                    (FIRST + 3, {"type": "calendar.deleted", "event": {"id": "e"}}),
                ]
                async with database.write() as session:
                    await delete_thread(session, "local", "t", T0)
                changes.tell("local", Change(Changed.THREAD_UPDATED, "t"))
                changes.tell("local", Change(Changed.THREAD_DELETED, "t"))
                assert await take(frames, 1) == [(FIRST + 4, {"type": "thread.deleted", "thread": {"id": "t"}})]


async def test_an_owner_hears_nothing_of_others(database: Database, seed: Seed) -> None:
    await seed("t", owner_id="other")
    async with running(database) as changes:
        with changes.follow("local", None) as mine, changes.follow("other", None) as theirs:
            async with aclosing(mine), aclosing(theirs):
                changes.tell("other", Change(Changed.THREAD_UPDATED, "t"))
                changes.tell("local", Change(Changed.THREAD_UPDATED, "t"))
                changes.tell("local", calendar("e"))
                assert await take(mine, 1) == [told(2, "e")]
                [(id, event)] = await take(theirs, 1)
                assert (id, event["thread"]["id"]) == (FIRST + 1, "t")
        with changes.follow("local", FIRST) as again:
            async with aclosing(again):
                assert await take(again, 1) == [told(2, "e")]


async def test_a_reader_resumes_after_any_id_and_goes_on_live(database: Database) -> None:
    async with running(database) as changes:
        await all_of(changes, "a", "b", "c")
        for after in range(4):
            with changes.follow("local", FIRST + after) as frames:
                changes.tell("local", calendar(f"live{after}"))
                async with aclosing(frames):
                    found = await take(frames, 4)
            ids = ["a", "b", "c", *(f"live{number}" for number in range(after + 1))]
            assert found == [told(number, ids[number - 1]) for number in range(after + 1, after + 5)]


async def test_what_is_told_between_entering_and_the_first_step_is_not_missed(database: Database) -> None:
    async with running(database) as changes:
        await all_of(changes, "before")
        with changes.follow("local", None) as frames:
            changes.tell("local", calendar("a"))
            await all_of(changes, "b")
            async with aclosing(frames):
                assert await take(frames, 2) == [told(2, "a"), told(3, "b")]


@pytest.mark.parametrize("after", [-1, 0, FIRST - 1, FIRST + 2, 2**62])
async def test_an_id_that_cannot_be_continued_gets_one_resync_and_then_what_comes(
    database: Database, after: int
) -> None:
    async with running(database) as changes:
        await all_of(changes, "a")
        with changes.follow("local", after) as frames:
            changes.tell("local", calendar("b"))
            async with aclosing(frames):
                assert await take(frames, 2) == [(FIRST + 1, "resync"), told(2, "b")]


async def test_a_change_that_is_not_kept_any_more_is_a_gap(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    async with running(database) as changes:
        await all_of(changes, "a", "b", "c", "d")
        for after, first in ((1, (FIRST + 4, "resync")), (2, told(3, "c"))):
            with changes.follow("local", FIRST + after) as frames:
                async with aclosing(frames):
                    assert await take(frames, 1) == [first]


async def test_more_changes_than_can_wait_cut_every_reader_off_who_then_gets_a_resync(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_TOLD", 2)
    async with running(database) as changes:
        await all_of(changes, "a")
        with changes.follow("local", None) as frames:
            for id in ("b", "c", "d"):
                changes.tell("local", calendar(id))
            assert [frame async for frame in frames] == []
        for after in (FIRST, FIRST + 1):
            with changes.follow("local", after) as frames:
                async with aclosing(frames):
                    assert (await take(frames, 1))[0][1] == "resync"
        await all_of(changes, "e")


async def test_a_slow_reader_is_cut_off_and_resumes_and_slows_nobody(database: Database) -> None:
    async with running(database, reader_limit=2) as changes:
        with changes.follow("local", None) as slow:
            for id in ("a", "b", "c"):
                await all_of(changes, id)
            assert [frame async for frame in slow] == []
        with changes.follow("local", FIRST) as again:
            async with aclosing(again):
                assert await take(again, 3) == [told(1, "a"), told(2, "b"), told(3, "c")]


async def test_silence_is_told(database: Database) -> None:
    async with running(database, keepalive_s=0.01) as changes:
        with changes.follow("local", None) as frames:
            async with aclosing(frames):
                assert await anext(frames) is None


async def test_a_reader_in_the_middle_gets_what_it_was_given_before_it_ends(database: Database) -> None:
    async with running(database) as changes:
        with changes.follow("local", None) as frames:
            await all_of(changes, "a", "b")
            first = await take(frames, 1)
            await all_of(changes, "c")
            changes.close()
            rest = [json.loads(frame.data)["event"]["id"] async for frame in frames if isinstance(frame, Frame)]
        assert (first, rest) == ([told(1, "a")], ["b", "c"])


async def test_readers_end_with_the_server_and_new_ones_at_once(database: Database) -> None:
    async with running(database) as changes:
        with changes.follow("local", None) as frames:
            assert len(changes) == 1
            changes.close()
            assert [frame async for frame in frames] == []
        with changes.follow("local", None) as frames:
            assert [frame async for frame in frames] == []


async def test_changes_wait_for_a_database_that_is_away(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed("t")
    read, away = database.read, [True, True]

    def troubled() -> Any:
        if away:
            away.pop()
            raise StoreUnavailable("away")
        return read()

    monkeypatch.setattr(patience, "RETRY_FIRST_S", 0.001)
    async with running(database) as changes:
        with changes.follow("local", None) as frames:
            monkeypatch.setattr(database, "read", troubled)
            changes.tell("local", Change(Changed.THREAD_UPDATED, "t"))
            async with aclosing(frames):
                [(id, event)] = await take(frames, 1)
        assert (id, event["type"], event["thread"]["id"], away) == (FIRST + 1, "thread.updated", "t", [])
