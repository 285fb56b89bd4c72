from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agui_app.conversation.partial_json import is_readable, read_json, read_partial


def extends(later: Any, earlier: Any) -> bool:
    """Whether `later` takes back nothing of `earlier`."""
    if earlier is None:
        return True
    if isinstance(earlier, str) and isinstance(later, str):
        return later.startswith(earlier)
    if isinstance(earlier, list) and isinstance(later, list):
        return len(later) >= len(earlier) and all(map(extends, later, earlier))
    if isinstance(earlier, dict) and isinstance(later, dict):
        return all(key in later and extends(later[key], value) for key, value in earlier.items())
    return later == earlier


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"😀","n":[-1]}',
        r'{"a":"\ud83d\ude00 \"\\ \u4f60\n","n":[-12.5e+3, true, null], "o":{"k":{}}}',
        r'{"lone":"\ud83dx \ude00 \ud83d\ud83d\u0041"}',
        "  [1, 22, 3]  ",
        '"text"',
    ],
)
def test_arguments_cut_anywhere_are_read_as_far_as_they_go(text: str):
    readings = [read_partial(text[:length]) for length in range(1, len(text) + 1)]
    assert [step for step in pairwise(readings) if not extends(step[1], step[0])] == []
    assert readings[-1] == read_json(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans(), st.data())
def test_a_longer_text_takes_nothing_back(value: Any, escaped: bool, data: st.DataObject):
    text = json.dumps(value, ensure_ascii=escaped)
    first = data.draw(st.integers(0, len(text)))
    second = data.draw(st.integers(first, len(text)))
    assert extends(read_partial(text[:second]), read_partial(text[:first]) if first else None)
    assert extends(read_partial(text), read_partial(text[:second]) if second else None)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_no_arguments_are_an_empty_object(text: str):
    assert (is_readable(text), read_json(text), read_partial(text)) == (True, {}, None)


@pytest.mark.parametrize(
    "text", ['{"a":', "nonsense", '{"a":NaN}', "[" * 5000, "[" * 200 + "]" * 200, "9" * 5000, "{} x"]
)
def test_what_is_no_json_is_unreadable(text: str):
    assert (is_readable(text), read_json(text)) == (False, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", None),
        ("nonsense", None),
        ('{"a":', {}),
        ('{"a":1', {}),
        ('{"a":1,', {"a": 1}),
        ('{"a":tru', {}),
        ('{"a":"1', {"a": "1"}),
    ],
)
def test_open_numbers_and_words_are_left_out_and_open_text_grows(text: str, value: Any):
    assert read_partial(text) == value


def test_values_are_made_sound():
    assert read_json(r'{"a":"\ud83d","b":"\u0000"}') == {"a": "\ufffd", "b": "\ufffd"}


def test_values_are_read_to_the_letter():
    assert read_json('{"big": 12345678901234567890, "null": null}') == {"big": 12345678901234567890, "null": None}
