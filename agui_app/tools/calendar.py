"""The calendar tools: `create_calendar_event` and `calendar_read`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.protocol.ids import new_id
from agui_app.storage.calendar import CalendarEvent, Window, insert, overlapping
from agui_app.storage.change import Change, Changed
from agui_app.tools.cards import AGENT_GENERATED, DEFAULT_COLOR, LABELS, calendar_card, calendar_data, calendar_list
from agui_app.tools.registry import Tool, ToolContext, ToolOutcome
from agui_app.tools.times import range_told, read_time, read_zone
from agui_app.tools.validation import invalid_arguments

DEFAULT_LENGTH = timedelta(hours=1)
DEFAULT_LIMIT = 50
MAX_LIMIT = 500

_DAY_OR_TIME = [{"format": "date-time"}, {"format": "date-time-local"}, {"format": "date"}]


@dataclass(frozen=True, slots=True)
class _Span:
    """When an event is: two dates, the last one included, or two moments in UTC."""

    start: date | datetime
    end: date | datetime


async def create_calendar_event(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    """A new event, written when the outcome is committed.

    Raises: ToolError, code invalid_arguments.
    """
    zone = read_zone("timezone", args.get("timezone", context.timezone))
    span = _all_day(args, zone) if _is_all_day(args, zone) else _timed(args, zone)
    values = _values(context, args, span, zone)

    async def commit(session: AsyncSession) -> list[Change]:
        await insert(session, CalendarEvent(**values))  # made anew: a transaction may be tried twice
        return [Change(Changed.CALENDAR_CHANGED, values["id"])]

    event = CalendarEvent(**values)
    return ToolOutcome(
        result={"eventId": event.id, "ok": True, "message": LABELS[context.locale]["created"]},
        ui=calendar_card(event, context.locale),
        commit=commit,
    )


async def calendar_read(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    """The events that touch a half-open time. `has_more` is there when the limit cut some off.

    Raises: ToolError, code invalid_arguments.
    """
    zone = read_zone("timezone", context.timezone)
    start, end = read_time("start", args["start"], zone), read_time("end", args["end"], zone)
    if not isinstance(start, datetime) or not isinstance(end, datetime) or end <= start:
        raise invalid_arguments("end", f"{args['end']!r} is not after start {args['start']!r}")
    limit = int(args["limit"])  # 5.0 is an integer of JSON
    found = await overlapping(
        context.session, context.owner_id, Window(start, end, zone), text=args.get("text", "").strip(), limit=limit + 1
    )
    events = [calendar_data(event) for event in found[:limit]]
    date_range = range_told(start, end, zone)
    result: dict[str, Any] = {"ok": True, "count": len(events), "date_range": date_range, "events": events}
    return ToolOutcome(
        result=result | ({"has_more": True} if len(found) > limit else {}),
        ui=calendar_list(events, date_range, context.locale),
    )


def _is_all_day(args: dict[str, Any], zone: ZoneInfo) -> bool:
    return args.get("allDay") is True or not isinstance(read_time("startAt", args["startAt"], zone), datetime)


def _all_day(args: dict[str, Any], zone: ZoneInfo) -> _Span:
    first = _day("startAt", args["startAt"], zone)
    last = _day("endAt", args["endAt"], zone) if "endAt" in args else first
    if last < first:
        raise _ends_early(args)
    return _Span(first, last)


def _day(argument: str, text: str, zone: ZoneInfo) -> date:
    value = read_time(argument, text, zone)
    return value.astimezone(zone).date() if isinstance(value, datetime) else value


def _timed(args: dict[str, Any], zone: ZoneInfo) -> _Span:
    start = read_time("startAt", args["startAt"], zone)
    assert isinstance(start, datetime)
    end = read_time("endAt", args["endAt"], zone) if "endAt" in args else start + DEFAULT_LENGTH
    if not isinstance(end, datetime):
        raise invalid_arguments("endAt", f"{args['endAt']!r} is a date, but startAt {args['startAt']!r} has a time")
    if end < start:
        raise _ends_early(args)
    return _Span(start, end)


def _ends_early(args: dict[str, Any]) -> Exception:
    return invalid_arguments("endAt", f"{args['endAt']!r} is before startAt {args['startAt']!r}")


def _values(context: ToolContext, args: dict[str, Any], span: _Span, zone: ZoneInfo) -> dict[str, Any]:
    now = context.now.astimezone(UTC)
    if isinstance(span.start, datetime):
        when: dict[str, Any] = {"start_at": span.start, "end_at": span.end}
    else:
        when = {"all_day": True, "start_date": span.start.isoformat(), "end_date": span.end.isoformat()}
    return {
        "owner_id": context.owner_id,
        "id": new_id("evt"),
        "title": args["title"].strip(),
        "description": args.get("description"),
        "timezone": zone.key,
        "location": args.get("location"),
        "notes": args.get("notes"),
        "color": DEFAULT_COLOR,
        "source_type": AGENT_GENERATED,
        "created_at": now,
        "updated_at": now,
        **when,
    }


CREATE_CALENDAR_EVENT = Tool(
    name="create_calendar_event",
    description="创建一个日历事件或待办事项 · Creates an event, an all-day event or a to-do in the reader's calendar.",
    parameters={
        "type": "object",
        "properties": {
            "title": {
                "type": "string",
                "description": "事件标题 · title",
                "minLength": 1,
                "maxLength": 100,
                "pattern": r"\S",
            },
            "description": {"type": "string", "description": "事件描述 · description"},
            "startAt": {
                "type": "string",
                "anyOf": _DAY_OR_TIME,
                "description": "开始时间 (ISO 8601) · start; a date alone makes an all-day event; without an offset "
                "it is read in `timezone`",
            },
            "endAt": {
                "type": "string",
                "anyOf": _DAY_OR_TIME,
                "description": "结束时间 (ISO 8601) · end; without it one hour, or the same day. The last day of an "
                "all-day event is included",
            },
            "timezone": {"type": "string", "description": "IANA time zone; without it the reader's"},
            "location": {"type": "string", "description": "地点 · place"},
            "notes": {"type": "string", "description": "备注 · notes"},
            "allDay": {"type": "boolean", "description": "全天 · the whole day, whatever the time of startAt"},
        },
        "required": ["title", "startAt"],
    },
    handler=create_calendar_event,
)

CALENDAR_READ = Tool(
    name="calendar_read",
    description="查询日程 · Lists the events of the reader's calendar in a half-open time, earliest first.",
    parameters={
        "type": "object",
        "properties": {
            "start": {"type": "string", "format": "date-time", "description": "start of the time, with an offset"},
            "end": {
                "type": "string",
                "format": "date-time",
                "description": "end of the time, not included, with an offset",
            },
            "text": {
                "type": "string",
                "description": "only events whose title, description, place or notes hold this text",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        },
        "required": ["start", "end"],
    },
    handler=calendar_read,
)
