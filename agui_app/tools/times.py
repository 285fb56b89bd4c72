"""Times in the arguments of a tool, read in a zone and told in one."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agui_app.tools.validation import invalid_arguments


def read_zone(argument: str, name: str) -> ZoneInfo:
    """The IANA zone called `name`.

    Raises: ToolError, code invalid_arguments.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: the name of a folder of zones
        raise invalid_arguments(argument, f"{name!r} is no IANA time zone, such as Europe/Berlin") from error


def read_time(argument: str, text: str, zone: ZoneInfo) -> date | datetime:
    """The day, or the moment in UTC, that `text` names; its format was checked. Without an offset it is told in `zone`.

    Raises: ToolError, code invalid_arguments: too near the ends of the calendar to be told in every zone.
    """
    value = _parsed(text)
    if not date.min.year < value.year < date.max.year:
        raise invalid_arguments(argument, f"{text!r} is outside the years {date.min.year + 1} to {date.max.year - 1}")
    if not isinstance(value, datetime):
        return value
    return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)


def _parsed(text: str) -> date | datetime:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text.upper())


def told(moment: datetime, zone: ZoneInfo) -> str:
    """`moment` on the clock of `zone`, RFC 3339."""
    return moment.astimezone(zone).isoformat(timespec="seconds")


def range_told(start: datetime, end: datetime, zone: ZoneInfo) -> str:
    """A half-open range for a reader in `zone`: days, the last one included, when it is made of whole days."""
    first, last = start.astimezone(zone), end.astimezone(zone)
    if first.time() == last.time() == time():
        days = (first.date().isoformat(), (last.date() - timedelta(days=1)).isoformat())
        return days[0] if days[0] == days[1] else " ~ ".join(days)
    if first.date() == last.date():
        return f"{first:%Y-%m-%d %H:%M} ~ {last:%H:%M}"
    return f"{first:%Y-%m-%d %H:%M} ~ {last:%Y-%m-%d %H:%M}"
