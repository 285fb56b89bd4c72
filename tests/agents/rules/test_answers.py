"""What the rule agent says."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from agui_app.agents.rules.answers import answer, report
from agui_app.agents.rules.intent import Intent, Kind
from agui_app.conversation.model import ToolResult

NOW = datetime.fromisoformat("2026-02-28T09:00:00+08:00")
TIMED = {
    "id": "e1",
    "title": "评审",
    "startAt": "2026-03-01T10:00:00+08:00",
    "endAt": "2026-03-01T11:00:00+08:00",
    "location": "会议室A",
}
ALL_DAY = {"id": "e2", "title": "年假", "startAt": "2026-03-08", "endAt": "2026-03-10", "allDay": True}


def told(name: str, locale: str, *, timezone: str = "Asia/Shanghai", **fields: Any) -> str:
    return report(ToolResult(call_id="c", tool_name=name, **fields), locale, timezone)


def card(data: dict[str, Any]) -> dict[str, Any]:
    return {"type": "card", "cardType": "calendar_card.v1", "data": data, "actions": []}


@pytest.mark.parametrize(
    ("locale", "data", "expect"),
    [
        ("zh", TIMED, "已为你创建日程“评审”：2026年3月1日（周日）10:00–11:00，地点：会议室A。"),
        ("en", TIMED, "Done: “评审” is in your calendar, Sunday, March 1, 2026, 10:00–11:00, at 会议室A."),
        ("zh", ALL_DAY, "已为你创建日程“年假”：2026年3月8日（周日） – 2026年3月10日（周二）（全天）。"),
        ("en", ALL_DAY | {"endAt": "2026-03-08"}, "Done: “年假” is in your calendar, Sunday, March 8, 2026 (all day)."),
        (
            "en",
            TIMED | {"endAt": "2026-03-02T01:00:00+08:00", "location": None},
            "Done: “评审” is in your calendar, Sunday, March 1, 2026, 10:00 – Monday, March 2, 2026, 01:00.",
        ),
        ("en", {"startAt": "soon"}, "Created event: 评审 (2026-03-01 10:00)"),
    ],
)
def test_a_created_event_is_told_with_its_time_in_words(locale: str, data: dict[str, Any], expect: str):
    args = {"title": TIMED["title"], "startAt": TIMED["startAt"]}

    assert told("create_calendar_event", locale, args=args, result={"ok": True}, ui=card(data)) == expect


def test_without_a_card_the_arguments_are_told():
    args = {"title": "评审", "startAt": "2026-03-08"}

    assert told("create_calendar_event", "zh", args=args) == "已为你创建日程“评审”：2026年3月8日（周日）（全天）。"
    assert told("create_calendar_event", "zh", args={"startAt": "2026-03-08"}) == "create_calendar_event 执行完成"


@pytest.mark.parametrize(
    ("locale", "result", "expect"),
    [
        ("zh", {"date_range": "2026-03-01", "events": []}, "2026年3月1日（周日）没有日程。"),
        (
            "en",
            {"date_range": "2026-03-01", "events": []},
            "There is nothing in your calendar for Sunday, March 1, 2026.",
        ),
        (
            "zh",
            {"date_range": "2026-03-01 ~ 2026-03-10", "events": [TIMED, ALL_DAY], "has_more": True},
            "2026年3月1日（周日） 至 2026年3月10日（周二）有 2 个日程：\n\n"
            "- 2026年3月1日（周日）10:00–11:00 评审，地点：会议室A\n"
            "- 2026年3月8日（周日） – 2026年3月10日（周二）（全天） 年假\n"
            "……后面还有更多。",
        ),
        (
            "en",
            {"date_range": "2026-03-01 15:00 ~ 16:00", "events": [TIMED]},
            "1 event for 2026-03-01 15:00 ~ 16:00:\n\n- Sunday, March 1, 2026, 10:00–11:00: 评审, at 会议室A",
        ),
        ("en", {"count": 2}, "Found 2 events"),
        ("en", "odd", "odd"),
    ],
)
def test_what_was_read_is_a_list_in_order(locale: str, result: Any, expect: str):
    assert told("calendar_read", locale, result=result) == expect


@pytest.mark.parametrize(
    ("event", "expect"),
    [
        (TIMED, "- Sunday, March 1, 2026, 03:00–04:00: 评审, at 会议室A"),
        (ALL_DAY, "- Sunday, March 8, 2026 – Tuesday, March 10, 2026 (all day): 年假"),
        ({"title": "x", "startAt": "2026-03-01T10:00:00"}, "- Sunday, March 1, 2026, 10:00: x"),
        ({"title": "x", "startAt": "0001-01-01T00:00:00+08:00"}, "- Monday, January 1, 1, 00:00: x"),
    ],
)
def test_a_moment_is_told_on_the_readers_clock_a_day_as_it_is(event: dict[str, Any], expect: str):
    result = {"date_range": "2026-03-01", "events": [event]}

    assert told("calendar_read", "en", timezone="Europe/Berlin", result=result).splitlines()[-1] == expect


@pytest.mark.parametrize(
    ("error", "expect"),
    [("boom", "That did not work: boom"), ({"message": "boom", "code": "x"}, "That did not work: boom")],
)
def test_a_failure_says_what_went_wrong(error: Any, expect: str):
    assert told("calendar_read", "en", error=error) == expect
    assert told("calendar_read", "zh", error="boom") == "没有成功：boom"


def test_the_result_of_any_other_tool_is_its_summary():
    assert told("echo", "en", result={"content": "hello"}) == "hello"


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.FORCED, Kind.CREATE, Kind.READ)])
def test_every_kind_of_sentence_has_an_answer_in_both_languages(kind: Kind):
    answers = [answer(Intent(kind, title="喝水"), NOW, "Asia/Shanghai", locale) for locale in ("zh", "en")]

    assert all(answers)
    assert answers[0] != answers[1]
    assert not any("{" in said for said in answers)


@pytest.mark.parametrize(
    ("day", "locale", "expect"),
    [
        (None, "zh", "现在是2026年2月28日（周六）09:00，Asia/Shanghai。"),
        (None, "en", "It is Saturday, February 28, 2026, 09:00 (Asia/Shanghai)."),
        (date(2026, 3, 1), "zh", "2026年3月1日（周日）。"),
        (date(2026, 3, 1), "en", "Sunday, March 1, 2026."),
    ],
)
def test_a_question_for_the_clock_is_answered(day: date | None, locale: str, expect: str):
    assert answer(Intent(Kind.CLOCK, day=day), NOW, "Asia/Shanghai", locale) == expect
