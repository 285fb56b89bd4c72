"""What the calendar gives back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from agui_app.storage.calendar import CalendarEvent, Window, get, insert, overlapping

OWNER = "local"
SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")
CREATED = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.fixture
async def session() -> AsyncIterator[AsyncSession]:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(CalendarEvent.__table__.create)  # pyright: ignore
    async with AsyncSession(engine) as session:
        yield session
    await engine.dispose()


def timed(id: str, start: str, end: str, **fields: Any) -> CalendarEvent:
    return event(id, start_at=datetime.fromisoformat(start), end_at=datetime.fromisoformat(end), **fields)


def all_day(id: str, first: str, last: str, **fields: Any) -> CalendarEvent:
    return event(id, all_day=True, start_date=first, end_date=last, **fields)


def event(id: str, **fields: Any) -> CalendarEvent:
    fields = {"owner_id": OWNER, "title": id, "timezone": "Asia/Shanghai", **fields}
    return CalendarEvent(id=id, created_at=CREATED, updated_at=CREATED, **fields)


def window(start: str, end: str, zone: ZoneInfo = SHANGHAI) -> Window:
    return Window(datetime.fromisoformat(start), datetime.fromisoformat(end), zone)


MARCH_1 = window("2026-03-01T00:00:00+08:00", "2026-03-02T00:00:00+08:00")


async def ids(session: AsyncSession, window: Window, *, text: str = "", limit: int = 50) -> list[str]:
    return [event.id for event in await overlapping(session, OWNER, window, text=text, limit=limit)]


async def test_an_event_is_read_back_as_it_was_stored_with_its_times_in_utc(session: AsyncSession):
    await insert(session, timed("a", "2026-03-01T10:00:00+08:00", "2026-03-01T11:00:00+08:00", location="Room A"))
    session.expunge_all()

    found = await get(session, OWNER, "a")

    assert found is not None
    assert found.model_dump(exclude={"pk"}) == {
        "owner_id": OWNER,
        "id": "a",
        "title": "a",
        "description": None,
        "start_at": datetime(2026, 3, 1, 2, tzinfo=UTC),
        "end_at": datetime(2026, 3, 1, 3, tzinfo=UTC),
        "all_day": False,
        "start_date": None,
        "end_date": None,
        "timezone": "Asia/Shanghai",
        "location": "Room A",
        "notes": None,
        "color": None,
        "source_type": None,
        "created_at": CREATED,
        "updated_at": CREATED,
        "deleted_at": None,
    }


async def test_neither_a_stranger_s_nor_a_deleted_event_is_found(session: AsyncSession):
    times = ("2026-03-01T10:00:00+08:00", "2026-03-01T11:00:00+08:00")
    await insert(session, timed("theirs", *times, owner_id="somebody"))
    await insert(session, timed("gone", *times, deleted_at=CREATED))

    assert [await get(session, OWNER, id) for id in ("theirs", "gone", "never")] == [None, None, None]
    assert await ids(session, MARCH_1) == []


@pytest.mark.parametrize(
    ("start", "end", "is_inside"),
    [
        ("2026-02-28T23:00:00+08:00", "2026-03-01T00:00:00+08:00", False),
        ("2026-02-28T23:00:00+08:00", "2026-03-01T00:01:00+08:00", True),
        ("2026-03-01T00:00:00+08:00", "2026-03-01T00:00:00+08:00", True),
        ("2026-02-01T00:00:00+08:00", "2026-04-01T00:00:00+08:00", True),
        ("2026-03-01T23:59:00+08:00", "2026-03-02T01:00:00+08:00", True),
        ("2026-03-01T15:30:00Z", "2026-03-01T16:00:00Z", True),
        ("2026-03-02T00:00:00+08:00", "2026-03-02T00:00:00+08:00", False),
        ("2026-03-02T00:00:00+08:00", "2026-03-02T01:00:00+08:00", False),
    ],
)
async def test_a_window_is_half_open(session: AsyncSession, start: str, end: str, is_inside: bool):
    await insert(session, timed("a", start, end))

    assert await ids(session, MARCH_1) == (["a"] if is_inside else [])


@pytest.mark.parametrize(
    ("first", "last", "asked", "is_inside"),
    [
        ("2026-03-01", "2026-03-01", MARCH_1, True),
        ("2026-02-27", "2026-03-05", MARCH_1, True),
        ("2026-02-27", "2026-02-28", MARCH_1, False),
        ("2026-03-02", "2026-03-02", MARCH_1, False),
        # the same day stays the same day for a reader elsewhere
        ("2026-03-01", "2026-03-01", window("2026-03-01T00:00-05:00", "2026-03-02T00:00-05:00", NEW_YORK), True),
        ("2026-03-02", "2026-03-02", window("2026-03-01T00:00-05:00", "2026-03-02T00:00-05:00", NEW_YORK), False),
        # the night the clocks change: a day of 23 hours
        ("2026-03-08", "2026-03-08", window("2026-03-08T00:00-05:00", "2026-03-09T00:00-04:00", NEW_YORK), True),
        ("2026-03-09", "2026-03-09", window("2026-03-08T00:00-05:00", "2026-03-09T00:00-04:00", NEW_YORK), False),
    ],
)
async def test_an_all_day_event_is_on_its_dates_in_every_zone(
    session: AsyncSession, first: str, last: str, asked: Window, is_inside: bool
):
    await insert(session, all_day("a", first, last))

    assert await ids(session, asked) == (["a"] if is_inside else [])


async def test_events_come_by_day_with_all_day_events_first_and_at_most_the_limit(session: AsyncSession):
    await insert(session, timed("late", "2026-03-02T18:00:00+08:00", "2026-03-02T19:00:00+08:00"))
    await insert(session, timed("early", "2026-03-01T08:00:00+08:00", "2026-03-01T09:00:00+08:00"))
    await insert(session, all_day("second day", "2026-03-02", "2026-03-02"))
    await insert(session, all_day("first day", "2026-03-01", "2026-03-03"))
    week = window("2026-03-01T00:00:00+08:00", "2026-03-08T00:00:00+08:00")

    assert await ids(session, week) == ["first day", "early", "second day", "late"]
    assert await ids(session, week, limit=3) == ["first day", "early", "second day"]


async def test_text_is_found_in_any_field_and_its_wildcards_are_plain(session: AsyncSession):
    times = ("2026-03-01T10:00:00+08:00", "2026-03-01T11:00:00+08:00")
    await insert(session, timed("title", *times, title="Design REVIEW"))
    await insert(session, timed("place", *times, location="review room"))
    await insert(session, all_day("notes", "2026-03-01", "2026-03-01", notes="a Review"))
    await insert(session, timed("other", *times, title="100 %"))

    assert await ids(session, MARCH_1, text="review") == ["notes", "title", "place"]
    assert await ids(session, MARCH_1, text="%") == ["other"]
