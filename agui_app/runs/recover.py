"""Ends runs whose pipeline is gone, from what their log holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container
from datetime import datetime, timedelta

from sqlalchemy import Connection, RowMapping, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.beyond import noted
from agui_app.conversation.model import Conversation, MessageStatus, Role, Run
from agui_app.conversation.reducer import fold, reduce
from agui_app.errors import StoreUnavailable
from agui_app.protocol.events import Event, dump_event, parse_event, stamp
from agui_app.protocol.order import Order
from agui_app.runs.batch import Batch, RunLost, RunRef, store_batch
from agui_app.runs.endings import Ending, interrupted, last_events
from agui_app.runs.parts import Parts
from agui_app.runs.recorder import Recorder
from agui_app.runs.rows import RunRows
from agui_app.storage.events import read_run_events
from agui_app.storage.hub import Frame
from agui_app.storage.messages import moment_ms, run_columns
from agui_app.storage.tables import MESSAGES, RUNS, THREADS

_log = logging.getLogger(__name__)


DEAD_AFTER = timedelta(seconds=30)  # three heartbeats; workers' clocks must agree better than two of them
SWEEP_INTERVAL_S = 10.0


async def sweep_forever(parts: Parts, carried: Callable[[], Container[int]]) -> None:
    """Ends runs that nobody carries any more, until cancelled. `carried`: the keys of those of this process."""
    was_away = False
    while True:
        await asyncio.sleep(SWEEP_INTERVAL_S)
        try:
            if was_away:  # the others could not give a sign of life either; they get the time for it
                await parts.database.check()
            else:
                await recover_runs(parts, dead_after=DEAD_AFTER, carried=carried)
            was_away = False
        except StoreUnavailable as error:
            was_away = True
            _log.warning("runs of dead workers were not looked for: %s", error)


async def recover_runs(
    parts: Parts, *, dead_after: timedelta | None = None, carried: Callable[[], Container[int]] = frozenset
) -> int:
    """The number of runs that are ended now because nobody carries them.

    `dead_after`: only those without a sign of life for that long; None: all that this process does not carry.

    Raises: StoreUnavailable.
    """
    now = parts.clock()
    dead = RUNS.c.status == "running"
    if dead_after is not None:
        dead &= or_(RUNS.c.heartbeat_at <= now - dead_after, RUNS.c.heartbeat_at.is_(None))
    query = (
        select(THREADS.c.owner_id, THREADS.c.id, RUNS.c.id, THREADS.c.pk, RUNS.c.pk, RUNS.c.heartbeat_at)
        .join(RUNS, RUNS.c.thread_pk == THREADS.c.pk)
        .where(dead)
        .order_by(RUNS.c.pk)
    )
    async with parts.database.read() as session:
        found = [(RunRef(*names), beat) for *names, beat in await session.execute(query)]
    ended = 0
    for ref, beat in found:
        if ref.run_pk not in carried() and await _take_over(ref, beat, now, parts):
            _log.warning("run %s was interrupted; it is ended now", ref.run_id)
            ended += await _end_taken(ref, now, parts)
    return ended


async def _take_over(ref: RunRef, beat: datetime | None, now: datetime, parts: Parts) -> bool:
    """Whether the run is ours from now on: its heartbeat is the sign, and only one can change it from what it was."""
    mine = (RUNS.c.pk == ref.run_pk) & (RUNS.c.status == "running") & RUNS.c.heartbeat_at.is_not_distinct_from(beat)
    taken = update(RUNS).where(mine).values(heartbeat_at=now).returning(RUNS.c.pk)

    def take(connection: Connection) -> bool:
        return connection.execute(taken).one_or_none() is not None

    return await parts.database.transact(take)


async def _end_taken(ref: RunRef, beat: datetime, parts: Parts) -> bool:
    try:
        await end_somehow(ref, interrupted(), parts, beat)
    except RunLost:  # this worker was slower than DEAD_AFTER, and is taken for dead itself
        return False
    return True


async def end_somehow(ref: RunRef, ending: Ending, parts: Parts, beat: datetime) -> None:
    """The run ends with `ending`: from its log, or, where that cannot be stored, with its terminal event alone.

    `beat`: the run's heartbeat while it is the caller's to end.

    Raises: StoreUnavailable, RunLost.
    """
    try:
        await end_from_log(ref, ending, parts, beat)
    except (StoreUnavailable, RunLost):
        raise
    except Exception:
        _log.exception("run %s cannot be ended from its log", ref.run_id)
        await _abandon(ref, ending, parts, beat)


async def _abandon(ref: RunRef, ending: Ending, parts: Parts, beat: datetime) -> None:
    terminal = stamp(ending.terminal, moment_ms(parts.clock()))
    ended = reduce(Conversation(runs=(Run(ref.run_id),), active_run_id=ref.run_id), terminal)
    told = run_columns(ended.runs[0])
    columns = {name: told[name] for name in ("status", "outcome", "error", "finished_at")}
    mine = (MESSAGES.c.thread_pk == ref.thread_pk) & (MESSAGES.c.run_id == ref.run_id)
    streaming = mine & (MESSAGES.c.status == MessageStatus.STREAMING)
    batch = Batch(ref, beat, events=[dump_event(terminal)], ends=True, run_columns=columns)

    def store(connection: Connection) -> list[Frame]:
        connection.execute(update(MESSAGES).where(streaming).values(status=MessageStatus.INTERRUPTED.value))
        return store_batch(connection, batch, parts.clock())

    frames = await parts.database.transact(store)
    parts.writer.publish(ref, frames)


async def end_from_log(ref: RunRef, ending: Ending, parts: Parts, beat: datetime) -> None:
    """The run ends with `ending`, its parts ended before it; its rows are what its log says.

    Raises: StoreUnavailable, RunLost.
    """
    async with parts.database.read() as session:
        run = await _run(session, ref)
        events = [parse_event(line) for line in await _log_of(session, ref, run)]
        conversation = fold(Conversation(), events)
        rows = await _rows(session, ref, run, conversation)
    recorder = Recorder(ref, rows, parts.writer, parts.objects, parts.clock, beat)
    recorder.note(events)
    order = Order()
    for event in events:
        order.check(event)
    ends: list[Event] = []
    for event in last_events(conversation, ending, run["locale"], order):
        ends.append(stamp(noted(conversation, event, always=True), moment_ms(parts.clock())))
        conversation = reduce(conversation, ends[-1])
    await recorder.record(ends, conversation)


async def _run(session: AsyncSession, ref: RunRef) -> RowMapping:
    query = (
        select(RUNS, THREADS.c.last_event_id.label("newest"), THREADS.c.next_position)
        .join(THREADS, THREADS.c.pk == RUNS.c.thread_pk)
        .where(RUNS.c.owner_id == ref.owner_id, RUNS.c.pk == ref.run_pk)
    )
    row = (await session.execute(query)).mappings().one_or_none()
    if row is None:
        raise RunLost(f"the run {ref.run_id!r} went with its thread")
    return row


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
