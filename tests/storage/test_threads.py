"""The list of threads."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, event, update

from agui_app.errors import BadCursor, NotFound
from agui_app.storage.change import Change, Changed
from agui_app.storage.database import Database
from agui_app.storage.tables import MESSAGES, THREADS
from agui_app.storage.threads import Threads
from tests.storage.conftest import T0, Seed


@pytest.fixture
def threads(database: Database) -> Threads:
    return Threads(database)


async def test_threads_come_newest_first_with_their_last_line(threads: Threads, seed: Seed) -> None:
    await seed("old")
    await seed("new", runs=2, active=True, at=T0 + timedelta(hours=1))
    await seed("others", owner_id="other")
    assert await threads.list_threads("local", None, 50) == {
        "threads": [
            {
                "id": "new",
                "title": "title of new",
                "createdAt": "2026-03-02T10:00:00.000Z",
                "updatedAt": "2026-03-02T10:00:00.000Z",
                "lastLine": "answer 1 of new",
                "activeRunId": "new-r1",
            },
            {
                "id": "old",
                "title": "title of old",
                "createdAt": "2026-03-02T09:00:00.000Z",
                "updatedAt": "2026-03-02T09:00:00.000Z",
                "lastLine": "answer 0 of old",
                "activeRunId": None,
            },
        ],
        "hasMore": False,
        "nextCursor": None,
    }


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_pages_give_every_thread_once_also_at_equal_times(threads: Threads, seed: Seed, limit: int) -> None:
    for number in range(5):
        await seed(f"t{number}", at=T0 + timedelta(microseconds=number // 2))
    page = await threads.list_threads("local", None, limit)
    ids = [thread["id"] for thread in page["threads"]]
    while page["hasMore"]:
        page = await threads.list_threads("local", page["nextCursor"], limit)
        ids += [thread["id"] for thread in page["threads"]]
    assert ids == ["t4", "t3", "t2", "t1", "t0"]


async def ids(threads: Threads, q: str | None = None, before: str | None = None, limit: int = 50) -> list[str]:
    return [thread["id"] for thread in (await threads.list_threads("local", before, limit, q))["threads"]]


async def say(database: Database, message_id: str, **columns: Any) -> None:
    async with database.write() as session:
        await session.execute(update(MESSAGES).where(MESSAGES.c.id == message_id).values(**columns))


async def touch(database: Database, thread_id: str, at: datetime) -> None:
    """A run starts or ends in the thread."""
    async with database.write() as session:
        await session.execute(update(THREADS).where(THREADS.c.id == thread_id).values(updated_at=at))


@pytest.mark.parametrize(
    ("q", "found"), [("ANSWER 1", ["b"]), ("title of a", ["a"]), ("of", ["b", "a"]), ("", ["b", "a"]), ("owl", [])]
)
async def test_search_looks_in_titles_and_texts(threads: Threads, seed: Seed, q: str, found: list[str]) -> None:
    await seed("a")
    await seed("b", runs=2, at=T0 + timedelta(hours=1))
    await seed("owl", owner_id="other")
    assert await ids(threads, q) == found


@pytest.mark.parametrize(
    ("text", "q"),
    [
        ("Übung macht den Meister", "üBUNG"),
        ("übung macht den meister", "ÜBUNG MACHT"),
        ("ПРИВЕТ, мир", "привет, МИР"),
        ("ΑΘΗΝΑ", "αθηνα"),
        ("Ünïcödé", "u\u0308nïcÖdÉ"),
        ("u\u0308bung", "Übung"),
        ("开会 Ä", "会 ä"),
        ("明天下午三点开会", "三点"),
        ("🌍 and Ö", "🌍 AND ö"),
    ],
)
async def test_search_knows_the_case_of_every_alphabet(
    threads: Threads, database: Database, seed: Seed, text: str, q: str
) -> None:
    await seed("a")
    await seed("b")
    await say(database, "assistant0", content="another")
    await threads.rename("local", "a", text)
    assert await ids(threads, q) == ["a"]


@pytest.mark.parametrize("letters", ["", "ü"])
@pytest.mark.parametrize("sign", ["%", "_", "/", "\\", "*", "?", "[", "]", "[a]", "^", "-", "'", '"'])
async def test_search_takes_every_sign_literally(
    threads: Threads, database: Database, seed: Seed, sign: str, letters: str
) -> None:
    await seed("a")
    await seed("b")
    await threads.rename("local", "a", f"x{sign}{letters}x")
    await threads.rename("local", "b", f"xa{letters}x")
    assert await ids(threads, f"X{sign}{letters.upper()}X") == ["a"]


async def test_search_finds_what_tools_gave_and_neither_what_was_replaced_nor_what_is_not_shown(
    threads: Threads, database: Database, seed: Seed
) -> None:
    await seed("a", runs=2)
    await say(database, "assistant0", role="tool", content="Created event: owl watching")
    assert await ids(threads, "OWL") == ["a"]
    for hidden in ({"superseded_by": "r9"}, {"superseded_by": None, "role": "system"}, {"role": "developer"}):
        await say(database, "assistant0", **hidden)
        assert await ids(threads, "owl") == []


@pytest.mark.parametrize("q", [None, "title"])
async def test_a_thread_that_moves_while_somebody_pages_is_missed_by_no_page(
    threads: Threads, database: Database, seed: Seed, q: str | None
) -> None:
    for number in range(6):
        await seed(f"t{number}", at=T0 + timedelta(minutes=number))
    page = await threads.list_threads("local", None, 2, q)
    seen = [[thread["id"] for thread in page["threads"]]]
    moves = iter(["t1", "t5", "t0"])
    while page["hasMore"]:
        hour = T0 + timedelta(hours=len(seen))
        if (moved := next(moves, None)) is not None:
            await touch(database, moved, hour)
            await seed(f"new{len(seen)}", at=hour)
        page = await threads.list_threads("local", page["nextCursor"], 2, q)
        seen.append([thread["id"] for thread in page["threads"]])
    assert seen == [["t5", "t4"], ["t3", "t2"], ["t0"], ["t1", "t5"], ["t0"]]


async def test_pages_end_when_the_threads_that_moved_are_deleted(
    threads: Threads, database: Database, seed: Seed
) -> None:
    for number in range(3):
        await seed(f"t{number}", at=T0 + timedelta(minutes=number))
    first = await threads.list_threads("local", None, 1)
    await touch(database, "t0", T0 + timedelta(hours=1))
    second = await threads.list_threads("local", first["nextCursor"], 1)
    async with database.write() as session:
        await session.execute(delete(THREADS).where(THREADS.c.id == "t0"))
    third = await threads.list_threads("local", second["nextCursor"], 1)
    assert [third["threads"], third["hasMore"], third["nextCursor"]] == [[], False, None]


async def test_a_new_title_leaves_the_place_in_the_list_and_everything_else(threads: Threads, seed: Seed) -> None:
    await seed("old")
    await seed("new", at=T0 + timedelta(hours=1))
    [new, old] = (await threads.list_threads("local", None, 50))["threads"]
    renamed = {**old, "title": "another"}
    assert await threads.rename("local", "old", "another") == renamed
    assert (await threads.list_threads("local", None, 50))["threads"] == [new, renamed]


async def test_a_new_title_is_told(database: Database, seed: Seed) -> None:
    told: list[tuple[str, Change]] = []
    threads = Threads(database, lambda owner_id, change: told.append((owner_id, change)))
    await seed("t", owner_id="other")
    with pytest.raises(NotFound):
        await threads.rename("local", "t", "x")
    assert told == []
    await threads.rename("other", "t", "x")
    assert told == [("other", Change(Changed.THREAD_UPDATED, "t"))]


@pytest.mark.parametrize("before", [None, "first page's"])
async def test_a_page_of_the_list_is_one_query_by_an_index_however_many_threads_there_are(
    threads: Threads, database: Database, seed: Seed, before: str | None
) -> None:
    for number in range(3):
        await seed(f"t{number}", runs=2)
    cursor = None if before is None else (await threads.list_threads("local", None, 1))["nextCursor"]
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        asked.append((statement, parameters))

    engine = database._reads.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    assert len(await ids(threads, before=cursor, limit=1)) == 1
    event.remove(engine, "before_cursor_execute", note)
    [(statement, parameters)] = [one for one in asked if one[0].startswith("SELECT")]
    async with database.read() as session:
        connection = await session.connection()
        plan = await connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement, tuple(parameters))
        steps = [row[3] for row in plan]
    assert not [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step], steps
    assert [step for step in steps if "ix_threads_owner_updated" in step], steps


async def test_the_last_line_is_one_line_of_what_still_stands(threads: Threads, database: Database, seed: Seed) -> None:
    await seed("t", runs=2)
    async with database.write() as session:
        await session.execute(
            update(MESSAGES).where(MESSAGES.c.id == "user1").values(content="two\n  lines " + "x" * 300)
        )
        await session.execute(update(MESSAGES).where(MESSAGES.c.id == "assistant1").values(superseded_by="r9"))
    [thread] = (await threads.list_threads("local", None, 50))["threads"]
    assert thread["lastLine"] == "two lines " + "x" * 188


@pytest.mark.parametrize("cursor", ["nonsense", ""])
async def test_a_cursor_of_another_list_is_bad(threads: Threads, cursor: str) -> None:
    with pytest.raises(BadCursor):
        await threads.list_threads("local", cursor, 50)
