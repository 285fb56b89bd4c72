"""Takes a run in: one transaction that stores what the reader said and makes the run."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.model import Conversation, Message, Role
from agui_app.conversation.reducer import reduce
from agui_app.errors import RunActive, RunConflict
from agui_app.protocol.events import OURS, Event, dump_event, read_event, stamp
from agui_app.protocol.ids import new_id
from agui_app.runs.batch import Batch, RunRef, store_batch
from agui_app.runs.recorder import find_run, pending_columns
from agui_app.runs.replace import Cut, Place, find_cut, retitled, supersede
from agui_app.runs.requests import RunRequest, title_of
from agui_app.runs.rows import RowChanges, RunRows
from agui_app.storage.deletion import position_after_deletion
from agui_app.storage.hub import Frame
from agui_app.storage.messages import message_columns, moment_ms, run_columns, tool_metadata
from agui_app.storage.payloads import new_path, tool_payload
from agui_app.storage.tables import MESSAGES, RUNS, THREADS


@dataclass(frozen=True, slots=True)
class StartedRun:
    thread_id: str
    run_id: str
    status: str
    """A RunStatus; `running` unless the same request came again after the run's end."""
    last_event_id: int
    """The position just before the run."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A run that is stored and has to be carried out."""

    started: StartedRun
    ref: RunRef
    request: RunRequest
    started_at: datetime
    conversation: Conversation
    """The fold of its first event."""
    rows: RunRows
    frames: Sequence[Frame]
    """Its first event, to be shown after the commit."""
    new_thread: bool
    """The thread began with it."""


async def accept(session: AsyncSession, owner_id: str, request: RunRequest, now: datetime) -> StartedRun | Accepted:
    """The run that `request` makes, or the one that the same request made before.

    Raises: RunConflict, RunActive. InvalidRequest: it cannot replace what it says.
    """
    known = await _known_run(session, owner_id, request)
    if known is not None:
        return known
    thread, is_new = await _thread(session, owner_id, request, now)
    await _refuse_second_run(session, thread)
    run_id = request.run_id or new_id("run")
    known = await _known_messages(session, thread["pk"], request)
    cut = await find_cut(session, thread["pk"], request, known)
    event = stamp(read_event(_run_started(thread["id"], run_id, _new_messages(request, known), cut)), moment_ms(now))
    conversation = reduce(Conversation(), event)
    title = thread["title"] or title_of(conversation.messages)
    if cut is not None:
        title = await retitled(session, thread, cut, conversation)
        await supersede(session, thread["pk"], cut, run_id)
    ref = RunRef(owner_id, thread["id"], run_id, thread["pk"], await _insert_run(session, thread, run_id, request, now))
    rows = RunRows(thread["next_position"])
    changes = rows.changes(conversation.messages)
    batch = _first_batch(ref, title, event, conversation, changes, now)
    frames = await (await session.connection()).run_sync(store_batch, batch, now)
    rows.accept(changes)
    started = StartedRun(thread["id"], run_id, "running", thread["last_event_id"])
    return Accepted(started, ref, request, now, conversation, rows, frames, is_new)


async def _known_run(session: AsyncSession, owner_id: str, request: RunRequest) -> StartedRun | None:
    if request.run_id is None:
        return None
    found = await session.execute(
        select(RUNS, THREADS.c.id.label("thread_id"))
        .join(THREADS, THREADS.c.pk == RUNS.c.thread_pk)
        .where(RUNS.c.owner_id == owner_id, RUNS.c.id == request.run_id)
    )
    run = found.mappings().one_or_none()
    if run is None:
        return None
    if run["body_hash"] != request.body_hash:
        raise RunConflict(f"The run id {request.run_id!r} was used with another body; send a new one")
    return StartedRun(run["thread_id"], run["id"], run["status"], run["first_event_id"] - 1)


