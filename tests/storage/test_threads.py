"""The list of threads."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from agui_app.errors import BadCursor
from agui_app.storage.database import Database
from agui_app.storage.tables import MESSAGES
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


@pytest.mark.parametrize(
    ("q", "found"), [("ANSWER 1", ["b"]), ("title of a", ["a"]), ("of", ["b", "a"]), ("100%", []), ("", ["b", "a"])]
)
async def test_search_looks_in_titles_and_texts(threads: Threads, seed: Seed, q: str, found: list[str]) -> None:
    await seed("a")
    await seed("b", runs=2, at=T0 + timedelta(hours=1))
    assert [thread["id"] for thread in (await threads.list_threads("local", None, 50, q))["threads"]] == found


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
