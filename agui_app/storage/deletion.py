"""Takes a thread away with everything that belongs to it."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, insert, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.model import Role
from agui_app.storage.tables import (
    DELETED_THREADS,
    DISCARDED_PAYLOADS,
    MESSAGES,
    PENDING_PAYLOADS,
    THREADS,
    UtcDateTime,
)
from agui_app.storage.threads import find_thread

LATE_PUT = timedelta(seconds=60)  # a write that was given up may still arrive within that time


async def delete_thread(session: AsyncSession, owner_id: str, thread_id: str, now: datetime) -> None:
    """The thread's rows are gone with the transaction; its payload objects are noted, to be deleted after it.

    Messages, runs, events and pending payloads go with the thread's row; calendar events stay.

    Raises: NotFound.
    """
    thread = await find_thread(session, owner_id, thread_id)
    path = MESSAGES.c.metadata["storage_path"].as_string()
    of_messages = select(path).where(
        MESSAGES.c.thread_pk == thread["pk"], MESSAGES.c.role == Role.TOOL.value, path.is_not(None)
    )
    of_pending = select(PENDING_PAYLOADS.c.path).where(PENDING_PAYLOADS.c.thread_pk == thread["pk"])
    # A pending payload may be on its way to the store at this moment: it is looked for a second time.
    for paths, at in ((of_messages, now), (of_pending, now), (of_pending, now + LATE_PUT)):
        found = paths.add_columns(literal(owner_id), literal(0), literal(at, UtcDateTime()))
        columns = ["path", "owner_id", "attempts", "next_attempt_at"]
        await session.execute(insert(DISCARDED_PAYLOADS).from_select(columns, found))
    await session.execute(delete(THREADS).where(THREADS.c.pk == thread["pk"]))
    left = {"owner_id": owner_id, "id": thread_id, "last_event_id": thread["last_event_id"]}
    await session.execute(insert(DELETED_THREADS).values(**left))


async def position_after_deletion(session: AsyncSession, owner_id: str, thread_id: str) -> int:
    """The position that a new thread of that id begins at: 0, or after the ids of the deleted one.

    One id is left out, so that a reader of the deleted thread that had all of it is not taken for one of the new.
    """
    mine = (DELETED_THREADS.c.owner_id == owner_id) & (DELETED_THREADS.c.id == thread_id)
    taken = await session.execute(delete(DELETED_THREADS).where(mine).returning(DELETED_THREADS.c.last_event_id))
    last_event_id = taken.scalar_one_or_none()
    return 0 if last_event_id is None else last_event_id + 1
