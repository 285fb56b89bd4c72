"""A migrated database in the test's own folder, and threads with messages in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from agui_app.storage.database import Database
from agui_app.storage.migrate import migrate
from agui_app.storage.tables import EVENTS, LOCAL_OWNER, MESSAGES, RUNS, THREADS

T0 = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

Seed = Callable[..., Awaitable[int]]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite+aiosqlite:///{tmp_path / 'test.db'}"
    await migrate(url)
    database = Database(url)
    yield database
    await database.close()


@pytest.fixture
def seed(database: Database) -> Seed:
    """Stores a thread of finished runs, each of a question, an answer and four events; gives the thread's key."""

    async def seed(
        thread_id: str, *, runs: int = 1, active: bool = False, at: datetime = T0, owner_id: str = LOCAL_OWNER
    ) -> int:
        async with database.write() as session:
            thread = await session.execute(
                insert(THREADS)
                .values(
                    owner_id=owner_id,
                    id=thread_id,
                    title=f"title of {thread_id}",
                    created_at=at,
                    updated_at=at,
                    last_event_id=4 * runs,
                    next_position=2 * runs,
                )
                .returning(THREADS.c.pk)
            )
            thread_pk = thread.scalar_one()
            owned = {"owner_id": owner_id, "thread_pk": thread_pk}
            for number in range(runs):
                running = active and number == runs - 1
                run_id = f"{thread_id}-r{number}"
                run = await session.execute(
                    insert(RUNS)
                    .values(
                        **owned,
                        id=run_id,
                        status="running" if running else "finished",
                        position=2 * number,
                        body_hash="",
                        first_event_id=4 * number + 1,
                        last_event_id=None if running else 4 * number + 4,
                        started_at=at + timedelta(seconds=number),
                        finished_at=None if running else at + timedelta(seconds=number, milliseconds=500),
                        locale="en",
                        timezone="UTC",
                    )
                    .returning(RUNS.c.pk)
                )
                run_pk = run.scalar_one()
                for place, role, text in ((0, "user", "question"), (1, "assistant", "answer")):
                    await session.execute(
                        insert(MESSAGES).values(
                            **owned,
                            position=2 * number + place,
                            id=f"{role}{number}",
                            role=role,
                            content=f"{text} {number} of {thread_id}",
                            run_id=run_id,
                            status="complete",
                            created_at=at + timedelta(seconds=number),
                        )
                    )
                await session.execute(
                    insert(EVENTS),
                    [
                        {
                            **owned,
                            "id": 4 * number + place,
                            "run_pk": run_pk,
                            "data": f"{run_id} {place}",
                            "created_at": at,
                        }
                        for place in (1, 2, 3, 4)
                    ],
                )
        return thread_pk

    return seed
