"""What a tool result is called in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agui_app.conversation.summaries import SUMMARY_MAX_LENGTH, SUMMARY_VERSION, build_tool_content_summary, item_text

VECTORS = Path(__file__).parents[1] / "vectors"
GOLDEN: list[dict[str, Any]] = json.loads((VECTORS / "summaries.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", GOLDEN, ids=[case["name"] for case in GOLDEN])
def test_the_golden_summaries_hold_to_the_letter(case: dict[str, Any]):
    locale = {"locale": case["locale"]} if "locale" in case else {}

    summary = build_tool_content_summary(case["tool_name"], case["args"], case["result"], case["error"], **locale)

    assert summary == case["expect"]


def test_the_version_is_one():
    assert SUMMARY_VERSION == 1


@pytest.mark.parametrize(
    ("error", "expect"),
    [
        (None, "x 执行完成"),
        (False, "x 执行完成"),
        ("", "x 执行完成"),
        ({}, "x 执行完成"),
        ([], "x 执行完成"),
        (True, "x 执行失败"),
        ("  ", "x 执行失败"),
        (["boom"], "x 执行失败"),
        (500, "x 执行失败：500"),
        ({"error": "e", "code": "c"}, "x 执行失败：e"),
        ({"message": " ", "code": 7}, "x 执行失败：7"),
        ({"error": {"message": "inner"}}, "x 执行失败：inner"),
        ({"message": {"a": 1}, "code": "c"}, "x 执行失败：c"),
    ],
)
def test_an_error_is_told_when_it_is_set(error: object, expect: str):
    assert build_tool_content_summary("x", {}, None, error) == expect


@pytest.mark.parametrize(
    ("tool_name", "args", "result", "locale", "expect"),
    [
        ("calendar_write", {"title": "a"}, {"action": "updated"}, "en", "Updated event: a"),
        ("calendar_write", {"title": "a", "startAt": " 2026-03-01t10:00:00z "}, {}, "en-US", None),
        ("calendar_write", {"title": "a"}, {"start_time": "20260301"}, "zh", "已创建日程：a（2026-03-01）"),
        ("calendar_write", {"title": 5, "startAt": 1767225600}, {}, "zh", "已创建日程：5（1767225600）"),
        ("calendar_write", {"title": "a"}, {"startAt": None, "start_time": "  "}, "zh", "已创建日程：a"),
        ("calendar_write", {"title": "a"}, "written", "zh", "已创建日程：a"),
        ("calendar_write", {"title": True}, {"ok": True}, "zh", "calendar_write 执行完成"),
        ("calendar_read", {}, {"count": True}, "zh", "calendar_read 执行完成"),
        ("calendar_read", {"dateRange": "r"}, {"count": 2}, "en", "Found 2 events (r)"),
        ("calendar_read", {}, {"count": float("nan")}, "en", "calendar_read done"),
        ("calendar_delete", {}, {"ok": True}, "en", "calendar_delete done"),
        ("calendar_delete", {}, {"eventId": "e"}, "en", "Deleted event: e"),
        ("calendar_share", {}, {"target": "Ann"}, "en", "Shared event with Ann"),
        ("calendar_share", {}, {"target": {"id": 1}}, "en", "calendar_share done"),
        ("user_resolve", {"userId": "u"}, {}, "en", "Matched user: u"),
        ("user_resolve", {"query": "u"}, {}, "en", "user_resolve done"),
        ("deploy", {}, {"ok": False}, "en", "deploy failed"),
        ("deploy", {}, {"message": "a", "summary": "b"}, "en", "a; b"),
        ("deploy", {}, {"content": "[not json", "message": "m"}, "zh", "[not json"),
        ("deploy", {}, {"content": " [1, 2]", "message": "m"}, "zh", "m"),
        ("deploy", {}, 1.5, "zh", "1.5"),
        ("deploy", {}, True, "zh", "true"),
        ("deploy", {}, " ", "zh", "deploy 执行完成"),
        (None, None, None, None, "tool 执行完成"),
    ],
)
def test_a_summary_comes_from_the_template_or_the_common_keys(
    tool_name: object, args: object, result: object, locale: object, expect: str | None
):
    expect = "Created event: a (2026-03-01 10:00)" if expect is None else expect
    assert build_tool_content_summary(tool_name, args, result, None, locale) == expect


@pytest.mark.parametrize(
    ("text", "expect"),
    [
        ("a\u2028b\u2029c\x85d\x0be\u3000f\x1b[0m", "a b c d e f [0m"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("x" * 198 + "👨\u200d👩\u200d👧" + "y", "x" * 198 + "…"),
        ("x" * 198 + "e\u0301" + "y", "x" * 198 + "…"),
        ("x" * 197 + "e\u0301" + "y" * 9, "x" * 197 + "e\u0301…"),
        ("a" + "\u0301" * 300, "…"),
    ],
)
def test_a_summary_is_cleaned_and_cut_between_clusters(text: str, expect: str):
    assert build_tool_content_summary("x", {}, text, None) == expect


PARTS = [{"type": "text", "text": "a"}, {"type": "image"}, 7, {"type": "text", "text": "b"}, {"type": "text"}]
CALENDAR = {"tool_name": "calendar_write", "args": {"title": "a"}, "error": None}


@pytest.mark.parametrize(
    ("content", "result", "expect"),
    [
        ("0", None, "0"),
        ("null", None, "null"),
        (" as it is\t", None, " as it is\t"),
        ("{not json", None, "{not json"),
        ("y" * 200, None, "y" * 200),
        ("y" * 201, None, "y" * 199 + "…"),
        ('"' + "y" * 200 + '"', None, "y" * 200),
        ("two\nlines", None, "two lines"),
        ("", None, "f 执行完成"),
        (" \n", {"message": "kept"}, "kept"),
        (None, {"message": "kept"}, "kept"),
        (None, None, "f 执行完成"),
        ('{"content": "12 hits", "items": []}', {"message": "not asked"}, "12 hits"),
        ("[1, 2]", None, "f 执行完成"),
        ("[" * 100_000 + "]" * 100_000, None, "f 执行完成"),
        ('{"a": ' + "1" * 5_000 + "}", None, "f 执行完成"),
        (PARTS, None, "a b"),
        ([{"type": "image"}], None, "f 执行完成"),
        ({"message": "an object"}, None, "an object"),
        (False, None, "false"),
    ],
)
def test_the_text_of_a_row_is_the_content_or_a_summary_of_it(content: object, result: object, expect: str):
    assert item_text(content, "f", {}, result, None) == expect


def test_the_text_of_a_row_follows_the_templates_the_error_and_the_locale():
    texts = [
        item_text('{"ok": true}', "calendar_write", {"title": "a"}, None, None, "en"),
        item_text('{"ok": true}', "calendar_write", {"title": "a"}, None, "boom", "en"),
        item_text("fine", "calendar_write", {"title": "a"}, None, "boom", "en"),
    ]

    assert texts == ["Created event: a", "calendar_write failed: boom", "fine"]


class Hostile(dict[str, object]):
    """A value whose every use fails."""

    def get(self, key: object, default: object = None) -> object:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


class HostileText(str):
    def lower(self) -> str:
        raise RuntimeError("no")

    def splitlines(self, keepends: bool = False) -> list[str]:
        raise RuntimeError("no")


def cyclic() -> dict[str, object]:
    value: dict[str, object] = {}
    value["message"] = value
    return value


def test_a_value_that_fails_does_not_fail_the_summary():
    def summary(args: object = None, result: object = None, error: object = None, locale: object = "zh") -> str:
        return build_tool_content_summary("calendar_write", args, result, error, locale)

    assert [
        summary(args=Hostile(), result={"title": "t", "startAt": "soon"}),
        summary(args=Hostile(), result={"message": "m"}),
        summary(result=Hostile()),
        summary(error=Hostile(a=1)),
        summary(args=cyclic(), result=cyclic(), error=cyclic()),
        summary(result=10**5_000),
        summary(locale=HostileText("en")),
        item_text(HostileText("a"), "f", {}, None, None),
    ] == [
        "已创建日程：t（soon）",
        "calendar_write 执行完成",
        "calendar_write 执行完成",
        "calendar_write 执行失败",
        "calendar_write 执行失败",
        "calendar_write 执行完成",
        "calendar_write 执行完成",
        "f 执行完成",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.binary() | st.just(Hostile(a=1)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["ok", "title", "content", "message", "count", "id", "startAt", "type", "text", "error"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
TOOL_NAMES = st.sampled_from(["calendar_write", "calendar_read", "calendar_delete", "user_resolve", "x", ""]) | JSON


@given(TOOL_NAMES, JSON, JSON, JSON, JSON | st.sampled_from(["zh", "en"]))
def test_any_call_gives_one_short_line(tool_name: object, args: object, result: object, error: object, locale: object):
    summary = build_tool_content_summary(tool_name, args, result, error, locale)

    assert summary.splitlines() == [summary]
    assert 0 < len(summary) <= SUMMARY_MAX_LENGTH
    assert summary == " ".join(summary.split())


@given(JSON | st.builds(json.dumps, st.recursive(st.text() | st.integers(), st.lists)), JSON, JSON)
def test_any_content_gives_one_short_line(content: object, result: object, error: object):
    text = item_text(content, "f", {}, result, error)

    assert text.splitlines() == [text]
    assert 0 < len(text) <= SUMMARY_MAX_LENGTH
