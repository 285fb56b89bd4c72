"""What the rule agent makes of a sentence. It is Saturday, 28 February 2026, nine in the morning in Shanghai."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agui_app.agents.rules.intent import Intent, Kind, read_intent
from tests.agents import house
from tests.agents.house import SHANGHAI, full

NOW = datetime.fromisoformat(house.NOW)


READ: list[tuple[str, str, str]] = [
    ("明天下午3点我有会吗", "03-01T15:00", "03-01T16:00"),
    ("明天下午有什么安排", "03-01T12:00", "03-01T18:00"),
    ("今晚有安排吗", "02-28T18:00", "03-01T00:00"),
    ("今天下午3点之后有空吗", "02-28T15:00", "03-01T00:00"),
    ("明天下午3点之前有空吗", "03-01T00:00", "03-01T15:00"),
    ("明天3点到5点我有空吗", "03-01T15:00", "03-01T17:00"),
    ("两小时后我有会吗", "02-28T11:00", "02-28T12:00"),
    ("我今天忙吗", "02-28T00:00", "03-01T00:00"),
    ("下周三有什么会议", "03-04T00:00", "03-05T00:00"),
    ("后天有没有安排", "03-02T00:00", "03-03T00:00"),
    ("帮我看看明天有什么会", "03-01T00:00", "03-02T00:00"),
    ("告诉我明天的安排", "03-01T00:00", "03-02T00:00"),
    ("明天的安排", "03-01T00:00", "03-02T00:00"),
    ("明天有什么", "03-01T00:00", "03-02T00:00"),
    ("下个月有哪些日程", "03-01T00:00", "04-01T00:00"),
    ("3月有什么安排", "03-01T00:00", "04-01T00:00"),
    ("明年有什么安排", "2027-01-01T00:00", "2028-01-01T00:00"),
    ("本周日程", "02-23T00:00", "03-02T00:00"),
    ("上周我有什么会议", "02-16T00:00", "02-23T00:00"),
    ("周末有空吗", "02-28T00:00", "03-02T00:00"),
    ("周一到周三有什么安排", "03-02T00:00", "03-05T00:00"),
    ("明天和后天有什么安排", "03-01T00:00", "03-03T00:00"),
    ("未来三天有什么安排", "02-28T00:00", "03-03T00:00"),
    ("未来两周有什么安排", "02-28T00:00", "03-14T00:00"),
    ("接下来一个月有什么安排", "02-28T00:00", "03-28T00:00"),
    ("最近有什么安排", "02-28T00:00", "03-07T00:00"),
    ("我的日程", "02-28T00:00", "03-07T00:00"),
    ("昨天我做了什么", "02-27T00:00", "02-28T00:00"),
    ("提醒我一下明天有什么安排", "03-01T00:00", "03-02T00:00"),
    ("我是不是安排了明天下午3点的会议", "03-01T15:00", "03-01T16:00"),
    ("你提醒我明天开会了吗", "03-01T00:00", "03-02T00:00"),
    ("明天3点开会吗", "03-01T15:00", "03-01T16:00"),
    ("could you tell me what's on tomorrow?", "03-01T00:00", "03-02T00:00"),
    ("can you remind me what's on tomorrow?", "03-01T00:00", "03-02T00:00"),
    ("do I have any meetings tomorrow at 3pm?", "03-01T15:00", "03-01T16:00"),
    ("am I free on Friday afternoon?", "03-06T12:00", "03-06T18:00"),
    ("Is there anything after 3pm tomorrow?", "03-01T15:00", "03-02T00:00"),
    ("what do I have before noon tomorrow", "03-01T00:00", "03-01T12:00"),
    ("what do I have this weekend", "02-28T00:00", "03-02T00:00"),
    ("show me my calendar for next week", "03-02T00:00", "03-09T00:00"),
    ("show me my calendar for the week after next", "03-09T00:00", "03-16T00:00"),
    ("list my events for March 5", "03-05T00:00", "03-06T00:00"),
    ("what events do I have in March", "03-01T00:00", "04-01T00:00"),
    ("are there any events this month?", "02-01T00:00", "03-01T00:00"),
    ("what are my plans for tonight?", "02-28T18:00", "03-01T00:00"),
    ("what meetings do I have in the next 3 days", "02-28T00:00", "03-03T00:00"),
    ("what meetings do I have in the coming weeks", "02-28T00:00", "04-18T00:00"),
    ("what meetings do I have over the next two months", "02-28T00:00", "04-28T00:00"),
    ("tomorrow's meetings", "03-01T00:00", "03-02T00:00"),
    ("schedule for tomorrow", "03-01T00:00", "03-02T00:00"),
    ("my calendar", "02-28T00:00", "03-07T00:00"),
    ("did I schedule a meeting tomorrow at 3?", "03-01T15:00", "03-01T16:00"),
    ("what did I do yesterday", "02-27T00:00", "02-28T00:00"),
    ("should I schedule a meeting for tomorrow at 3?", "03-01T15:00", "03-01T16:00"),
]


@pytest.mark.parametrize(("text", "start", "end"), READ, ids=[row[0] for row in READ])
def test_a_question_about_the_calendar_reads_it(text: str, start: str, end: str):
    intent = read_intent(text, NOW, SHANGHAI)

    assert (intent.kind, intent.tool) == (Kind.READ, "calendar_read")
    assert intent.args == {"start": full(start), "end": full(end)}


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("我什么时候有牙医预约", "牙医"),
        ("产品评审会议是什么时候", "产品评审"),
        ("我和王总的会是几点", "王总"),
        ("下一个会议是什么时候", None),
        ("when is my dentist appointment?", "dentist"),
        ("when is my next meeting?", None),
        ("what's next?", None),
    ],
)
def test_a_question_for_when_something_is_looks_for_it_in_the_next_months(text: str, sought: str | None):
    intent = read_intent(text, NOW, SHANGHAI)

    ahead = {"start": "2026-02-28T09:00:00+08:00", "end": "2026-05-29T00:00:00+08:00"}
    assert intent.args == (ahead | {"text": sought} if sought else ahead)


NOT_CALLED: list[tuple[str, Kind]] = [
    # a time alone, a thing alone
    ("", Kind.OTHER),
    ("明天", Kind.ASK_WHAT),
    ("明天下午3点", Kind.ASK_WHAT),
    ("半小时后", Kind.ASK_WHAT),
    ("周五晚上", Kind.ASK_WHAT),
    ("圣诞节", Kind.ASK_WHAT),
    ("明天3点在会议室A", Kind.ASK_WHAT),
    ("tomorrow", Kind.ASK_WHAT),
    ("3pm", Kind.ASK_WHAT),
    ("at 5", Kind.ASK_WHAT),
    ("noon", Kind.ASK_WHAT),
    ("it's 3pm", Kind.ASK_WHAT),
    ("明天见", Kind.ASK_WHAT),
    ("你能提醒我吗", Kind.ASK_WHAT),
    ("提醒我", Kind.ASK_WHAT),
    ("1小时后叫我", Kind.ASK_WHAT),
    ("can you remind me?", Kind.ASK_WHAT),
    ("Can you create events?", Kind.ASK_WHAT),
    ("remind me tomorrow at noon", Kind.ASK_WHAT),
    ("提醒我喝水", Kind.ASK_WHEN),
    ("安排会议", Kind.ASK_WHEN),
    ("remind me to drink water", Kind.ASK_WHEN),
    # no time that can be placed
    ("下周提醒我交报告", Kind.ASK_DAY),
    ("周末去爬山", Kind.ASK_DAY),
    ("next week remind me to submit the report", Kind.ASK_DAY),
    ("每周一上午9点开例会", Kind.REPEATING),
    ("remind me every day to take my pills", Kind.REPEATING),
    ("yoga on Mondays at 9", Kind.REPEATING),
    ("春节提醒我给爸妈打电话", Kind.ALMANAC),
    ("remind me on Easter to call grandma", Kind.ALMANAC),
    ("明天10点开会，3点看牙医", Kind.ASK_ONE),
    ("提醒我周一、周三下午3点上课", Kind.ASK_ONE),
    ("remind me on Monday and Thursday to water the plants", Kind.ASK_ONE),
    ("明天晚上八点和晚上十点各开一个会", Kind.ASK_ONE),
    ("meeting at 3pm and call at 5pm tomorrow", Kind.ASK_ONE),
    ("昨天下午3点开会", Kind.PAST),
    ("今天上午8点开会", Kind.PAST),
    ("meeting yesterday", Kind.PAST),
    ("meeting today at 8am", Kind.PAST),
    ("提醒我99999999999小时后开会", Kind.ASK_WHEN),
    # statements
    ("今天好累", Kind.ASK_WHETHER),
    ("明天是周日", Kind.ASK_WHETHER),
    ("我早上6点起床了", Kind.ASK_WHETHER),
    ("现在3点", Kind.ASK_WHETHER),
    ("我不想明天3点开会", Kind.ASK_WHETHER),
    ("明天加油干", Kind.ASK_WHETHER),
    ("I love Mondays", Kind.ASK_WHETHER),
    ("I was tired yesterday", Kind.ASK_WHETHER),
    ("I woke up at 6am", Kind.ASK_WHETHER),
    ("I'm busy tomorrow at 3", Kind.ASK_WHETHER),
    ("明天25点开会", Kind.NO_SUCH_TIME),
    ("schedule a meeting at 25:00 tomorrow", Kind.NO_SUCH_TIME),
    ("meeting tomorrow at 12:75", Kind.NO_SUCH_TIME),
    ("25点开会", Kind.OTHER),
    ("0号开会", Kind.OTHER),
    ("9999年12月31日晚上12点开会", Kind.ALMANAC),
    ("0001年1月1日开会", Kind.ALMANAC),
    ("99999999天后开会", Kind.ALMANAC),
    ("开会5000000天", Kind.ALMANAC),
    ("2月30日开会", Kind.ASK_DAY),
    ("3月8日到5日开会", Kind.ALMANAC),
    ("第十一点开会", Kind.OTHER),
    ("13月5日开会", Kind.OTHER),
    ("快一点", Kind.OTHER),
    ("我有3点建议", Kind.OTHER),
    ("坐5号线去", Kind.OTHER),
    # small talk and the world
    ("早上好", Kind.GREETING),
    ("good morning", Kind.GREETING),
    ("谢谢你", Kind.THANKS),
    ("thanks a lot!", Kind.THANKS),
    ("你能做什么", Kind.HELP),
    ("怎么创建日程", Kind.HELP),
    ("what can you do", Kind.HELP),
    ("How do I schedule a meeting?", Kind.HELP),
    ("今天天气怎么样", Kind.WEATHER),
    ("明天会下雨吗", Kind.WEATHER),
    ("what's the weather tomorrow?", Kind.WEATHER),
    ("什么是日程", Kind.OTHER),
    ("明天3点开会是什么意思", Kind.OTHER),
    ("为什么明天3点要开会？", Kind.OTHER),
    ("怎么提醒我明天3点开会呢", Kind.OTHER),
    ("圣诞节是哪天", Kind.OTHER),
    ("会议室在哪", Kind.OTHER),
    ("who won the game on Friday?", Kind.OTHER),
    ("Is Monday a holiday?", Kind.OTHER),
    ("When is Easter?", Kind.OTHER),
    ("why should I book a meeting tomorrow at 3?", Kind.OTHER),
    ("book a table tonight at 7?", Kind.OTHER),
    ("tell me a joke", Kind.OTHER),
    ("it works 24/7", Kind.OTHER),
    # what it cannot do
    ("取消明天的会议", Kind.CHANGE),
    ("把明天3点的会改到后天", Kind.CHANGE),
    ("不用提醒我明天开会", Kind.CHANGE),
    ("cancel my meeting tomorrow", Kind.CHANGE),
    ("move the 3pm meeting to Friday", Kind.CHANGE),
    ("don't remind me tomorrow", Kind.CHANGE),
]


@pytest.mark.parametrize(("text", "kind"), NOT_CALLED, ids=[row[0] for row in NOT_CALLED])
def test_anything_else_is_answered_without_a_call(text: str, kind: Kind):
    intent = read_intent(text, NOW, SHANGHAI)

    assert (intent.kind, intent.tool, intent.args) == (kind, None, {})


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("现在几点了", None),
        ("what time is it?", None),
        ("明天星期几", "2026-03-01"),
        ("what day is tomorrow?", "2026-03-01"),
    ],
)
def test_a_question_for_the_clock_names_the_day(text: str, day: str | None):
    intent = read_intent(text, NOW, SHANGHAI)

    assert (intent.kind, intent.day and intent.day.isoformat()) == (Kind.CLOCK, day)


@pytest.mark.parametrize(
    ("text", "tool", "args_text"),
    [
        ('#tool:a {"b": 1}', "a", '{"b": 1}'),
        (" #tool:a\n{bad json ", "a", "{bad json"),
        ("#tool:a", "a", ""),
        ('#tool:a{"b":1}', 'a{"b":1}', ""),
    ],
)
def test_a_forced_call_goes_through_as_it_is(text: str, tool: str, args_text: str):
    assert read_intent(text, NOW, SHANGHAI) == Intent(Kind.FORCED, tool=tool, args_text=args_text)


@pytest.mark.parametrize(
    ("text", "now", "timezone", "start"),
    [
        # the reader's day, not the server's
        ("remind me to stretch tomorrow at 9am", "2026-11-30T20:30:00Z", "Asia/Shanghai", "2026-12-02T09:00:00+08:00"),
        ("明天上午10点提醒我开会", "2026-02-28T09:00:00-05:00", "America/New_York", "2026-03-01T10:00:00-05:00"),
        # the nights the clocks change
        ("meeting tomorrow at 9am", "2026-03-07T12:00:00-05:00", "America/New_York", "2026-03-08T09:00:00-04:00"),
        ("meeting tomorrow at 2:30am", "2026-03-07T12:00:00-05:00", "America/New_York", "2026-03-08T03:30:00-04:00"),
        ("remind me in 2 hours to go", "2026-03-08T01:30:00-05:00", "America/New_York", "2026-03-08T04:30:00-04:00"),
        ("remind me in 2 hours to go", "2026-11-01T00:30:00-04:00", "America/New_York", "2026-11-01T01:30:00-05:00"),
        # seconds are not said
        ("半小时后提醒我开会", "2026-02-28T09:00:42.5+08:00", "Asia/Shanghai", "2026-02-28T09:30:00+08:00"),
        ("周二下午3点开会", "2026-03-03T16:00:00+08:00", "Asia/Shanghai", "2026-03-10T15:00:00+08:00"),
    ],
)
def test_times_are_the_readers(text: str, now: str, timezone: str, start: str):
    intent = read_intent(text, datetime.fromisoformat(now), timezone)

    assert (intent.args["startAt"], intent.args["timezone"]) == (start, timezone)


def test_a_span_that_began_this_week_ends_after_it_begins():
    tuesday = datetime.fromisoformat("2026-03-03T09:00:00+08:00")

    intent = read_intent("周一到周三有什么安排", tuesday, SHANGHAI)

    assert intent.args == {"start": "2026-03-09T00:00:00+08:00", "end": "2026-03-12T00:00:00+08:00"}


def test_a_long_title_is_cut_and_kept_whole_in_the_description():
    thing = "很" * 150
    intent = read_intent(f"提醒我明天{thing}", NOW, SHANGHAI)

    assert intent.args == {
        "title": "很" * 99 + "…",
        "startAt": "2026-03-01",
        "timezone": SHANGHAI,
        "description": thing,
    }


def test_what_is_longer_than_a_sentence_is_no_request():
    assert read_intent("提醒我明天" + "买菜" * 500, NOW, SHANGHAI) == Intent(Kind.TOO_LONG)


WORDS = (
    *("明天", "下周三", "3点", "半", "到", "5点半", "提醒我", "开会", "在会议室A", "吗", "月", "号", "，", "？", "\n"),
    *(" remind me ", " tomorrow ", " at 3 ", "pm", " to ", " from ", " Friday", "'s ", " in ", " half ", "99"),
)


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=12).map("".join))
def test_any_text_has_an_intent(text: str):
    intent: Any = read_intent(text, NOW, SHANGHAI)

    assert (intent.tool is None) == (intent.args_text == "") or intent.kind is Kind.FORCED
    assert 0 <= len(intent.title) <= 300
