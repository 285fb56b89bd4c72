"""What the rule agent says, in the reader's language."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from agui_app.agents.rules.intent import CREATE_TOOL, READ_TOOL, Intent, Kind
from agui_app.conversation.model import ToolResult
from agui_app.conversation.summaries import build_tool_content_summary

_WEEKDAYS = {
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}
_MONTHS = "January February March April May June July August September October November December"
"""Not of strftime: that speaks the language of the server."""

_ABILITIES = {
    "zh": "我能把事情记进日历（例如“明天上午10点提醒我开会”），也能告诉你有什么安排（例如“明天有什么安排？”）。",
    "en": "I can put things into your calendar (“remind me to call the bank tomorrow at 3pm”) and tell you what is on "
    "it (“what's on tomorrow?”).",
}

_SAID: dict[Kind, dict[str, str]] = {
    Kind.ASK_WHAT: {
        "zh": "要记什么事？请把事情和时间写在一句话里，例如“明天下午3点提醒我给客户打电话”。",
        "en": "What is it about? Please put it and its time in one sentence, such as “remind me to call Bob tomorrow "
        "at 3pm”.",
    },
    Kind.ASK_WHEN: {
        "zh": "“{title}”安排在什么时候？请把日期或时间也写上，例如“明天下午3点{title}”。",
        "en": "When is “{title}”? Please say it with a day or a time, such as “remind me tomorrow at 3pm: {title}”.",
    },
    Kind.ASK_DAY: {
        "zh": "“{title}”具体是哪一天？请告诉我日期，例如“下周三下午3点”。",
        "en": "On which day is “{title}”? Please name it, such as “next Wednesday at 3pm”.",
    },
    Kind.ASK_ONE: {
        "zh": "这句话里好像有不止一件事。请一件一件告诉我，我好逐个记下。",
        "en": "That sounds like more than one thing. Please tell me one at a time.",
    },
    Kind.ASK_WHETHER: {
        "zh": "我没看出要不要记进日历。如果要记，请说“提醒我……”，再加上日期或时间。",
        "en": "I cannot tell whether that belongs in your calendar. If it does, say “remind me to …” with a day or a "
        "time.",
    },
    Kind.PAST: {
        "zh": "这个时间已经过去了。“{title}”要安排在什么时候？",
        "en": "That time is over. When should “{title}” be?",
    },
    Kind.REPEATING: {
        "zh": "我还不会记重复的日程。要记一次的话，请告诉我具体是哪一天，例如“下周一上午9点{title}”。",
        "en": "I cannot make repeating events yet. For a single one, please name the day, such as “next Monday at 9am: "
        "{title}”.",
    },
    Kind.ALMANAC: {
        "zh": "我算不出那是哪一天。请告诉我具体是几月几日。",
        "en": "I cannot work out which day that is. Please name its date.",
    },
    Kind.CHANGE: {
        "zh": "我还不会修改或删除日程。",
        "en": "I cannot change or delete events yet.",
    },
    Kind.GREETING: {"zh": "你好！{abilities}", "en": "Hello! {abilities}"},
    Kind.THANKS: {"zh": "不客气！", "en": "You're welcome!"},
    Kind.HELP: {
        "zh": "我是一个按规则工作的日历助手，不联网。{abilities}",
        "en": "I am a calendar assistant that works by rules, without a network. {abilities}",
    },
    Kind.WEATHER: {
        "zh": "我不联网，查不到天气。{abilities}",
        "en": "I have no network, so I cannot look up the weather. {abilities}",
    },
    Kind.NO_SUCH_TIME: {
        "zh": "没有这样的时间。请告诉我几点几分，例如“下午3点半”。",
        "en": "There is no such time. Please name the hour again, such as “3:30 pm”.",
    },
    Kind.TOO_LONG: {
        "zh": "这段话太长了，我看不懂。请用一句话告诉我要记什么、在什么时候。",
        "en": "That is too long for me. Please say in one sentence what to note and when.",
    },
    Kind.NOTHING_NEW: {
        "zh": "没有新的内容需要回答。",
        "en": "There is nothing new to answer.",
    },
    Kind.OTHER: {
        "zh": "这个我答不上来。{abilities}",
        "en": "I have no answer to that. {abilities}",
    },
}

_CREATED = {
    "zh": "已为你创建日程“{title}”：{when}{place}。",
    "en": "Done: “{title}” is in your calendar, {when}{place}.",
}
_PLACE = {"zh": "，地点：{}", "en": ", at {}"}
_NOTHING = {"zh": "{range}没有日程。", "en": "There is nothing in your calendar for {range}."}
_FOUND = {"zh": "{range}有 {count} 个日程：", "en": "{count} events for {range}:"}
_FOUND_ONE = {"zh": "{range}有 1 个日程：", "en": "1 event for {range}:"}
_AND_MORE = {"zh": "……后面还有更多。", "en": "… and more after that."}
_FAILED = {"zh": "没有成功：{}", "en": "That did not work: {}"}
_ALL_DAY = {"zh": "全天", "en": "all day"}


def answer(intent: Intent, now: datetime, timezone: str, locale: str) -> str:
    """What to say to a sentence that needs no tool."""
    if intent.kind is Kind.CLOCK:
        return _clock(intent.day, now, timezone, locale)
    return _SAID[intent.kind][locale].format(title=intent.title, abilities=_ABILITIES[locale])


def report(tool: ToolResult, locale: str, timezone: str) -> str:
    """What came of a call, in words; times are those of the reader's `timezone` (IANA)."""
    if tool.error:
        return _FAILED[locale].format(_message(tool.error))
    told: str | None = None
    if tool.tool_name == CREATE_TOOL:
        told = _created(tool, locale, ZoneInfo(timezone))
    elif tool.tool_name == READ_TOOL:
        told = _read(_object(tool.result), locale, ZoneInfo(timezone))
    return told or build_tool_content_summary(tool.tool_name, tool.args, tool.result, None, locale)


