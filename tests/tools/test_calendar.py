"""The calendar tools, through the layer that carries calls out."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import select

from agui_app.errors import ToolError
from agui_app.storage.calendar import CalendarEvent, get
from agui_app.tools.catalog import TOOLS
from agui_app.tools.registry import ToolContext, ToolOutcome
from agui_app.tools.run import carry_out

NOW = datetime.fromisoformat("2026-02-28T09:00:00+08:00")


def context(session: AsyncSession, *, timezone: str = "Asia/Shanghai", locale: str = "zh") -> ToolContext:
    return ToolContext(
        owner_id="local",
        thread_id="t",
        run_id="r",
        call_id="c",
        timezone=timezone,
        locale=locale,
        now=NOW.astimezone(ZoneInfo(timezone)),
        session=session,
    )


async def call(session: AsyncSession, name: str, reader: dict[str, str] | None = None, **args: Any) -> ToolOutcome:
    return await carry_out(TOOLS, context(session, **(reader or {})), name, json.dumps(args), 5)


async def create(session: AsyncSession, reader: dict[str, str] | None = None, **args: Any) -> dict[str, Any]:
    """The data of the card of an event that was created and committed."""
    outcome = await call(session, "create_calendar_event", reader, **args)
    assert outcome.commit is not None
    assert outcome.ui is not None
    await outcome.commit(session)
    return outcome.ui["data"]


def test_every_tool_has_a_valid_schema_and_is_found_under_its_name():
    assert list(TOOLS) == ["create_calendar_event", "calendar_read"]
    for name, tool in TOOLS.items():
        assert tool.name == name
        Draft202012Validator.check_schema(tool.parameters)


async def test_a_created_event_gives_its_id_and_the_card_of_the_specification(session: AsyncSession):
    outcome = await call(
        session,
        "create_calendar_event",
        title=" 产品评审会议 ",
        description="讨论Q2路线图",
        startAt="2026-03-01T10:00:00+08:00",
        location="会议室A",
        notes="n",
    )
    id = outcome.result["eventId"]

    assert outcome.result == {"eventId": id, "ok": True, "message": "日程已创建"}
    assert outcome.ui == {
        "type": "card",
        "cardType": "calendar_card.v1",
        "data": {
            "id": id,
            "title": "产品评审会议",
            "description": "讨论Q2路线图",
            "startAt": "2026-03-01T10:00:00+08:00",
            "endAt": "2026-03-01T11:00:00+08:00",
            "timezone": "Asia/Shanghai",
            "location": "会议室A",
            "color": "#4F46E5",
            "sourceType": "agentGenerated",
        },
        "actions": [
            {"type": "open", "label": "打开", "target": f"calendar/{id}"},
            {"type": "edit", "label": "编辑", "action": "edit_event"},
            {"type": "delete", "label": "删除", "action": "delete_event"},
        ],
    }


async def test_an_event_is_written_by_the_commit_and_by_nothing_else(session: AsyncSession):
    outcome = await call(session, "create_calendar_event", title="a", startAt="2026-03-08", notes="n")
    id = outcome.result["eventId"]
    assert outcome.commit is not None
    assert await get(session, "local", id) is None

    await outcome.commit(session)
    await session.rollback()
    await outcome.commit(session)

    event = await get(session, "local", id)
    assert event is not None
    assert event.model_dump(include={"title", "notes", "all_day", "start_date", "end_date", "start_at"}) == {
        "title": "a",
        "notes": "n",
        "all_day": True,
        "start_date": "2026-03-08",
        "end_date": "2026-03-08",
        "start_at": None,
    }


async def test_an_english_run_has_english_labels(session: AsyncSession):
    outcome = await call(session, "create_calendar_event", {"locale": "en"}, title="a", startAt="2026-03-08")

    assert outcome.ui is not None
    assert [action["label"] for action in outcome.ui["actions"]] == ["Open", "Edit", "Delete"]
    assert outcome.result["message"] == "Event created"


@pytest.mark.parametrize(
    ("args", "expect"),
    [
        (
            {"startAt": "2026-03-01T10:00:00+08:00", "endAt": "2026-03-01T10:00:00+08:00"},
            {"startAt": "2026-03-01T10:00:00+08:00", "endAt": "2026-03-01T10:00:00+08:00"},
        ),
        # without an offset: read in the reader's zone, or in the zone that is given
        (
            {"startAt": "2026-03-01T10:00"},
            {"startAt": "2026-03-01T10:00:00+08:00", "endAt": "2026-03-01T11:00:00+08:00"},
        ),
        (
            {"startAt": "2026-03-01T10:00:00", "timezone": "America/New_York"},
            {
                "startAt": "2026-03-01T10:00:00-05:00",
                "endAt": "2026-03-01T11:00:00-05:00",
                "timezone": "America/New_York",
            },
        ),
        # an instant is told in the event's zone
        (
            {"startAt": "2026-03-01t02:00:00z", "timezone": "Europe/London"},
            {"startAt": "2026-03-01T02:00:00+00:00", "endAt": "2026-03-01T03:00:00+00:00", "timezone": "Europe/London"},
        ),
        # the night the clocks change: one hour later, and a time that does not exist
        (
            {"startAt": "2026-03-08T01:30:00", "timezone": "America/New_York"},
            {
                "startAt": "2026-03-08T01:30:00-05:00",
                "endAt": "2026-03-08T03:30:00-04:00",
                "timezone": "America/New_York",
            },
        ),
        (
            {"startAt": "2026-03-08T02:30:00", "timezone": "America/New_York"},
            {
                "startAt": "2026-03-08T03:30:00-04:00",
                "endAt": "2026-03-08T04:30:00-04:00",
                "timezone": "America/New_York",
            },
        ),
        # all-day
        ({"startAt": "2026-03-08"}, {"startAt": "2026-03-08", "endAt": "2026-03-08", "allDay": True}),
        (
            {"startAt": "2026-03-08", "endAt": "2026-03-10", "allDay": False},
            {"startAt": "2026-03-08", "endAt": "2026-03-10", "allDay": True},
        ),
        (
            {"startAt": "2026-03-08T20:00:00Z", "endAt": "2026-03-09T20:00:00Z", "allDay": True},
            {"startAt": "2026-03-09", "endAt": "2026-03-10", "allDay": True},
        ),
    ],
)
async def test_times_are_read_in_the_zone_and_completed(
    session: AsyncSession, args: dict[str, Any], expect: dict[str, Any]
):
    data = await create(session, title="a", **args)

    kept = {"title": "a", "timezone": "Asia/Shanghai", "color": "#4F46E5", "sourceType": "agentGenerated"}
    assert data == {"id": data["id"], **kept, **expect}


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("create_calendar_event", {"title": "test"}, "'startAt' is a required property"),
        ("create_calendar_event", {"title": "  ", "startAt": "2026-03-08"}, "'title': '  ' does not match '\\\\S'"),
        (
            "create_calendar_event",
            {"title": "a", "startAt": "2026-03-08", "timezone": "Mars/Base"},
            "'timezone': 'Mars/Base' is no IANA time zone, such as Europe/Berlin",
        ),
        (
            "create_calendar_event",
            {"title": "a", "startAt": "2026-03-08", "timezone": "America"},
            "'timezone': 'America' is no IANA time zone, such as Europe/Berlin",
        ),
        (
            "create_calendar_event",
            {"title": "a", "startAt": "2026-03-08", "timezone": "../etc/passwd"},
            "'timezone': '../etc/passwd' is no IANA time zone, such as Europe/Berlin",
        ),
        (
            "create_calendar_event",
            {"title": "a", "startAt": "2026-03-08T10:00:00Z", "endAt": "2026-03-08T09:59:00Z"},
            "'endAt': '2026-03-08T09:59:00Z' is before startAt '2026-03-08T10:00:00Z'",
        ),
        (
            "create_calendar_event",
            {"title": "a", "startAt": "2026-03-08", "endAt": "2026-03-07"},
            "'endAt': '2026-03-07' is before startAt '2026-03-08'",
        ),
        (
            "create_calendar_event",
            {"title": "a", "startAt": "2026-03-08T10:00:00Z", "endAt": "2026-03-09"},
            "'endAt': '2026-03-09' is a date, but startAt '2026-03-08T10:00:00Z' has a time",
        ),
        (
            "create_calendar_event",
            {"title": "a", "startAt": "9999-12-31T23:30:00Z"},
            "'startAt': '9999-12-31T23:30:00Z' is outside the years 2 to 9998",
        ),
        (
            "calendar_read",
            {"start": "2026-03-01", "end": "2026-03-02T00:00:00Z"},
            "'start': '2026-03-01' is not a 'date-time'",
        ),
        (
            "calendar_read",
            {"start": "2026-03-02T00:00:00Z", "end": "2026-03-02T00:00:00Z"},
            "'end': '2026-03-02T00:00:00Z' is not after start '2026-03-02T00:00:00Z'",
        ),
        (
            "calendar_read",
            {"start": "2026-03-02T00:00:00Z", "end": "2026-03-03T00:00:00Z", "limit": 0},
            "'limit': 0 is less than the minimum of 1",
        ),
    ],
)
async def test_arguments_that_make_no_sense_are_refused_by_name(
    session: AsyncSession, name: str, args: dict[str, Any], message: str
):
    with pytest.raises(ToolError) as caught:
        await call(session, name, **args)

    assert (caught.value.detail, caught.value.tool_code) == (message, "invalid_arguments")


async def test_reading_gives_the_events_of_the_time_and_a_list_card(session: AsyncSession):
    first = await create(session, title="holiday", startAt="2026-03-01")
    second = await create(session, title="review", startAt="2026-03-01T10:00:00+08:00", location="Room A")
    await create(session, title="later", startAt="2026-03-02T00:00:00+08:00")

    outcome = await call(session, "calendar_read", start="2026-03-01T00:00:00+08:00", end="2026-03-02T00:00:00+08:00")

    assert outcome == ToolOutcome(
        result={"ok": True, "count": 2, "date_range": "2026-03-01", "events": [first, second]},
        ui={
            "type": "card",
            "cardType": "calendar_list.v1",
            "data": {"title": "日程", "range": "2026-03-01", "events": [first, second]},
            "actions": [],
        },
    )


async def test_reading_is_narrowed_by_text_and_limit(session: AsyncSession):
    for title in ("a1", "a2", "b"):
        await create(session, title=title, startAt="2026-03-01")
    time = {"start": "2026-03-01T00:00:00+08:00", "end": "2026-03-08T00:00:00+08:00"}

    by_text = await call(session, "calendar_read", **time, text=" A ")
    by_limit = await call(session, "calendar_read", **time, limit=2.0)

    assert [event["title"] for event in by_text.result["events"]] == ["a1", "a2"]
    assert {key: by_limit.result[key] for key in ("count", "has_more")} == {"count": 2, "has_more": True}
    assert "has_more" not in by_text.result


async def test_nothing_of_another_owner_is_read(session: AsyncSession):
    await create(session, title="mine", startAt="2026-03-01")
    (await session.execute(select(CalendarEvent))).scalar_one().owner_id = "somebody"
    await session.flush()

    outcome = await call(session, "calendar_read", start="2026-03-01T00:00:00+08:00", end="2026-03-02T00:00:00+08:00")

    assert outcome.result == {"ok": True, "count": 0, "date_range": "2026-03-01", "events": []}


@pytest.mark.parametrize(
    ("start", "end", "expect"),
    [
        ("2026-03-01T00:00:00+08:00", "2026-03-08T00:00:00+08:00", "2026-03-01 ~ 2026-03-07"),
        ("2026-03-01T15:00:00+08:00", "2026-03-01T17:00:00+08:00", "2026-03-01 15:00 ~ 17:00"),
        ("2026-03-01T15:00:00+08:00", "2026-03-02T17:00:00+08:00", "2026-03-01 15:00 ~ 2026-03-02 17:00"),
        ("2026-02-28T16:00:00Z", "2026-03-01T16:00:00Z", "2026-03-01"),
    ],
)
async def test_the_time_that_was_read_is_told_on_the_reader_s_clock(
    session: AsyncSession, start: str, end: str, expect: str
):
    outcome = await call(session, "calendar_read", start=start, end=end)

    assert outcome.result["date_range"] == expect
