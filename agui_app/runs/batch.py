"""What a run has to say to the database at once, and how it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, update

from agui_app.storage.hub import Frame
from agui_app.storage.tables import EVENTS, MESSAGES, PENDING_PAYLOADS, RUNS, THREADS
from agui_app.tools.registry import Commit

Effect = Commit
"""What a tool call does to the database; it belongs to the transaction that reports it."""


@dataclass(frozen=True, slots=True)
class RunRef:
    """Which run, by the names of the outside and of the tables."""

    owner_id: str
    thread_id: str
    run_id: str
    thread_pk: int
    run_pk: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What is committed together: all of it or nothing."""

    run: RunRef
    events: Sequence[str] = ()
    """One-line JSON each."""
    ends: bool = False
    """The last event is the terminal event of the run."""
    inserts: Sequence[Mapping[str, Any]] = ()
    """Columns of new message rows."""
    updates: Sequence[tuple[str, Mapping[str, Any]]] = ()
    """Message id, columns that change."""
    deletes: Sequence[str] = ()
    run_columns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    thread_columns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pending: Sequence[Mapping[str, Any]] = ()
    """Columns of payloads that wait for the object store."""
    effects: Sequence[Effect] = ()


def store_batch(connection: Connection, batch: Batch, now: datetime) -> list[Frame]:
    """The frames of the batch, once the transaction of `connection` commits. Its effects are the caller's."""
    run = batch.run
    frames: list[Frame] = []
    if batch.events or batch.thread_columns:
        frames = _log_events(connection, batch, now)
    _store_messages(connection, batch)
    columns = dict(batch.run_columns)
    if batch.ends and frames:
        columns["last_event_id"] = frames[-1].id
    if columns:
        connection.execute(update(RUNS).where(RUNS.c.pk == run.run_pk).values(**columns))
    return frames


def _log_events(connection: Connection, batch: Batch, now: datetime) -> list[Frame]:
    run, count = batch.run, len(batch.events)
    newest = connection.execute(
        update(THREADS)
        .where(THREADS.c.pk == run.thread_pk)
        .values(last_event_id=THREADS.c.last_event_id + count, **batch.thread_columns)
        .returning(THREADS.c.last_event_id)
    )
    first = newest.scalar_one() - count + 1
    frames = [
        Frame(first + index, run.run_id, data, last=batch.ends and index == count - 1)
        for index, data in enumerate(batch.events)
    ]
    if frames:
        common = {"thread_pk": run.thread_pk, "run_pk": run.run_pk, "owner_id": run.owner_id, "created_at": now}
        connection.execute(insert(EVENTS), [{**common, "id": frame.id, "data": frame.data} for frame in frames])
    return frames


def _store_messages(connection: Connection, batch: Batch) -> None:
    run = batch.run
    mine = MESSAGES.c.thread_pk == run.thread_pk
    owned = {"thread_pk": run.thread_pk, "owner_id": run.owner_id}
    if batch.deletes:
        connection.execute(delete(MESSAGES).where(mine, MESSAGES.c.id.in_(batch.deletes)))
    for message_id, columns in batch.updates:
        connection.execute(update(MESSAGES).where(mine, MESSAGES.c.id == message_id).values(**columns))
    if batch.inserts:
        connection.execute(insert(MESSAGES), [{**owned, **row} for row in batch.inserts])
    if batch.pending:
        waiting = PENDING_PAYLOADS.c.message_id.in_([row["message_id"] for row in batch.pending])
        connection.execute(delete(PENDING_PAYLOADS).where(PENDING_PAYLOADS.c.thread_pk == run.thread_pk, waiting))
        connection.execute(insert(PENDING_PAYLOADS), [{**owned, **row} for row in batch.pending])
