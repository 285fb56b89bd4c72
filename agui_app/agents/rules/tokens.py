"""The times in a sentence, each with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import TypeAlias

GAP = "\x1f"
"""Stands, once for each character, where words were taken out of a sentence: places stay what they were."""


class Part(Enum):
    """A part of the day: the hour meant when no other is said, and the hours that it spans (24 and more: next day)."""

    DAWN = (5, 0, 6)
    MORNING = (9, 0, 12)
    NOON = (12, 11, 14)
    AFTERNOON = (14, 12, 18)
    DUSK = (18, 17, 20)
    EVENING = (19, 18, 24)
    NIGHT = (22, 18, 24)
    MIDNIGHT = (24, 21, 30)

    @property
    def usual_hour(self) -> int:
        return self.value[0]

    @property
    def hours(self) -> tuple[int, int]:
        return self.value[1], self.value[2]


_FARTHEST = timedelta(days=36_525)
"""How far from today a time may be: a century, so that no sum leaves the calendar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Days(Token):
    """A day, or from a day to another one."""

    first: date
    last: date
    part: Part | None = None
    """今晚, tonight."""
    is_bare_weekday: bool = False
    """周五, Friday: the next one, whichever that is."""
    is_span: bool = False
    """3月5日到8日: all of these days, not one of them that is still to be named."""
    is_named: bool = False
    """圣诞节, Christmas: the words belong to the title as well."""
    is_owner: bool = False
    """Friday's, 周五的: it says which thing is meant, not when."""

    @property
    def is_one(self) -> bool:
        return self.first == self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock(Token):
    hour: int
    """0 to 24, as it was said."""
    minute: int = 0
    part: Part | None = None
    is_fixed: bool = False
    """am, pm, 15:00, noon: the hour is what it says."""
    is_open: bool = False
    """The next clock is the end of this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPart(Token):
    part: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Token):
    """半小时后, in 30 minutes: from now."""

    length: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Length(Token):
    """两个小时, for 2 hours: how long."""

    length: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead(Token):
    """提前10分钟, 10 minutes before: when to be reminded. Noted, not carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat(Token):
    """每周一, every Monday."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable(Token):
    """春节, Easter: a day that only an almanac knows; or one that is centuries away."""


Built: TypeAlias = Token | Sequence[Token] | None
Build: TypeAlias = Callable[[re.Match[str], date], Built]
Rule: TypeAlias = tuple[re.Pattern[str], Build]
"""A pattern, and what a match of it is on a given day; None: nothing after all."""


def rules(*pairs: tuple[str, Build]) -> tuple[Rule, ...]:
    """Rules in the order in which they are tried. `\\b` and `\\w` are of ASCII: 明天3pm开会 has a boundary after pm."""
    return tuple((re.compile(pattern, re.ASCII | re.IGNORECASE), build) for pattern, build in pairs)


def scan(text: str, rules: Iterable[Rule], today: date) -> list[Token]:
    """The tokens of `text` in order. An earlier rule takes its characters from a later one."""
    found: list[Token] = []
    for pattern, build in rules:
        at = 0
        while match := pattern.search(text, at):
            at = match.end()
            built = _built(build, match, today)
            if built is not None:
                found += [built] if isinstance(built, Token) else built
                text = text[: match.start()] + GAP * len(match[0]) + text[match.end() :]
    return sorted(found, key=lambda token: (token.start, token.end))


def _built(build: Callable[[re.Match[str], date], Built], match: re.Match[str], today: date) -> Built:
    try:
        built = build(match, today)
    except (ValueError, OverflowError):  # 31 February; a number of days beyond the calendar
        return None
    return Unreadable(start=match.start(), end=match.end()) if _is_too_far(built, today) else built


def _is_too_far(built: Built, today: date) -> bool:
    if isinstance(built, Days):
        return max(abs(built.first - today), abs(built.last - today)) > _FARTHEST
    return isinstance(built, Shift | Length) and built.length > _FARTHEST


def day(match: re.Match[str], value: date, last: date | None = None, *, part: Part | None = None) -> Days:
    """The token of a whole match that is one day, or from one to another."""
    return Days(start=match.start(), end=match.end(), first=value, last=last or value, part=part)


def span(match: re.Match[str], first: date, last: date) -> Days:
    """The token of a whole match that is all days from one to another. Raises: ValueError: the wrong way round."""
    if last < first:
        raise ValueError(f"{last} is before {first}")
    return Days(start=match.start(), end=match.end(), first=first, last=last, is_span=True)


def weekday(match: re.Match[str], today: date, number: int, weeks: int | None = None) -> Days:
    """Monday is 0. `weeks` from this one; None: the next such day, today included."""
    if weeks is not None:
        return day(match, monday(today, weeks) + timedelta(days=number))
    found = today + timedelta(days=(number - today.weekday()) % 7)
    return Days(start=match.start(), end=match.end(), first=found, last=found, is_bare_weekday=True)


def holiday(match: re.Match[str], today: date, when: tuple[int, int]) -> Days:
    found = next_date(today, *when)
    return Days(start=match.start(), end=match.end(), first=found, last=found, is_named=True)


def clock(match: re.Match[str], hour: int, minute: int = 0, *, fixed: bool = False, part: Part | None = None) -> Clock:
    """The token of a whole match that is a time. Raises: ValueError: no such time."""
    if not (0 <= hour <= 24 and 0 <= minute < 60) or (hour == 24 and minute):
        raise ValueError(f"no time: {hour}:{minute}")
    return Clock(start=match.start(), end=match.end(), hour=hour, minute=minute, part=part, is_fixed=fixed)


def monday(today: date, weeks: int = 0) -> date:
    """The Monday of the week that is `weeks` after this one."""
    return today + timedelta(days=7 * weeks - today.weekday())


def week(match: re.Match[str], today: date, weeks: int) -> Days:
    first = monday(today, weeks)
    return day(match, first, first + timedelta(days=6))


def weekend(match: re.Match[str], today: date, weeks: int) -> Days:
    saturday = monday(today, weeks) + timedelta(days=5)
    return day(match, saturday, saturday + timedelta(days=1))


def month_start(today: date, months: int = 0) -> date:
    """The first day of the month that is `months` after this one."""
    index = today.year * 12 + today.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def months_later(today: date, months: int) -> date:
    """The same day of a later month, or its last one."""
    last = month_start(today, months + 1) - timedelta(days=1)
    return last.replace(day=min(today.day, last.day))


def month(match: re.Match[str], today: date, months: int) -> Days:
    return day(match, month_start(today, months), month_start(today, months + 1) - timedelta(days=1))


def named_month(match: re.Match[str], today: date, number: int, year: int | None = None) -> Days:
    """A month by its number: this year's, or the next one's when it is over."""
    if year is None:
        year = today.year + (number < today.month)
    return month(match, date(year, number, 1), 0)


def next_date(today: date, month: int, day_of_month: int, year: int | None = None) -> date:
    """A day by month and number: of the year, else the next one that is not past. Raises: ValueError."""
    if year is not None:
        return date(year, month, day_of_month)
    for candidate in range(today.year, today.year + 5):  # 29 February waits up to four years
        try:
            found = date(candidate, month, day_of_month)
        except ValueError:
            continue
        if found >= today:
            return found
    raise ValueError(f"no such day: {month}-{day_of_month}")


def next_day_of_month(today: date, number: int) -> date:
    """The next day with this number. Raises: ValueError."""
    for months in range(13):
        first = month_start(today, months)
        found = first + timedelta(days=number - 1)
        if found.month == first.month and found >= today:
            return found
    raise ValueError(f"no such day of the month: {number}")