def _message(error: object) -> str:
    return str(_object(error).get("message") or error)


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _created(tool: ToolResult, locale: str, zone: ZoneInfo) -> str | None:
    event = _object(_object(tool.ui).get("data")) or _object(tool.args)
    when = _when(event, locale, zone)
    if when is None or not event.get("title"):
        return None
    place = _PLACE[locale].format(event["location"]) if event.get("location") else ""
    return _CREATED[locale].format(title=event["title"], when=when, place=place)


def _read(result: dict[str, Any], locale: str, zone: ZoneInfo) -> str | None:
    events = result.get("events")
    if not isinstance(events, list):
        return None
    asked = _range(str(result.get("date_range", "")), locale)
    if not events:
        return _NOTHING[locale].format(range=asked)
    head = (_FOUND_ONE if len(cast("list[object]", events)) == 1 else _FOUND)[locale]
    lines = [_line(_object(event), locale, zone) for event in cast("list[object]", events)]
    more = [_AND_MORE[locale]] if result.get("has_more") else []
    return "\n".join((head.format(range=asked, count=len(lines)), "", *lines, *more))


def _line(event: dict[str, Any], locale: str, zone: ZoneInfo) -> str:
    place = _PLACE[locale].format(event["location"]) if event.get("location") else ""
    gap = " " if locale == "zh" else ": "
    return f"- {_when(event, locale, zone) or ''}{gap}{event.get('title', '')}{place}"


def _when(event: dict[str, Any], locale: str, zone: ZoneInfo) -> str | None:
    start, end = (_local(_time(event.get(name)), zone) for name in ("startAt", "endAt"))
    if start is None:
        return None
    if not isinstance(start, datetime):
        last = end if end and end != start else None
        days = _day(start, locale) + (f" – {_day(last, locale)}" if last else "")
        return f"{days}（{_ALL_DAY[locale]}）" if locale == "zh" else f"{days} ({_ALL_DAY[locale]})"
    until = ""
    if isinstance(end, datetime) and end != start:
        same_day = end.date() == start.date()
        until = f"–{end:%H:%M}" if same_day else f" – {_day(end, locale)}{'' if locale == 'zh' else ', '}{end:%H:%M}"
    return f"{_day(start, locale)}{'' if locale == 'zh' else ', '}{start:%H:%M}{until}"


def _time(text: object) -> date | datetime | None:
    if not isinstance(text, str):
        return None
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def _local(time: date | datetime | None, zone: ZoneInfo) -> date | datetime | None:
    """A moment on the reader's clock; a day, and a time that names no zone, stay what they are."""
    if not isinstance(time, datetime) or time.tzinfo is None:
        return time
    try:
        return time.astimezone(zone)
    except OverflowError:  # the first or the last day that there is
        return time


def _day(value: date, locale: str) -> str:
    weekday = _WEEKDAYS[locale][value.weekday()]
    if locale == "zh":
        return f"{value.year}年{value.month}月{value.day}日（{weekday}）"
    return f"{weekday}, {_MONTHS.split()[value.month - 1]} {value.day}, {value.year}"


def _range(text: str, locale: str) -> str:
    """The words for a `date_range` of the calendar tool: its days by name, anything finer as it is."""
    days = [_time(part) for part in text.split(" ~ ")]
    named = [_day(value, locale) for value in days if value is not None and not isinstance(value, datetime)]
    return (" 至 " if locale == "zh" else " to ").join(named) if len(named) == len(days) else text


def _clock(day: date | None, now: datetime, timezone: str, locale: str) -> str:
    if day is not None:
        return f"{_day(day, locale)}。" if locale == "zh" else f"{_day(day, locale)}."
    words = _day(now, locale)
    return f"现在是{words}{now:%H:%M}，{timezone}。" if locale == "zh" else f"It is {words}, {now:%H:%M} ({timezone})."
