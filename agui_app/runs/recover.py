"""Ends runs whose pipeline is gone, from what their log holds."""

from __future__ import annotations

import logging

from sqlalchemy import Connection, RowMapping, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.model import Conversation, MessageStatus, Role, Run
from agui_app.conversation.reducer import fold, reduce
from agui_app.errors import StoreUnavailable
from agui_app.protocol.events import Event, dump_event, parse_event, stamp
from agui_app.protocol.order import Order
from agui_app.runs.batch import Batch, RunRef, store_batch
from agui_app.runs.endings import Ending, interrupted, last_events
from agui_app.runs.parts import Parts
from agui_app.runs.recorder import Recorder
from agui_app.runs.rows import RunRows
from agui_app.storage.events import read_run_events
from agui_app.storage.hub import Frame
from agui_app.storage.messages import moment_ms, run_columns
from agui_app.storage.tables import MESSAGES, RUNS, THREADS

_log = logging.getLogger(__name__)


async def recover_runs(parts: Parts) -> int:
    """The number of runs that an earlier process left running, and that are ended now."""
    async with parts.database.read() as session:
        query = (
            select(THREADS.c.owner_id, THREADS.c.id, RUNS.c.id, THREADS.c.pk, RUNS.c.pk)
            .join(RUNS, RUNS.c.thread_pk == THREADS.c.pk)
            .where(RUNS.c.status == "running")
            .order_by(RUNS.c.pk)
        )
        refs = [RunRef(*row) for row in await session.execute(query)]
    for ref in refs:
        _log.warning("run %s was interrupted; it is ended now", ref.run_id)
        await end_somehow(ref, interrupted(), parts)
    return len(refs)


async def end_somehow(ref: RunRef, ending: Ending, parts: Parts) -> None:
    """The run ends with `ending`: from its log, or, where that cannot be stored, with its terminal event alone.

    Raises: StoreUnavailable.
    """
    try:
        await end_from_log(ref, ending, parts)
    except StoreUnavailable:
        raise
    except Exception:
        _log.exception("run %s cannot be ended from its log", ref.run_id)
        await _abandon(ref, ending, parts)


async def _abandon(ref: RunRef, ending: Ending, parts: Parts) -> None:
    terminal = stamp(ending.terminal, moment_ms(parts.clock()))
    ended = reduce(Conversation(runs=(Run(ref.run_id),), active_run_id=ref.run_id), terminal)
    told = run_columns(ended.runs[0])
    columns = {name: told[name] for name in ("status", "outcome", "error", "finished_at")}
    mine = (MESSAGES.c.thread_pk == ref.thread_pk) & (MESSAGES.c.run_id == ref.run_id)
    streaming = mine & (MESSAGES.c.status == MessageStatus.STREAMING)
    batch = Batch(ref, events=[dump_event(terminal)], ends=True, run_columns=columns)

    def store(connection: Connection) -> list[Frame]:
        connection.execute(update(MESSAGES).where(streaming).values(status=MessageStatus.INTERRUPTED.value))
        return store_batch(connection, batch, parts.clock())

    frames = await parts.database.transact(store)
    parts.writer.publish(ref, frames)


async def end_from_log(ref: RunRef, ending: Ending, parts: Parts) -> None:
    """The run ends with `ending`, its parts ended before it; its rows are what its log says.

    Raises: StoreUnavailable.
    """
    async with parts.database.read() as session:
        run = await _run(session, ref)
        events = [parse_event(line) for line in await _log_of(session, ref, run)]
        conversation = fold(Conversation(), events)
        rows = await _rows(session, ref, run, conversation)
    recorder = Recorder(ref, rows, parts.writer, parts.objects, parts.clock)
    recorder.note(events)
    order = Order()
    for event in events:
        order.check(event)
    ends: list[Event] = []
    for event in last_events(conversation, ending, run["locale"], order):
        ends.append(stamp(event, moment_ms(parts.clock())))
        conversation = reduce(conversation, ends[-1])
    await recorder.record(ends, conversation)


async def _run(session: AsyncSession, ref: RunRef) -> RowMapping:
    query = (
        select(RUNS, THREADS.c.last_event_id.label("newest"), THREADS.c.next_position)
        .join(THREADS, THREADS.c.pk == RUNS.c.thread_pk)
        .where(RUNS.c.owner_id == ref.owner_id, RUNS.c.pk == ref.run_pk)
    )
    return (await session.execute(query)).mappings().one()


async def _log_of(session: AsyncSession, ref: RunRef, run: RowMapping) -> list[str]:
    return await read_run_events(session, ref.thread_pk, ref.run_pk, run["first_event_id"], run["newest"])


async def _rows(session: AsyncSession, ref: RunRef, run: RowMapping, conversation: Conversation) -> RunRows:
    query = select(MESSAGES.c.id, MESSAGES.c.position, MESSAGES.c.role).where(
        MESSAGES.c.owner_id == ref.owner_id, MESSAGES.c.thread_pk == ref.thread_pk, MESSAGES.c.run_id == ref.run_id
    )
    stored = (await session.execute(query)).all()
    rows = RunRows(run["next_position"])
    rows.positions = {id: position for id, position, _ in stored}
    results = {id for id, _, role in stored if role == Role.TOOL}
    # A result's row was whole when it was written, its payload too: only texts and calls are behind the log.
    rows.written = {message.id: message for message in conversation.messages if message.id in results}
    return rows
