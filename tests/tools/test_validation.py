"""What a tool's schema lets through, and what is said about the rest."""

from __future__ import annotations

from typing import Any

import pytest

from agui_app.errors import ToolError
from agui_app.tools.validation import FORMATS, checked_arguments, read_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 5},
        "at": {"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date-time-local"}, {"format": "date"}]},
        "until": {"type": "string", "format": "date-time"},
        "either": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
        "limit": {"type": "integer", "default": 50},
        "place": {"type": "object", "properties": {"floor": {"type": "integer", "default": 1}}},
        "tags": {"type": "array", "items": {"type": "string"}, "default": []},
    },
    "required": ["title"],
}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "'title' is a required property"),
        ({"title": ""}, "'title': '' should be non-empty"),
        ({"title": "a" * 6}, "'title': 'aaaaaa' is too long"),
        ({"title": 5, "limit": "x"}, "'title': 5 is not of type 'string'; 'limit': 'x' is not of type 'integer'"),
        ({"title": "a", "at": "soon"}, "'at': 'soon' is none of date-time, date-time-local, date"),
        ({"title": "a", "until": "2026-03-01"}, "'until': '2026-03-01' is not a 'date-time'"),
        ({"title": "a", "until": "2026-02-30T10:00:00Z"}, "'until': '2026-02-30T10:00:00Z' is not a 'date-time'"),
        ({"title": "a", "either": "x"}, "'either': 'x' is not valid under any of the given schemas"),
        ({"title": "a", "tags": ["b", 1]}, "'tags.1': 1 is not of type 'string'"),
        ([], "the arguments must be a JSON object"),
        (None, "the arguments must be a JSON object"),
    ],
)
def test_a_failure_names_the_argument_and_the_rule(args: object, message: str):
    with pytest.raises(ToolError) as caught:
        checked_arguments(SCHEMA, args)

    assert (caught.value.detail, caught.value.tool_code) == (message, "invalid_arguments")


def test_a_huge_value_leaves_room_for_the_rule():
    with pytest.raises(ToolError) as caught:
        checked_arguments(SCHEMA, {"title": "a" * 10_000})

    assert caught.value.detail == f"'title': '{'a' * 149}…{'a' * 137}' is too long"


@pytest.mark.parametrize(
    "at",
    ["2026-03-08", "2026-03-08T10:00:00Z", "2026-03-08T10:00:00.5+08:00", "2026-03-08T10:00", "2026-03-08T10:00:30"],
)
def test_a_day_or_a_time_with_or_without_an_offset_is_let_through(at: str):
    assert checked_arguments(SCHEMA, {"title": "a", "at": at})["at"] == at


@pytest.mark.parametrize("at", ["2026-13-08", "20260308", "2026-03-08T25:00", "2026-02-30T10:00", "10:00", ""])
def test_what_is_no_day_and_no_time_is_not_let_through(at: str):
    with pytest.raises(ToolError, match="'at'"):
        checked_arguments(SCHEMA, {"title": "a", "at": at})


def test_formats_are_rules_and_say_nothing_about_what_is_no_text():
    assert {"date", "date-time", "date-time-local"} <= set(FORMATS.checkers)
    assert all(FORMATS.conforms(5, name) for name in FORMATS.checkers)


def test_defaults_are_filled_into_a_copy():
    args: dict[str, Any] = {"title": "a", "place": {}}

    checked = checked_arguments(SCHEMA, args)
    checked["tags"].append("changed")

    assert checked == {"title": "a", "place": {"floor": 1}, "limit": 50, "tags": ["changed"]}
    assert args == {"title": "a", "place": {}}
    assert checked_arguments(SCHEMA, args)["tags"] == []


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_no_arguments_are_an_empty_object(text: str):
    assert read_arguments(text) == {}


@pytest.mark.parametrize("text", ["{bad json", '{"a": NaN}', "[" * 100_000, "{'a': 1}", "[" + "1" * 5_000 + "]"])
def test_arguments_that_are_no_json_are_told_as_that(text: str):
    with pytest.raises(ToolError, match="not valid JSON") as caught:
        read_arguments(text)

    assert caught.value.tool_code == "invalid_json"


def test_texts_in_arguments_are_made_sound():
    assert read_arguments('{"a": "x\\u0000\\ud800"}') == {"a": "x\ufffd\ufffd"}
