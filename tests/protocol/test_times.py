from __future__ import annotations

import pytest

from agui_app.protocol.times import read_timestamp_ms, rfc3339

NOON = 1_772_280_000_000


@pytest.mark.parametrize(
    ("timestamp_ms", "text"),
    [
        (NOON, "2026-02-28T12:00:00.000Z"),
        (NOON + 7, "2026-02-28T12:00:00.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (None, None),
        (10**18, None),
        (2**53, None),
    ],
)
def test_milliseconds_as_rfc_3339(timestamp_ms: int | None, text: str | None):
    assert rfc3339(timestamp_ms) == text


@pytest.mark.parametrize(
    ("value", "timestamp_ms"),
    [
        (NOON, NOON),
        (1.5, 2),
        ("1772280000000", NOON),
        ("2026-02-28T12:00:00Z", NOON),
        ("2026-02-28T20:00:00+08:00", NOON),
        ("2026-02-28T12:00:00", NOON),
        (" 2026-02-28T12:00:00.007Z ", NOON + 7),
        ("soon", None),
        ("nan", None),
        (float("inf"), None),
        (True, None),
        (2**53, None),
        (None, None),
        ([], None),
    ],
)
def test_timestamps_are_read_whatever_their_form(value: object, timestamp_ms: int | None):
    assert read_timestamp_ms(value) == timestamp_ms


@pytest.mark.parametrize("timestamp_ms", [0, NOON, NOON + 999, 253_402_300_799_999])
def test_what_is_written_is_read_again(timestamp_ms: int):
    assert read_timestamp_ms(rfc3339(timestamp_ms)) == timestamp_ms
