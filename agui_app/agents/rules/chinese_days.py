"""The grammar of days in Chinese."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agui_app.agents.rules.numerals import CHINESE as N
from agui_app.agents.rules.numerals import chinese_number as number
from agui_app.agents.rules.tokens import (
    Built,
    Part,
    Repeat,
    Unreadable,
    day,
    holiday,
    month,
    month_start,
    months_later,
    named_month,
    next_date,
    next_day_of_month,
    rules,
    span,
    week,
    weekday,
    weekend,
)

_RELATIVE = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
# not the 下 of 提醒一下周三, nor the 上 of 早上周会
_REL = r"(?:(?<![一早晚])(?P<rel>上上|上|这|本|下下|下)一?个?)"
_YEARS = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_YEAR = r"(?:(?P<year>\d{4}|[零〇一二三四五六七八九]{4}|[前去今明后])年的?\s*)"
_WEEK = r"(?:周|星期|礼拜)"
_WEEKDAYS = (
    {char: index for index, char in enumerate("一二三四五六日")}
    | {"天": 6}
    | {str(index + 1): index for index in range(7)}
)
# 日 also begins 日程, and 号 ends what is no day: 5号线, 3号会议室
_DAY = r"(?:日(?![程历常报志用期记])|号(?![线楼门厅馆房桌院店机口码公台车教]|会议))"
_TO = r"\s*(?:到|至|-|–|—|~|～)\s*"

_DAY_WORDS = {"大前天": -3, "前天": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后天": 3}
_PARTS = {
    **dict.fromkeys(("早", "晨", "早上", "上午"), Part.MORNING),
    **dict.fromkeys(("晚", "夜", "晚上"), Part.EVENING),
    "中午": Part.NOON,
    "下午": Part.AFTERNOON,
}

_HOLIDAYS = {
    "元旦": (1, 1),
    "情人节": (2, 14),
    "妇女节": (3, 8),
    "愚人节": (4, 1),
    "劳动节": (5, 1),
    "五一": (5, 1),
    "儿童节": (6, 1),
    "教师节": (9, 10),
    "国庆": (10, 1),
    "万圣节": (10, 31),
    "平安夜": (12, 24),
    "圣诞": (12, 25),
    "跨年夜": (12, 31),
}
_MOVABLE = "春节|除夕|元宵|清明|端午|七夕|中秋|重阳|大年|正月|腊月|农历|阴历|感恩节|复活节|母亲节|父亲节"


def _year(text: str | None, today: date) -> int | None:
    if text is None:
        return None
    return today.year + _YEARS[text] if text in _YEARS else number(text)


def _weeks(match: re.Match[str]) -> int | None:
    return _RELATIVE[match["rel"]] if match["rel"] else None


def _month_day(match: re.Match[str], today: date) -> Built:
    return day(match, next_date(today, number(match["mon"]), number(match["day"]), _year(match["year"], today)))


def _month_days(match: re.Match[str], today: date) -> Built:
    first = next_date(today, number(match["mon"]), number(match["day"]), _year(match["year"], today))
    return span(match, first, first.replace(day=number(match["last"])))


def _relative_month_day(match: re.Match[str], today: date) -> Built:
    return day(match, month_start(today, _RELATIVE[match["rel"]]).replace(day=number(match["day"])))


def _month_end(match: re.Match[str], today: date) -> Built:
    return day(match, month_start(today, (_weeks(match) or 0) + 1) - timedelta(days=1))


def _days_of_month(match: re.Match[str], today: date) -> Built:
    first = next_day_of_month(today, number(match["day"]))
    return span(match, first, first.replace(day=number(match["last"])))


def _day_of_month(match: re.Match[str], today: date) -> Built:
    return day(match, next_day_of_month(today, number(match["day"])))


def _month(match: re.Match[str], today: date) -> Built:
    return named_month(match, today, number(match["mon"]), _year(match["year"], today))


def _whole_year(match: re.Match[str], today: date) -> Built:
    year = today.year + _YEARS[match["year"]]
    return day(match, date(year, 1, 1), date(year, 12, 31))


def _day_word(match: re.Match[str], today: date) -> Built:
    word = match[0]
    return day(match, today + timedelta(days=_DAY_WORDS[word if word in _DAY_WORDS else word[0]]))


def _day_and_part(match: re.Match[str], today: date) -> Built:
    return day(match, today + timedelta(days=_DAY_WORDS[match["word"]]), part=_PARTS[match["part"]])


def _days_after(match: re.Match[str], today: date) -> Built:
    n, unit = number(match["n"]), match["unit"]
    if unit in ("月", "年"):
        return day(match, months_later(today, n if unit == "月" else 12 * n))
    return day(match, today + timedelta(days=n if unit == "天" else 7 * n))


def _coming_days(match: re.Match[str], today: date) -> Built:
    n, unit = match["n"], match["unit"] or "天"
    count = number(n) if n and n != "几" else {"天": 7}.get(unit, 1)
    if unit == "月":
        return day(match, today, months_later(today, count) - timedelta(days=1))
    return day(match, today, today + timedelta(days=count * (1 if unit == "天" else 7) - 1))


DAYS = rules(
    (
        rf"每(?:个|隔)?(?:{_WEEK}[一二三四五六日天1-7]?|[天日晚早月年]|工作日|{N}(?:天|个?月|年|小时|分钟|周|个星期))|(?<![今明昨后前])天天(?!气)",
        lambda m, _: Repeat(start=m.start(), end=m.end()),
    ),
    (_MOVABLE, lambda m, _: Unreadable(start=m.start(), end=m.end())),
    (
        rf"(?P<name>{'|'.join(_HOLIDAYS)})(?:节?(?:假期|长假|当天)|节)?",
        lambda m, today: holiday(m, today, _HOLIDAYS[m["name"]]),
    ),
    (rf"{_YEAR}?(?P<mon>{N})月(?P<day>{N}){_DAY}?{_TO}(?P<last>{N}){_DAY}", _month_days),
    (rf"{_YEAR}?(?P<mon>{N})月份?的?(?P<day>{N})(?:{_DAY}|(?![\d个点时月年:：天周号日十]))", _month_day),
    (rf"{_REL}月的?(?P<day>{N}){_DAY}", _relative_month_day),
    (rf"{_REL}?月[底末]", _month_end),
    (rf"(?<![第月\dA-Za-z])(?P<day>{N}){_DAY}?{_TO}(?P<last>{N}){_DAY}", _days_of_month),
    (rf"(?<![第月\dA-Za-z])(?P<day>{N}){_DAY}", _day_of_month),
    (rf"{_REL}?{_WEEK}(?:末|六日)", lambda m, today: weekend(m, today, _weeks(m) or 0)),
    (
        rf"{_REL}?(?<![一两二三四五六七八九十每\d]){_WEEK}(?P<wd>[一二三四五六1-7]|[日天](?![程历常报气]))",
        lambda m, today: weekday(m, today, _WEEKDAYS[m["wd"]], _weeks(m)),
    ),
    (rf"{_REL}{_WEEK}", lambda m, today: week(m, today, _weeks(m) or 0)),
    (rf"{_REL}月", lambda m, today: month(m, today, _weeks(m) or 0)),
    (rf"{_YEAR}?(?P<mon>{N})月份?", _month),
    (r"(?P<year>[去今明后])年", _whole_year),
    (
        r"(?P<word>[昨今]|(?<![说声证])明)(?P<part>早上|上午|中午|下午|晚上(?![班课网海台])|早|晨|晚|夜)",
        _day_and_part,
    ),
    (r"大前天|前天|大后天|[昨今明后]天|[昨今明后]日|[今明]儿", _day_word),
    (
        rf"(?:再?过)?(?<![第\d])(?P<n>{N})(?:个)?(?P<unit>天|周|星期|礼拜|月|年)(?:之后|以后|过后|后(?![天面台端续来]))",
        _days_after,
    ),
    (rf"再?过(?P<n>{N})个?(?P<unit>天|周|星期|礼拜|月|年)", _days_after),
    (
        rf"(?:未来|接下来|今后|往后|最近|近|这)的?(?:(?P<n>几|{N})个?(?P<unit>天|周|星期|月))(?:内|里)?",
        _coming_days,
    ),
    (r"最近|近期|接下来", lambda m, today: day(m, today, today + timedelta(days=6))),
)
"""From a recurrence down to a bare word; an earlier rule takes its characters from a later one."""
