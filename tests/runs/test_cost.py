"""What a run costs does not depend on how long its thread is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, insert

from agui_app.storage.database import Database
from agui_app.storage.tables import MESSAGES, THREADS
from tests.runs.house import T0, House, Open, Scripted, body, call, text, user

LENGTHS = (20, 2_000)


async def seed(house: House, thread: str, count: int) -> None:
    async with house.services.database.write() as session:
        pk = await session.scalar(
            insert(THREADS)
            .values(
                owner_id="local",
                id=thread,
                title="x",
                created_at=T0,
                updated_at=T0,
                last_event_id=0,
                next_position=count,
            )
            .returning(THREADS.c.pk)
        )
        rows = [
            {
                "owner_id": "local",
                "thread_pk": pk,
                "position": number,
                "id": f"s{number}",
                "role": "user" if number % 2 else "assistant",
                "content": f"message {number}",
                "status": "complete",
                "created_at": T0,
            }
            for number in range(count)
        ]
        await session.execute(insert(MESSAGES), rows)


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """What is asked of the database meanwhile."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    engines = [database._reads.sync_engine, database._writes.sync_engine, database._direct]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


async def test_a_run_asks_the_same_of_the_database_in_a_long_thread(open_house: Open) -> None:
    rounds = [script for _ in LENGTHS for script in (call("echo", {"say": "x"}), text("done"))]
    async with open_house(Scripted(*rounds), flush_interval_s=60) as house:
        asked: dict[int, set[str]] = {}
        for length in LENGTHS:
            await seed(house, f"t{length}", length)
            with statements(house.services.database) as seen:
                await house.play(body(user(), thread=f"t{length}", run=f"r{length}"))
            own = Counter(statement for statement in seen if "_payloads" not in statement)  # those are polled
            commits = sum(count for statement, count in own.items() if statement.startswith("INSERT INTO events"))
            # how a run falls into commits is a matter of time; what each of them asks is not
            assert max(own.values()) <= 2 * commits
            asked[length] = set(own)
        assert asked[20] == asked[2_000]


async def test_a_page_asks_the_same_of_the_database_in_a_long_thread(open_house: Open) -> None:
    async with open_house() as house:
        counts = {}
        for length in LENGTHS:
            await seed(house, f"t{length}", length)
            with statements(house.services.database) as seen:
                page = await house.page(f"t{length}", limit=10)
                await house.page(f"t{length}", before=page["nextCursor"], limit=10)
            counts[length] = len(seen)
        assert counts[20] == counts[2_000] <= 10


async def test_the_order_of_a_page_comes_from_an_index(open_house: Open) -> None:
    async with open_house() as house:
        await seed(house, "t", 20)
        with statements(house.services.database) as seen:
            page = await house.page(limit=5)
            await house.page(before=page["nextCursor"], limit=5)
        asked = [statement for statement in seen if "FROM messages" in statement]
        async with house.services.database.read() as session:
            for statement in asked:
                connection = await session.connection()
                plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", _any(statement))).all()
                steps = [row[-1] for row in plan]
                assert all("SEARCH messages USING INDEX" in step for step in steps), steps


def _any(statement: str) -> tuple[int, ...]:
    return (1,) * statement.count("?")


async def test_three_hundred_messages_in_pages_of_fifty_come_once_each(open_house: Open) -> None:
    async with open_house() as house:
        await seed(house, "t", 300)
        page = await house.page()
        pages = [page]
        while page["hasMore"]:
            page = await house.page(before=page["nextCursor"])
            pages.append(page)
        ids = [message["id"] for page in reversed(pages) for message in page["messages"]]
        assert ids == [f"s{number}" for number in range(300)]
        assert len(pages) == 6


@pytest.mark.parametrize("limit", [1, 7, 200])
async def test_paging_back_sees_every_message_once_while_new_ones_come(open_house: Open, limit: int) -> None:
    async with open_house(Scripted(*(text(id=f"m{number}") for number in range(99)))) as house:
        await seed(house, "t", 30)
        page = await house.page(limit=limit)
        ids = [message["id"] for message in page["messages"]]
        for number in range(99):
            if not page["hasMore"]:
                break
            if number < 5:
                await house.play(body(user(id=f"n{number}"), run=f"r{number}"))
            page = await house.page(before=page["nextCursor"], limit=limit)
            ids = [*(message["id"] for message in page["messages"]), *ids]
        assert ids == [f"s{number}" for number in range(30)]
