"""Pages of a thread's transcript, as contract section 4 writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import RowMapping, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.history import page_message, page_run
from agui_app.conversation.model import Conversation, Message, Role
from agui_app.conversation.reducer import fold
from agui_app.errors import BadCursor
from agui_app.protocol.events import parse_event
from agui_app.storage.cursors import read_cursor, write_cursor
from agui_app.storage.database import Database
from agui_app.storage.events import read_run_events
from agui_app.storage.messages import payload_path, read_message, read_run
from agui_app.storage.objects import ObjectStore
from agui_app.storage.payloads import read_payloads
from agui_app.storage.tables import MESSAGES, RUNS, THREADS
from agui_app.storage.threads import find_thread

EMPTY: dict[str, Any] = {
    "threadId": None,
    "messages": [],
    "runs": [],
    "hasMore": False,
    "nextCursor": None,
    "lastEventId": None,
    "activeRunId": None,
}


@dataclass(frozen=True, slots=True)
class _Page:
    """What one read transaction saw."""

    thread: RowMapping
    messages: Sequence[RowMapping]
    """Oldest first."""
    has_more: bool
    runs: Sequence[RowMapping]
    active: RowMapping | None
    said: Conversation
    """The fold of the active run, from its first event to the newest."""


class History:
    """Reads pages."""

    def __init__(self, database: Database, objects: ObjectStore):
        self._database = database
        self._objects = objects

    async def page(self, owner_id: str, thread_id: str | None, before: str | None, limit: int) -> dict[str, Any]:
        """`{threadId, messages, runs, hasMore, nextCursor, lastEventId?, activeRunId}`, oldest first.

        `thread_id` None: the thread of the cursor, else the newest thread, else an empty page (`threadId` null).
        Pages with `before` have no `lastEventId`.

        Raises: NotFound, BadCursor, StoreUnavailable.
        """
        cursor = None if before is None else read_cursor(before, thread=str, position=int)
        if cursor is not None and thread_id not in (None, cursor["thread"]):
            raise BadCursor(f"The cursor {before!r} is of another thread; send `nextCursor` of a page of this one")
        async with self._database.read() as session:
            thread = await _find_thread(session, owner_id, cursor["thread"] if cursor else thread_id)
            if thread is None:
                return EMPTY
            page = await _read_page(session, thread, None if cursor is None else cursor["position"], limit)
        return {
            "threadId": thread["id"],
            "messages": [page_message(message) for message in await self._messages(page)],
            "runs": [page_run(run) for run in _runs(page)],
            "hasMore": page.has_more,
            "nextCursor": _next_cursor(page),
            **({} if cursor else {"lastEventId": str(thread["last_event_id"])}),
            "activeRunId": None if page.active is None else page.active["id"],
        }

    async def _messages(self, page: _Page) -> list[Message]:
        """The messages of the page: those of the active run from its log, the others from their rows and payloads."""
        said = {message.id: message for message in page.said.messages}
        places = {row["id"]: payload_path(row) or "" for row in page.messages}
        payloads = await read_payloads(self._objects, [path for id, path in places.items() if path and id not in said])
        return [
            _shown(said.get(row["id"]) or read_message(row, payloads.get(places[row["id"]])), row)
            for row in page.messages
        ]


def _shown(message: Message, row: RowMapping) -> Message:
    """The message with where its payload lies, which a page says of tool messages."""
    return replace(message, metadata=row["metadata"]) if message.role is Role.TOOL else message


def _runs(page: _Page) -> list[Any]:
    said = {run.run_id: run for run in page.said.runs}
    return [said.get(row["id"]) or read_run(row) for row in page.runs]


def _next_cursor(page: _Page) -> str | None:
    return write_cursor(thread=page.thread["id"], position=page.messages[0]["position"]) if page.has_more else None


async def _find_thread(session: AsyncSession, owner_id: str, thread_id: str | None) -> RowMapping | None:
    """The thread of that id, or the newest; None when there is none at all. Raises NotFound."""
    if thread_id is not None:
        return await find_thread(session, owner_id, thread_id)
    newest = (
        select(THREADS)
        .where(THREADS.c.owner_id == owner_id)
        .order_by(THREADS.c.updated_at.desc(), THREADS.c.pk.desc())
        .limit(1)
    )
    return (await session.execute(newest)).mappings().one_or_none()


async def _read_page(session: AsyncSession, thread: RowMapping, before: int | None, limit: int) -> _Page:
    query = select(MESSAGES).where(MESSAGES.c.thread_pk == thread["pk"], MESSAGES.c.superseded_by.is_(None))
    if before is not None:
        query = query.where(MESSAGES.c.position < before)
    found = await session.execute(query.order_by(MESSAGES.c.position.desc()).limit(limit + 1))
    newest_first = found.mappings().all()
    messages = newest_first[limit - 1 :: -1] if len(newest_first) > limit else newest_first[::-1]
    has_more = len(newest_first) > limit
    active = await _active_run(session, thread["pk"])
    runs = await _read_runs(session, thread["pk"], messages, from_start=not has_more, before=before)
    said = Conversation() if active is None else await _said(session, thread, active)
    return _Page(thread, messages, has_more, runs, active, said)


async def _active_run(session: AsyncSession, thread_pk: int) -> RowMapping | None:
    query = select(RUNS).where(RUNS.c.thread_pk == thread_pk, RUNS.c.status == "running")
    return (await session.execute(query)).mappings().one_or_none()


async def _read_runs(
    session: AsyncSession, thread_pk: int, messages: Sequence[RowMapping], *, from_start: bool, before: int | None
) -> Sequence[RowMapping]:
    """The runs of the messages, and those that said nothing and stand between them, unless they were replaced."""
    first = 0 if from_start or not messages else messages[0]["position"]
    between = (RUNS.c.position >= first) & RUNS.c.superseded_by.is_(None)
    if before is not None:
        between &= RUNS.c.position < before
    touching = {row["run_id"] for row in messages if row["run_id"] is not None}
    query = select(RUNS).where(RUNS.c.thread_pk == thread_pk, or_(RUNS.c.id.in_(touching), between))
    return (await session.execute(query.order_by(RUNS.c.pk))).mappings().all()


async def _said(session: AsyncSession, thread: RowMapping, active: RowMapping) -> Conversation:
    lines = await read_run_events(
        session, thread["pk"], active["pk"], active["first_event_id"], thread["last_event_id"]
    )
    return fold(Conversation(), (parse_event(line) for line in lines))
