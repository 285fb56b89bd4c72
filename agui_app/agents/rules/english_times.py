"""The grammar of clock times and lengths in English, and of times in digits."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agui_app.agents.rules.numerals import ENGLISH as N
from agui_app.agents.rules.numerals import ENGLISH_HOURS as _HOURS
from agui_app.agents.rules.numerals import english_number as number
from agui_app.agents.rules.tokens import GAP, Built, Clock, DayPart, Lead, Length, Part, Shift, clock, rules

_H = rf"(?:\d{{1,2}}|{'|'.join(_HOURS)})"
_MINUTES = {"fifteen": 15, "thirty": 30, "forty-five": 45, "forty five": 45, "ten": 10, "twenty": 20, "fifty": 50}
_M = r"[:.]\d{2}|\s+(?:fifteen|thirty|forty[\s-]five|twenty|fifty)"
_HALF_DAY = r"a\.?\s?m\b\.?|p\.?\s?m\b\.?"
_AT = r"(?:(?:\bat|\bby|\bfrom|\baround|\babout|\buntil|\btill|\bbefore|\bfor|\bstarting(?:\s+at)?|@)\s*)?"
_DASH = r"\s*(?:to|-|–|—|until|till|and)\s*"

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNIT = r"(?P<unit>seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?)\b"
_AMOUNT = rf"(?P<n>{N})\s*-?\s*{_UNIT}(?:\s+and\s+(?:a\s+(?P<half>half)|(?P<more>{N})\s+(?:minutes?|mins?))\b)?"
_AND_A_HALF = rf"(?P<n>{N})\s+and\s+a\s+(?P<half>half)\s+{_UNIT}(?P<more>)"

_PARTS = {"morning": Part.MORNING, "afternoon": Part.AFTERNOON, "evening": Part.EVENING, "night": Part.EVENING}
_PART = r"(?P<part>morning|afternoon|evening|night)"
_IN_THE_PART = rf"(?:in\s+the\s+|at\s+){_PART}\b"
# "for 2" is a party of two, "by two people" is no time, "at 5 Main Street" is a place
_NOT_AN_HOUR = (
    r"(?![:.]?\d|\s*%|st\b|nd\b|rd\b|th\b|/|\s*-?\s*(?:am|pm|people|persons?|guests?|of|hours?|hrs?|minutes?|mins?|days?|weeks?"
    r"|months?|years?|times?|dollars|percent|km|miles?)\b|\s+\w+\s+(?:st|street|ave|avenue|road|rd|blvd|lane|ln|drive)\b)"
)


def _hour(text: str) -> int:
    return int(text) if text.isdecimal() else _HOURS[text.lower()]


def _minute(text: str | None) -> int:
    if not text:
        return 0
    text = " ".join(text.strip(":. ").lower().split())
    return int(text) if text.isdecimal() else _MINUTES[text]


def _in_half(hour: int, half: str | None) -> int:
    """`hour` of the twelve-hour clock on the one of 24. Raises: ValueError."""
    if not half or hour > 12:
        return hour
    if hour == 0:
        raise ValueError("no such hour: 0")
    return hour % 12 + (12 if half[0] in "pP" else 0)


def _with_half(match: re.Match[str], _: date) -> Built:
    return clock(match, _in_half(_hour(match["h"]), match["half_day"]), _minute(match["m"]), fixed=True)


def _digital(match: re.Match[str], _: date) -> Built:
    return clock(match, int(match["h"]), int(match["m"]), fixed=match["h"].startswith("0"))


def _digits(match: re.Match[str], _: date) -> Built:
    return clock(match, int(match["h"]), int(match["m"]), fixed=True)


def _bare(match: re.Match[str], _: date) -> Built:
    part = match.groupdict().get("part")
    return clock(match, _hour(match["h"]), _minute(match["m"]), part=_PARTS[part.lower()] if part else None)


def _past(match: re.Match[str], _: date) -> Built:
    words = match["n"].lower()
    minutes = {"half": 30, "quarter": 15, "a quarter": 15}.get(words) or int(number(words))
    hour = _hour(match["h"])
    if match["side"].lower() in ("to", "before"):
        hour, minutes = (hour - 1) or 12, 60 - minutes
    half = match["half_day"]
    return clock(match, _in_half(hour, half), minutes, fixed=bool(half))


def _range(match: re.Match[str], _: date) -> Built:
    """From one time to another. A half of the day said once, at the end, holds for both if that makes a range."""
    if not (match["from"] or match["a_half"] or match["b_half"] or (match["am"] and match["bm"])):
        return None
    b_half, a_half = match["b_half"], match["a_half"]
    b_hour = _in_half(_hour(match["b"]), b_half)
    a_hour = _in_half(_hour(match["a"]), a_half or b_half)
    if not a_half and b_half and (a_hour, _minute(match["am"])) >= (b_hour, _minute(match["bm"])):
        a_hour = (a_hour + 12) % 24
    first = clock(match, a_hour, _minute(match["am"]), fixed=bool(a_half or b_half))
    last = clock(match, b_hour, _minute(match["bm"]), fixed=bool(b_half))
    border = match.start("b")
    return (
        Clock(
            start=first.start, end=border, hour=first.hour, minute=first.minute, is_fixed=first.is_fixed, is_open=True
        ),
        Clock(start=border, end=last.end, hour=last.hour, minute=last.minute, is_fixed=last.is_fixed),
    )


def _length(match: re.Match[str]) -> timedelta:
    seconds = (number(match["n"]) + (0.5 if match["half"] else 0)) * _UNITS[match["unit"][0].lower()]
    return timedelta(seconds=seconds, minutes=number(match["more"]) if match["more"] else 0)


def _shift(match: re.Match[str], _: date) -> Built:
    return Shift(start=match.start(), end=match.end(), length=_length(match))


def _lasting(match: re.Match[str], _: date) -> Built:
    return Length(start=match.start(), end=match.end(), length=_length(match))


def _part(match: re.Match[str], _: date) -> Built:
    """A part of the day, said with `in the` or after a day; "a morning run" has none."""
    if match["in"] or match.string[: match.start()].rstrip(" ,").endswith(GAP):
        return DayPart(start=match.start(), end=match.end(), part=_PARTS[match["part"].lower()])
    return None


TIMES = rules(
    (
        rf"\b{N}\s*-?\s*(?:minutes?|mins?|hours?|hrs?|days?|weeks?)\s+(?:before(?:hand)?|in\s+advance|ahead(?:\s+of(?:\s+time)?)?"
        r"|early|earlier)\b",
        lambda m, _: Lead(start=m.start(), end=m.end()),
    ),
    (rf"\bin\s+(?:about\s+)?{_AND_A_HALF}", _shift),
    (rf"\bin\s+(?:about\s+)?{_AMOUNT}", _shift),
    (rf"\b{_AMOUNT}\s+(?:from\s+now|later)\b", _shift),
    (rf"\bfor\s+(?:about\s+)?{_AND_A_HALF}", _lasting),
    (rf"\bfor\s+(?:about\s+)?{_AMOUNT}", _lasting),
    (
        rf"(?:\b(?P<from>from|between|at|@)\s*)?(?<![\d/:.-])(?P<a>{_H})(?P<am>{_M})?\s*(?P<a_half>{_HALF_DAY})?{_DASH}"
        rf"(?P<b>{_H})(?P<bm>{_M})?(?:\s*(?P<b_half>{_HALF_DAY})|{_NOT_AN_HOUR})",
        _range,
    ),
    (
        rf"{_AT}\b(?P<n>half|(?:a\s+)?quarter|\d{{1,2}}|five|ten|twenty)(?:\s+minutes?)?\s+(?P<side>past|to|after)\s+"
        rf"(?P<h>{_H})\b(?![:.]?\d)(?:\s*(?P<half_day>{_HALF_DAY}))?",
        _past,
    ),
    (rf"{_AT}(?<![\d/:.-])(?P<h>{_H})(?P<m>{_M})?\s*(?P<half_day>{_HALF_DAY})", _with_half),
    (rf"{_AT}\b(?:(?:12\s+)?noon|midday)\b", lambda m, _: clock(m, 12, fixed=True)),
    (rf"{_AT}\b(?:12\s+)?midnight\b", lambda m, _: clock(m, 24, fixed=True)),
    (rf"{_AT}(?<![\d/:.-])(?P<h>{_H})(?P<m>{_M})?(?:\s*o'?clock)?\s*,?\s+{_IN_THE_PART}", _bare),
    (rf"{_AT}(?<![\d/:.-])(?P<h>{_H})(?P<m>)\s*o'?clock\b", _bare),
    (rf"{_AT}(?<![\d/:.-])(?P<h>\d{{1,2}}):(?P<m>\d{{2}})(?::\d{{2}})?(?![\d:])", _digital),
    (r"\bat\s+(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)\b(?:\s*(?:hrs|hours)\b)?", _digits),
    (
        rf"(?:\b(?:at|by|around|until|till|from|before)\s+|@\s*)(?P<h>{_H})(?P<m>\s+(?:fifteen|thirty|forty[\s-]five|twenty))?"
        rf"{_NOT_AN_HOUR}(?![a-z])",
        _bare,
    ),
    (rf"(?P<in>\bin\s+the\s+|\bat\s+)?\b{_PART}\b", _part),
)
"""In the order in which they are tried."""
