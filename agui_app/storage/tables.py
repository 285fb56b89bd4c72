"""The tables. Every row has an owner, and every query names it.

Times are UTC. Columns called `metadata` have the attribute `meta`, because SQLModel keeps the other name.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, Index, Text, UniqueConstraint, text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

LOCAL_OWNER = "local"
"""The one user there is while nobody signs in."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment in UTC; SQLite, which knows no zones, holds it without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)


def _json() -> Column[Any]:
    return Column(JSON(none_as_null=True), nullable=True)


def _time(*, nullable: bool = False) -> Column[Any]:
    return Column(UtcDateTime(), nullable=nullable)


class Thread(SQLModel, table=True):
    """A conversation."""

    __tablename__ = "threads"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (
        UniqueConstraint("owner_id", "id"),
        Index("ix_threads_owner_updated", "owner_id", "updated_at", "pk"),
    )

    pk: int = Field(default=None, primary_key=True)
    owner_id: str
    id: str
    title: str = ""
    created_at: datetime = Field(sa_column=_time())
    updated_at: datetime = Field(sa_column=_time())
    last_event_id: int = 0
    """Id of the newest event; ids count up by one, so that a gap shows what was purged."""
    next_position: int = 0
    """The place of the next message."""


class Message(SQLModel, table=True):
    """One message. `data` holds what only its role has; a tool message's payload lies in the object store."""

    __tablename__ = "messages"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (
        UniqueConstraint("thread_pk", "id"),
        UniqueConstraint("thread_pk", "position"),
        Index("ix_messages_thread_run", "thread_pk", "run_id"),
    )

    pk: int = Field(default=None, primary_key=True)
    owner_id: str
    thread_pk: int = Field(foreign_key="threads.pk", ondelete="CASCADE")
    position: int
    """The strict order in the thread; a call keeps the place after it for its result."""
    id: str
    role: str
    content: str = Field(default="", sa_column=Column(Text, nullable=False))
    """The text; for role tool the one-line summary."""
    run_id: str | None = None
    status: str
    created_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    meta: Any = Field(default=None, sa_column=Column("metadata", JSON(none_as_null=True), nullable=True))
    data: Any = Field(default=None, sa_column=_json())
    superseded_by: str | None = None
    """Id of the run that replaced this message by a retry or an edit."""


class Run(SQLModel, table=True):
    """One answer of the agent. At most one is running in a thread."""

    __tablename__ = "runs"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (
        UniqueConstraint("owner_id", "id"),
        Index("ix_runs_thread_position", "thread_pk", "position"),
        Index(
            "ux_runs_thread_running",
            "thread_pk",
            unique=True,
            sqlite_where=text("status = 'running'"),
            postgresql_where=text("status = 'running'"),
        ),
    )

    pk: int = Field(default=None, primary_key=True)
    owner_id: str
    thread_pk: int = Field(foreign_key="threads.pk", ondelete="CASCADE")
    id: str
    status: str
    position: int
    """The place of its first message."""
    body_hash: str
    """SHA-256 of the canonical JSON of the request."""
    first_event_id: int
    last_event_id: int | None = None
    """Id of its terminal event; null while it is running."""
    heartbeat_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    outcome: Any = Field(default=None, sa_column=_json())
    error: Any = Field(default=None, sa_column=_json())
    steps: Any = Field(default=None, sa_column=_json())
    usage: Any = Field(default=None, sa_column=_json())
    result: Any = Field(default=None, sa_column=_json())
    interrupts: Any = Field(default=None, sa_column=_json())
    started_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    finished_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    locale: str
    timezone: str
    superseded_by: str | None = None
    """Id of the run that replaced this one, or a part of it, by a retry or an edit."""


class Event(SQLModel, table=True):
    """One logged event of a thread, as it went over the wire."""

    __tablename__ = "events"  # pyright: ignore[reportAssignmentType]
    # The key is the order of reading: one tree to write and to read, not a table and an index.
    __table_args__ = ({"sqlite_with_rowid": False},)

    thread_pk: int = Field(foreign_key="threads.pk", ondelete="CASCADE", primary_key=True)
    id: int = Field(primary_key=True)
    owner_id: str
    run_pk: int = Field(foreign_key="runs.pk", ondelete="CASCADE", index=True)
    data: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime = Field(sa_column=_time())


class PendingPayload(SQLModel, table=True):
    """A payload that the object store did not take yet."""

    __tablename__ = "pending_payloads"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (UniqueConstraint("thread_pk", "message_id"),)

    pk: int = Field(default=None, primary_key=True)
    owner_id: str
    thread_pk: int = Field(foreign_key="threads.pk", ondelete="CASCADE")
    message_id: str
    path: str
    payload: Any = Field(sa_column=Column(JSON, nullable=False))
    attempts: int = 0
    next_attempt_at: datetime = Field(sa_column=_time())
    created_at: datetime = Field(sa_column=_time())


class DiscardedPayload(SQLModel, table=True):
    """A payload that nothing refers to any more and that the object store has still to delete."""

    __tablename__ = "discarded_payloads"  # pyright: ignore[reportAssignmentType]

    pk: int = Field(default=None, primary_key=True)
    owner_id: str
    path: str
    attempts: int = 0
    next_attempt_at: datetime = Field(sa_column=_time())


class DeletedThread(SQLModel, table=True):
    """What is left of a deleted thread: should its id be used again, event ids go on from here."""

    __tablename__ = "deleted_threads"  # pyright: ignore[reportAssignmentType]

    owner_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    last_event_id: int


THREADS = SQLModel.metadata.tables["threads"]
MESSAGES = SQLModel.metadata.tables["messages"]
RUNS = SQLModel.metadata.tables["runs"]
EVENTS = SQLModel.metadata.tables["events"]
PENDING_PAYLOADS = SQLModel.metadata.tables["pending_payloads"]
DISCARDED_PAYLOADS = SQLModel.metadata.tables["discarded_payloads"]
DELETED_THREADS = SQLModel.metadata.tables["deleted_threads"]
"""The same tables for statements, which are written with them: no objects are tracked on the way of a stream."""
