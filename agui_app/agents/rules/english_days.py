"""The grammar of days in English, and of days in digits."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agui_app.agents.rules.numerals import ENGLISH as N
from agui_app.agents.rules.numerals import english_number as number
from agui_app.agents.rules.tokens import (
    Built,
    Days,
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

_BY = r"for|by|from|starting|beginning|until|till|before|since|as\s+of|due"
_ON = rf"(?:\b(?:on|{_BY})\s+)?"
_BUT_ON = rf"(?:\b(?:{_BY})\s+)?"  # the lights on tomorrow
_MONTHS = {
    name: index
    for index, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_MONTH = (
    r"(?P<mon>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)\d\d)(?!:))?"
_NO_TIME = r"(?![\d:]|\s*(?:am|pm|a\.m|p\.m|o'?clock)\b)"
_TO = r"\s*(?:to|-|–|—|until|till|through)\s*"
_WEEKDAYS = {"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6}
_LONG = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_WEEKDAY = rf"(?P<wd>{_LONG}|mon|tues?|wed|thurs?|thur|fri)\b\.?"
_SHORT = rf"(?P<wd>{_LONG}|mon|tues?|wed|thurs?|thur|fri|sat|sun)\b\.?"
_OWNER = r"(?P<owner>'s\b)?"
_PART = r"(?:\s+(?P<part>morning|afternoon|evening|night)\b)?"
_PARTS = {"morning": Part.MORNING, "afternoon": Part.AFTERNOON, "evening": Part.EVENING, "night": Part.EVENING}
_REL = {"this": 0, "next": 1, "last": -1, "the": 0, "coming": 0}
_WEEK_REL = _REL | {"coming": 1}
_NO_DAY = (
    r"(?!\s+(?:floor|street|st|avenue|ave|edition|grade|place|round|anniversary|birthday|draft|quarter|time|one)\b)"
)

_HOLIDAYS = {
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
}
_MOVABLE = (
    r"\b(?:easter|thanksgiving|ramadan|eid|diwali|hanukkah|passover|good\s+friday|black\s+friday|labou?r\s+day|memorial\s+day"
    r"|(?:mother|father)'?s'?\s+day|(?:chinese|lunar)\s+new\s+year|spring\s+festival|mid-autumn)\b"
)


def _month_number(match: re.Match[str]) -> int:
    return _MONTHS[match["mon"].lower()[:3]]


def _year(match: re.Match[str]) -> int | None:
    return int(match["year"]) if match["year"] else None


def _with_part(found: Days, match: re.Match[str]) -> Days:
    part = match.groupdict().get("part")
    owner = bool(match.groupdict().get("owner"))
    return Days(
        start=found.start,
        end=found.end,
        first=found.first,
        last=found.last,
        part=_PARTS[part.lower()] if part else None,
        is_bare_weekday=found.is_bare_weekday,
        is_owner=owner,
    )


def _month_day(match: re.Match[str], today: date) -> Built:
    return _with_part(day(match, next_date(today, _month_number(match), int(match["day"]), _year(match))), match)


def _month_days(match: re.Match[str], today: date) -> Built:
    first = next_date(today, _month_number(match), int(match["day"]), _year(match))
    return span(match, first, first.replace(day=int(match["last"])))


def _day_of_month(match: re.Match[str], today: date) -> Built:
    number_, months = int(match["day"]), match["rel"]
    if months:
        return day(match, month_start(today, _REL[months.lower()]).replace(day=number_))
    return day(match, next_day_of_month(today, number_))


def _iso(match: re.Match[str], today: date) -> Built:
    return day(match, date(int(match["year"]), int(match["mon"]), int(match["day"])))


def _slashed(match: re.Match[str], today: date) -> Built:
    """Month first, as Chinese and American readers write it; the day first where there is no such month."""
    mon, number_ = int(match["mon"]), int(match["day"])
    if (mon, number_) == (24, 7):  # around the clock
        return None
    if mon > 12:
        mon, number_ = number_, mon
    year = match["year"] and int(match["year"]) + (2000 if len(match["year"]) == 2 else 0)
    return day(match, next_date(today, mon, number_, year or None))


def _weekday(match: re.Match[str], today: date) -> Built:
    rel = (match["rel"] or "").lower().split()
    index = _WEEKDAYS[match["wd"].lower()[:3]]
    if rel and rel[0] in ("next", "last"):
        return _with_part(weekday(match, today, index, _REL[rel[0]]), match)
    return _with_part(weekday(match, today, index), match)  # this Friday, said on Saturday, is still to come


def _relative_word(match: re.Match[str], today: date) -> Built:
    words = " ".join(match["word"].lower().split())
    days = {"day before yesterday": -2, "yesterday": -1, "today": 0, "day after tomorrow": 2}.get(words, 1)
    return _with_part(day(match, today + timedelta(days=days)), match)


def _this_part(match: re.Match[str], today: date) -> Built:
    return day(match, today, part=_PARTS[match["part"].lower()])


def _days_after(match: re.Match[str], today: date) -> Built:
    n, unit = int(number(match["n"])), match["unit"].lower()
    base = (match["base"] or "now").lower()
    start = today + timedelta(days=1 if base == "tomorrow" else 0)
    if base[:3] in _WEEKDAYS and base.endswith("day") and base != "today":
        start = today + timedelta(days=(_WEEKDAYS[base[:3]] - today.weekday()) % 7)
    if unit in ("month", "year"):
        return day(match, months_later(start, n if unit == "month" else 12 * n))
    return day(match, start + timedelta(days=n * (7 if unit == "week" else 1)))


def _coming_days(match: re.Match[str], today: date) -> Built:
    n = int(number(match["n"])) if match["n"] else 7
    unit = match["unit"].lower()
    last = months_later(today, n) if unit == "month" else today + timedelta(days=n * (7 if unit == "week" else 1))
    return day(match, today, last - timedelta(days=1))


def _weeks(match: re.Match[str]) -> int:
    return _REL[(match["rel"] or "this").lower().split()[-1]]


DAYS = rules(
    (
        rf"\b(?:every|each)\s+(?:other\s+|single\s+)?(?:day|week|month|year|morning|afternoon|evening|night|weekday|{_LONG}|\d+\s+\w+)"
        rf"|\b(?:on\s+)?(?:{_LONG}s|weekdays)\b|\bevery\s?day\b",
        lambda m, _: Repeat(start=m.start(), end=m.end()),
    ),
    (_MOVABLE, lambda m, _: Unreadable(start=m.start(), end=m.end())),
    (
        rf"(?P<name>{'|'.join(_HOLIDAYS)})(?!\s+(?:tree|card|gift|present)s?\b)",
        lambda m, today: holiday(m, today, _HOLIDAYS[m["name"].lower()]),
    ),
    (rf"{_ON}(?<!\d)(?P<year>\d{{4}})[-/.](?P<mon>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?!\d)(?:T(?=\d))?", _iso),
    (rf"{_ON}\b{_MONTH}\s+{_DAY}{_TO}(?P<last>\d{{1,2}})(?:st|nd|rd|th)?{_NO_TIME}{_YEAR}", _month_days),
    (rf"{_ON}\b{_MONTH}\s+(?:the\s+)?{_DAY}{_NO_TIME}{_YEAR}{_PART}{_OWNER}", _month_day),
    (rf"{_ON}(?:the\s+)?(?<![\d:]){_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}{_PART}{_OWNER}", _month_day),
    (
        rf"{_ON}\bthe\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)\b{_NO_DAY}(?:\s+of\s+(?P<rel>this|next)\s+month)?",
        _day_of_month,
    ),
    (
        rf"{_ON}(?<![\d/.-])(?P<mon>\d{{1,2}})/(?P<day>\d{{1,2}})(?:/(?P<year>\d{{4}}|\d{{2}}))?(?![\d/]|\s+of\b)",
        _slashed,
    ),
    (rf"{_ON}(?:\bthe\s+)?\b(?P<word>day\s+(?:after\s+tomorrow|before\s+yesterday))\b{_PART}{_OWNER}", _relative_word),
    (
        rf"{_ON}\b(?P<n>a|{N})\s+(?P<unit>day|week|month|year)s?\s+(?:from\s+(?P<base>now|today|tomorrow|{_LONG})|later)\b",
        _days_after,
    ),
    (rf"\bin\s+(?P<n>{N})\s+(?P<unit>day|week|month|year)s?\b(?P<base>)(?:'\s*time)?", _days_after),
    (rf"{_BUT_ON}\b(?P<word>today|tomorrow|tomorow|tmrw|tmr|yesterday)\b{_PART}{_OWNER}", _relative_word),
    (r"\b(?:on\s+|for\s+)?(?P<word>tonight|tonite)\b'?s?", lambda m, today: day(m, today, part=Part.EVENING)),
    (r"\b(?:on\s+|for\s+)?this\s+(?P<part>morning|afternoon|evening)\b", _this_part),
    (
        rf"{_ON}\b(?:over\s+)?(?:(?P<rel>(?:the\s+)?(?:this|next|last|coming)|the)\s+)?weekend\b{_OWNER}",
        lambda m, today: weekend(m, today, _weeks(m)),
    ),
    (rf"{_ON}\b(?P<rel>(?:this\s+)?coming|this|next|last)\s+{_SHORT}{_PART}{_OWNER}", _weekday),
    (
        rf"(?:\b(?P<rel>)(?:on|by|until|till|for|from|before|since|starting|due)\s+){_SHORT}{_PART}{_OWNER}",
        _weekday,
    ),  # sat and sun are words, too
    (rf"\b(?P<rel>){_WEEKDAY}{_PART}{_OWNER}", _weekday),
    (r"\bthe\s+week\s+after\s+next\b", lambda m, today: week(m, today, 2)),
    (
        rf"\b(?:in\s+|over\s+|during\s+|for\s+)?(?:the\s+)?(?:next|coming|upcoming)\s+(?:(?P<n>{N}|few)\s+)"
        r"(?P<unit>day|week|month)s\b",
        _coming_days,
    ),
    (r"\b(?:in\s+|over\s+)?the\s+coming\s+(?P<n>)(?P<unit>day|week|month)s\b", _coming_days),
    (
        rf"{_ON}\b(?P<rel>(?:the\s+)?(?:this|next|last|coming))\s+week\b{_OWNER}",
        lambda m, today: week(m, today, _WEEK_REL[m["rel"].lower().split()[-1]]),
    ),
    (
        rf"(?:\bin\s+|{_ON})\b(?P<rel>this|next|last)\s+month\b{_OWNER}",
        lambda m, today: month(m, today, _REL[m["rel"].lower()]),
    ),
    (
        rf"\b(?:in|during|for|of)\s+(?:(?P<rel>this|next)\s+)?{_MONTH}{_YEAR}(?!\s*\d)",
        lambda m, today: named_month(m, today, _month_number(m), _year(m)),
    ),
)
"""From a recurrence down to a bare word; an earlier rule takes its characters from a later one."""
