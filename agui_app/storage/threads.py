"""The list of threads, their search and their titles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.model import Role
from agui_app.errors import NotFound
from agui_app.storage.change import Change, Changed, Tell, tell_nobody
from agui_app.storage.cursors import read_cursor, write_cursor
from agui_app.storage.database import Database
from agui_app.storage.messages import moment_text
from agui_app.storage.search import holds
from agui_app.storage.tables import MESSAGES, RUNS, THREADS

LINE_LENGTH = 200
_UNSHOWN = (Role.SYSTEM.value, Role.DEVELOPER.value)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST_MICROSECOND = 2**56  # a cursor is its sender's: what is beyond the calendar must not be computed


class Threads:
    """Lists and renames threads."""

    def __init__(self, database: Database, tell: Tell = tell_nobody):
        self._database = database
        self._tell = tell

    async def list_threads(self, owner_id: str, before: str | None, limit: int, q: str | None = None) -> dict[str, Any]:
        """`{threads: [{id, title, createdAt, updatedAt, lastLine, activeRunId}], hasMore, nextCursor}`, newest first.

        Threads that move to the top while somebody pages come again after the oldest, so that none is missed; one
        that was seen before it moved is seen twice. `q`: only threads with this text in their title or a message.

        Raises: BadCursor, StoreUnavailable.
        """
        place = None if before is None else _Place.read(before)
        async with self._database.read() as session:
            query = _lines().where(THREADS.c.owner_id == owner_id)
            if q:
                query = query.where(_mentions(q, session.get_bind().dialect.name))
            rows = (await session.execute(_page(query, place).limit(limit + 1))).mappings().all()
            shown, more = rows[:limit], len(rows) > limit
            next_place = _after(shown, place) if more else await _moved(session, query, place)
        return {
            "threads": [_line(row) for row in shown],
            "hasMore": next_place is not None,
            "nextCursor": next_place and next_place.written(),
        }

    async def rename(self, owner_id: str, thread_id: str, title: str) -> dict[str, Any]:
        """The thread's line under its new title; it keeps its place in the list.

        Raises: NotFound, StoreUnavailable.
        """
        async with self._database.write() as session:
            thread = await find_thread(session, owner_id, thread_id)
            await session.execute(update(THREADS).where(THREADS.c.pk == thread["pk"]).values(title=title))
            lines = await read_lines(session, owner_id, [thread_id])
        self._tell(owner_id, Change(Changed.THREAD_UPDATED, thread_id))
        return lines[thread_id]


async def find_thread(session: AsyncSession, owner_id: str, thread_id: str) -> RowMapping:
    """The row of a thread. Raises NotFound."""
    found = await session.execute(select(THREADS).where(THREADS.c.owner_id == owner_id, THREADS.c.id == thread_id))
    row = found.mappings().one_or_none()
    if row is None:
        raise NotFound(f"There is no thread {thread_id!r}")
    return row


async def read_lines(session: AsyncSession, owner_id: str, thread_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Thread id -> its line as in the list, of those that there are."""
    rows = await session.execute(_lines().where(THREADS.c.owner_id == owner_id, THREADS.c.id.in_(thread_ids)))
    return {row["id"]: _line(row) for row in rows.mappings()}


_Key = tuple[int, int]
"""Microseconds since 1970 of the last change, and the thread's key: a strict order."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page ends."""

    at: _Key
    top: _Key
    """The newest thread when the first page was read."""
    rising: bool = False
    """Past the oldest thread: what moved above `top` since then follows, the lowest first, which nothing can pass."""

    @classmethod
    def read(cls, cursor: str) -> _Place:
        fields = read_cursor(cursor, updated=int, thread=int, topUpdated=int, topThread=int, rising=int)
        keys = (fields["updated"], fields["thread"]), (fields["topUpdated"], fields["topThread"])
        return cls(*keys, rising=fields["rising"] > 0)

    def written(self) -> str:
        (updated, thread), (top_updated, top_thread) = self.at, self.top
        rising = int(self.rising)
        return write_cursor(updated=updated, thread=thread, topUpdated=top_updated, topThread=top_thread, rising=rising)


def _page(query: Select[Any], place: _Place | None) -> Select[Any]:
    if place is not None and place.rising:
        there_before = THREADS.c.created_at <= _moment(place.top)
        return query.where(_after_key(place.at), there_before).order_by(THREADS.c.updated_at, THREADS.c.pk)
    if place is not None:
        query = query.where(_before_key(place.at))
    return query.order_by(THREADS.c.updated_at.desc(), THREADS.c.pk.desc())


def _after(shown: Sequence[RowMapping], place: _Place | None) -> _Place:
    last = _key(shown[-1])
    return _Place(last, _key(shown[0])) if place is None else replace(place, at=last)


async def _moved(session: AsyncSession, query: Select[Any], place: _Place | None) -> _Place | None:
    """Where the threads begin that moved while somebody paged down to the oldest; None when there are none."""
    if place is None or place.rising:
        return None
    above = _Place(place.top, place.top, rising=True)
    return above if (await session.execute(_page(query, above).limit(1))).first() is not None else None


def _before_key(key: _Key) -> ColumnElement[bool]:
    updated_at = _moment(key)
    return or_(THREADS.c.updated_at < updated_at, (THREADS.c.updated_at == updated_at) & (THREADS.c.pk < key[1]))


def _after_key(key: _Key) -> ColumnElement[bool]:
    updated_at = _moment(key)
    return or_(THREADS.c.updated_at > updated_at, (THREADS.c.updated_at == updated_at) & (THREADS.c.pk > key[1]))


def _key(row: RowMapping) -> _Key:
    return (row["updated_at"] - _EPOCH) // _MICROSECOND, row["pk"]


def _moment(key: _Key) -> datetime:
    return _EPOCH + min(key[0], _LAST_MICROSECOND) * _MICROSECOND


def _lines() -> Select[Any]:
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
    return select(THREADS, last_line.label("last_line"), active.label("active_run_id"))


def _mentions(q: str, dialect: str) -> ColumnElement[bool]:
    in_a_message = (
        select(MESSAGES.c.pk)
        .where(
            MESSAGES.c.thread_pk == THREADS.c.pk,
            MESSAGES.c.superseded_by.is_(None),
            MESSAGES.c.role.not_in(_UNSHOWN),
            holds(MESSAGES.c.content, q, dialect),
        )
        .exists()
    )
    return or_(holds(THREADS.c.title, q, dialect), in_a_message)


def _line(row: RowMapping) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": row["title"],
        "createdAt": moment_text(row["created_at"]),
        "updatedAt": moment_text(row["updated_at"]),
        "lastLine": " ".join((row["last_line"] or "").split()),
        "activeRunId": row["active_run_id"],
    }
