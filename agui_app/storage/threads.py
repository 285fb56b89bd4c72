"""The list of threads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.errors import NotFound
from agui_app.storage.cursors import read_cursor, write_cursor
from agui_app.storage.database import Database
from agui_app.storage.messages import moment_text
from agui_app.storage.tables import MESSAGES, RUNS, THREADS

LINE_LENGTH = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Threads:
    """Reads lists of threads."""

    def __init__(self, database: Database):
        self._database = database

    async def list_threads(self, owner_id: str, before: str | None, limit: int, q: str | None = None) -> dict[str, Any]:
        """`{threads: [{id, title, createdAt, updatedAt, lastLine, activeRunId}], hasMore, nextCursor}`, newest first.

        `q`: only threads with this text in their title or a message.

        Raises: BadCursor, StoreUnavailable.
        """
        query = _threads().where(THREADS.c.owner_id == owner_id).limit(limit + 1)
        if before is not None:
            cursor = read_cursor(before, updated=int, thread=int)
            updated_at = _EPOCH + min(cursor["updated"], 2**56) * _MICROSECOND
            query = query.where(
                or_(
                    THREADS.c.updated_at < updated_at,
                    (THREADS.c.updated_at == updated_at) & (THREADS.c.pk < cursor["thread"]),
                )
            )
        if q:
            query = query.where(_holds(q))
        async with self._database.read() as session:
            rows = (await session.execute(query)).mappings().all()
        shown = rows[:limit]
        has_more = len(rows) > limit
        return {
            "threads": [_thread(row) for row in shown],
            "hasMore": has_more,
            "nextCursor": _cursor(shown[-1]) if has_more else None,
        }


async def find_thread(session: AsyncSession, owner_id: str, thread_id: str) -> RowMapping:
    """The row of a thread. Raises NotFound."""
    found = await session.execute(select(THREADS).where(THREADS.c.owner_id == owner_id, THREADS.c.id == thread_id))
    row = found.mappings().one_or_none()
    if row is None:
        raise NotFound(f"There is no thread {thread_id!r}")
    return row


def _threads():
    last_line = (
        select(func.substr(MESSAGES.c.content, 1, LINE_LENGTH))
        .where(
            MESSAGES.c.thread_pk == THREADS.c.pk,
            MESSAGES.c.content != "",
            MESSAGES.c.role.in_(("user", "assistant")),
            MESSAGES.c.superseded_by.is_(None),
        )
        .order_by(MESSAGES.c.position.desc())
        .limit(1)
        .scalar_subquery()
    )
    active = select(RUNS.c.id).where(RUNS.c.thread_pk == THREADS.c.pk, RUNS.c.status == "running").scalar_subquery()
    return select(THREADS, last_line.label("last_line"), active.label("active_run_id")).order_by(
        THREADS.c.updated_at.desc(), THREADS.c.pk.desc()
    )


def _holds(q: str):
    return or_(
        THREADS.c.title.icontains(q, autoescape=True),
        select(MESSAGES.c.pk)
        .where(
            MESSAGES.c.thread_pk == THREADS.c.pk,
            MESSAGES.c.superseded_by.is_(None),
            MESSAGES.c.content.icontains(q, autoescape=True),
        )
        .exists(),
    )


def _thread(row: RowMapping) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": row["title"],
        "createdAt": moment_text(row["created_at"]),
        "updatedAt": moment_text(row["updated_at"]),
        "lastLine": " ".join((row["last_line"] or "").split()),
        "activeRunId": row["active_run_id"],
    }


def _cursor(row: RowMapping) -> str:
    return write_cursor(updated=(row["updated_at"] - _EPOCH) // _MICROSECOND, thread=row["pk"])
