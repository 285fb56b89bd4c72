from __future__ import annotations

from datetime import date

import pytest

from agui_app.protocol.events import EventType
from agui_app.protocol.sanitise import MAX_DEPTH, TooDeep, sanitise, sanitise_text


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("plain 你好 🌍", "plain 你好 🌍"),
        ("a\x00b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("x\ud83d", "x\ufffd"),
        ("\x0b\x0c\x85\u2028", "\x0b\x0c\x85\u2028"),
    ],
)
def test_text_is_made_sound_and_nothing_else_is_changed(text: str, sound: str):
    assert sanitise_text(text) == sound


def test_values_become_plain_json():
    value = {"a\x00": (1, True, None, 1.5, float("nan"), float("inf")), 7: [EventType.RAW, date(2026, 3, 8)]}
    assert sanitise(value) == {"a\ufffd": [1, True, None, 1.5, None, None], "7": ["RAW", "2026-03-08"]}
    assert type(sanitise(EventType.RAW)) is str


def test_nesting_has_an_end():
    deep: list[object] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert sanitise(deep) == deep
    with pytest.raises(TooDeep):
        sanitise([deep])
