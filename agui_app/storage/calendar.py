"""The calendar: the events that the tools write, and the queries over them. Every query names the owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Column, ColumnElement, Index, UniqueConstraint, and_, or_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import Field, SQLModel, col, select

from agui_app.storage.tables import UtcDateTime


def _moment(*, nullable: bool = False) -> Column[Any]:
    return Column(UtcDateTime(), nullable=nullable)


class CalendarEvent(SQLModel, table=True):
    """One event. An all-day event is its two dates, the same wherever they are read; any other is two instants."""

    __tablename__ = "calendar_events"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (
        UniqueConstraint("owner_id", "id"),
        Index("ix_calendar_events_owner_start", "owner_id", "start_at"),
        Index("ix_calendar_events_owner_date", "owner_id", "start_date"),
    )

    pk: int = Field(default=None, primary_key=True)
    owner_id: str
    id: str
    title: str
    description: str | None = None
    start_at: datetime | None = Field(default=None, sa_column=_moment(nullable=True))
    """Null when all-day."""
    end_at: datetime | None = Field(default=None, sa_column=_moment(nullable=True))
    """Half-open; equal to `start_at` for an event without a length."""
    all_day: bool = False
    start_date: str | None = None
    """YYYY-MM-DD; null unless all-day."""
    end_date: str | None = None
    """The last day, included."""
    timezone: str
    """IANA name of the zone that the event is told in."""
    location: str | None = None
    notes: str | None = None
    color: str | None = None
    source_type: str | None = None
    created_at: datetime = Field(sa_column=_moment())
    updated_at: datetime = Field(sa_column=_moment())
    deleted_at: datetime | None = Field(default=None, sa_column=_moment(nullable=True))


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open time that is asked for, by a reader in `zone`."""

    start: datetime
    end: datetime
    """Aware, like `start`, and later."""
    zone: ZoneInfo

    @property
    def first_day(self) -> date:
        """The reader's day that the window begins in."""
        return self.start.astimezone(self.zone).date()

    @property
    def last_day(self) -> date:
        """The reader's day that the window ends in, itself included."""
        return (self.end.astimezone(UTC) - timedelta(microseconds=1)).astimezone(self.zone).date()


async def insert(session: AsyncSession, event: CalendarEvent) -> None:
    """Nothing; the event is in the table when the transaction is committed."""
    session.add(event)
    await session.flush()


async def get(session: AsyncSession, owner_id: str, event_id: str) -> CalendarEvent | None:
    """The owner's event; None when there is none or it was deleted."""
    query = select(CalendarEvent).where(*_alive(owner_id), CalendarEvent.id == event_id)
    return (await session.execute(query)).scalars().one_or_none()


async def overlapping(
    session: AsyncSession, owner_id: str, window: Window, *, text: str = "", limit: int
) -> list[CalendarEvent]:
    """The first `limit` events that touch the window, in the order of the reader's days, all-day events first.

    `text` is looked for in title, description, location and notes, in any case of letters.
    """
    found = await _timed(session, owner_id, window, text=text, limit=limit)
    found += await _all_day(session, owner_id, window, text=text, limit=limit)
    return sorted(found, key=lambda event: _order(event, window.zone))[:limit]


async def _timed(session: AsyncSession, owner_id: str, window: Window, *, text: str, limit: int) -> list[CalendarEvent]:
    start_at, end_at = col(CalendarEvent.start_at), col(CalendarEvent.end_at)
    lasts_into = or_(end_at > window.start, and_(end_at == start_at, start_at == window.start))
    query = (
        select(CalendarEvent)
        .where(*_alive(owner_id), *_mentions(text), col(CalendarEvent.all_day).is_(False))
        .where(start_at < window.end, lasts_into)
        .order_by(start_at, col(CalendarEvent.pk))
        .limit(limit)
    )
    return list((await session.execute(query)).scalars())


async def _all_day(
    session: AsyncSession, owner_id: str, window: Window, *, text: str, limit: int
) -> list[CalendarEvent]:
    start_date, end_date = col(CalendarEvent.start_date), col(CalendarEvent.end_date)
    query = (
        select(CalendarEvent)
        .where(*_alive(owner_id), *_mentions(text), col(CalendarEvent.all_day).is_(True))
        .where(start_date <= window.last_day.isoformat(), end_date >= window.first_day.isoformat())
        .order_by(start_date, col(CalendarEvent.pk))
        .limit(limit)
    )
    return list((await session.execute(query)).scalars())


def _alive(owner_id: str) -> tuple[ColumnElement[bool], ...]:
    return (col(CalendarEvent.owner_id) == owner_id, col(CalendarEvent.deleted_at).is_(None))


def _mentions(text: str) -> tuple[ColumnElement[bool], ...]:
    fields = (CalendarEvent.title, CalendarEvent.description, CalendarEvent.location, CalendarEvent.notes)
    return (or_(*(col(field).icontains(text, autoescape=True) for field in fields)),) if text else ()


def _order(event: CalendarEvent, zone: ZoneInfo) -> tuple[str, bool, str, int]:
    if event.start_at is None:
        return (event.start_date or "", False, "", event.pk)
    local = event.start_at.astimezone(zone)
    return (local.date().isoformat(), True, event.start_at.isoformat(), event.pk)
