"""Times of events: integers of milliseconds on the wire, RFC 3339 in UTC everywhere else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_SAFE = 2**53 - 1


def rfc3339(timestamp_ms: int | None) -> str | None:
    """`2026-02-28T12:00:00.000Z`; None for none, and for one that no calendar has."""
    if timestamp_ms is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_timestamp_ms(value: object) -> int | None:
    """The integer of milliseconds that `value` stands for: an integer, a number, digits, or an ISO 8601 text."""
    match value:
        case bool():
            return None
        case int():
            return value if abs(value) <= _MAX_SAFE else None
        case float():
            return round(value) if abs(value) <= _MAX_SAFE else None
        case str():
            return _timestamp_of_text(value.strip())
        case _:
            return None


def _timestamp_of_text(text: str) -> int | None:
    try:
        return read_timestamp_ms(float(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round((aware - _EPOCH) / timedelta(milliseconds=1))
