"""The cards that the calendar tools give back, and their words in the run's language."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from agui_app.storage.calendar import CalendarEvent
from agui_app.tools.times import told

DEFAULT_COLOR = "#4F46E5"
AGENT_GENERATED = "agentGenerated"

LABELS = {
    "zh": {"open": "打开", "edit": "编辑", "delete": "删除", "events": "日程", "created": "日程已创建"},
    "en": {"open": "Open", "edit": "Edit", "delete": "Delete", "events": "Events", "created": "Event created"},
}
"""Locale -> the words on cards."""


def calendar_data(event: CalendarEvent) -> dict[str, Any]:
    """The data of `calendar_card.v1`: times in the event's own zone, absent instead of null."""
    data = {
        "id": event.id,
        "title": event.title,
        "description": event.description,
        "startAt": event.start_date,
        "endAt": event.end_date,
        "allDay": event.all_day or None,
        "timezone": event.timezone,
        "location": event.location,
        "color": event.color,
        "sourceType": event.source_type,
    }
    if event.start_at is not None and event.end_at is not None:
        zone = ZoneInfo(event.timezone)
        data |= {"startAt": told(event.start_at, zone), "endAt": told(event.end_at, zone)}
    return {key: value for key, value in data.items() if value is not None}


def calendar_card(event: CalendarEvent, locale: str) -> dict[str, Any]:
    """`calendar_card.v1` of an event of ours."""
    words = LABELS[locale]
    return {
        "type": "card",
        "cardType": "calendar_card.v1",
        "data": calendar_data(event),
        "actions": [
            {"type": "open", "label": words["open"], "target": f"calendar/{event.id}"},
            {"type": "edit", "label": words["edit"], "action": "edit_event"},
            {"type": "delete", "label": words["delete"], "action": "delete_event"},
        ],
    }


def calendar_list(events: list[dict[str, Any]], date_range: str, locale: str) -> dict[str, Any]:
    """`calendar_list.v1` of events that are calendar_card data."""
    data = {"title": LABELS[locale]["events"], "range": date_range, "events": events}
    return {"type": "card", "cardType": "calendar_list.v1", "data": data, "actions": []}