async def _thread(session: AsyncSession, owner_id: str, request: RunRequest, now: datetime) -> tuple[RowMapping, bool]:
    """The thread of the request, and whether it is made with it."""
    thread_id = request.thread_id or new_id("thread")
    mine = select(THREADS).where(THREADS.c.owner_id == owner_id, THREADS.c.id == thread_id)
    row = (await session.execute(mine)).mappings().one_or_none()
    if row is not None:
        return row, False
    position = await position_after_deletion(session, owner_id, thread_id)
    columns = {"owner_id": owner_id, "id": thread_id, "title": "", "created_at": now, "updated_at": now}
    await session.execute(insert(THREADS).values(**columns, last_event_id=position, next_position=0))
    return (await session.execute(mine)).mappings().one(), True


async def _refuse_second_run(session: AsyncSession, thread: RowMapping) -> None:
    active = await session.execute(
        select(RUNS.c.id).where(RUNS.c.thread_pk == thread["pk"], RUNS.c.status == "running")
    )
    run_id = active.scalar_one_or_none()
    if run_id is not None:
        raise RunActive(
            f"The run {run_id!r} is active in this thread; wait for its end or cancel it",
            extra={"activeRunId": run_id},
        )


async def _known_messages(session: AsyncSession, thread_pk: int, request: RunRequest) -> dict[str, Place]:
    """The messages of the request that the thread has, those too that were replaced since: by id."""
    named = {message["id"] for message in request.messages if message.get("id")}
    found = await session.execute(
        select(MESSAGES.c.id, MESSAGES.c.position, MESSAGES.c.superseded_by.is_not(None)).where(
            MESSAGES.c.thread_pk == thread_pk, MESSAGES.c.id.in_(named)
        )
    )
    return {id: Place(position, superseded) for id, position, superseded in found}


def _new_messages(request: RunRequest, known: Container[str]) -> list[dict[str, Any]]:
    """The messages whose id the thread does not have; one that comes without gets one."""
    named = {message.get("id") or new_id("msg"): message for message in reversed(request.messages)}
    return [{**message, "id": id} for id, message in reversed(named.items()) if id not in known]


def _run_started(thread_id: str, run_id: str, messages: list[dict[str, Any]], cut: Cut | None) -> dict[str, Any]:
    run = {"threadId": thread_id, "runId": run_id}
    noted = {} if cut is None else {"metadata": {OURS: cut.note}}
    return {"type": "RUN_STARTED", **run, "input": {**run, "messages": messages, "tools": [], "context": []}, **noted}


async def _insert_run(
    session: AsyncSession, thread: RowMapping, run_id: str, request: RunRequest, now: datetime
) -> int:
    inserted = await session.execute(
        insert(RUNS)
        .values(
            owner_id=thread["owner_id"],
            thread_pk=thread["pk"],
            id=run_id,
            status="running",
            position=thread["next_position"],
            body_hash=request.body_hash,
            first_event_id=thread["last_event_id"] + 1,
            heartbeat_at=now,
            started_at=now,
            locale=request.locale,
            timezone=request.timezone,
        )
        .returning(RUNS.c.pk)
    )
    return inserted.scalar_one()


def _first_batch(
    ref: RunRef, title: str, event: Event, conversation: Conversation, changes: RowChanges, now: datetime
) -> Batch:
    run = find_run(conversation, ref.run_id)
    # The object store is not waited for inside a transaction: results that come in with a request wait their turn.
    waiting = [_waiting(message, ref.thread_id, now) for message in changes.inserts if message.role is Role.TOOL]
    return Batch(
        run=ref,
        events=[dump_event(event)],
        inserts=[_columns(message, changes) for message in changes.inserts],
        run_columns={} if run is None else run_columns(run),
        thread_columns={"title": title, "updated_at": now, "next_position": changes.next_position},
        pending=waiting,
    )


def _waiting(message: Message, thread_id: str, now: datetime) -> dict[str, Any]:
    return pending_columns(message.id, new_path(), tool_payload(message, thread_id, None), now)


def _columns(message: Message, changes: RowChanges) -> dict[str, Any]:
    columns = {**message_columns(message), "position": changes.positions[message.id]}
    if message.role is Role.TOOL:
        columns["metadata"] = tool_metadata(message, None, None)
    return columns
