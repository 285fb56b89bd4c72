"""From the times in a sentence to the time that is meant.

The rules, where the words leave room:
- a bare hour 1 to 6 is the afternoon, 12 is noon; 起床 or breakfast make it the morning, 晚饭 or dinner the evening;
- a time without a day is the next such time: today, else tomorrow;
- with 今天 or today, an hour that is over is tried in the other half of the day: 今天8点 at nine is 20:00;
- a part of the day without an hour stands for its usual hour: 明天下午 is 14:00;
- a bare weekday is the next one, today included if the time is still to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum

from agui_app.agents.rules.chinese_days import DAYS as CHINESE_DAYS
from agui_app.agents.rules.chinese_times import TIMES as CHINESE_TIMES
from agui_app.agents.rules.clusters import DAY, Choice, choose, clusters_in, say_two_things
from agui_app.agents.rules.english_days import DAYS as ENGLISH_DAYS
from agui_app.agents.rules.english_times import TIMES as ENGLISH_TIMES
from agui_app.agents.rules.tokens import Clock, Days, Length, Part, Repeat, Shift, Token, Unreadable, scan

RULES = (*ENGLISH_DAYS, *ENGLISH_TIMES, *CHINESE_DAYS, *CHINESE_TIMES)
NOON_MIN = 12 * 60


class State(Enum):
    NONE = "no time at all"
    EXACT = "a moment, a span or whole days"
    VAGUE = "a week, a month, a weekend: one of its days is meant"
    PAST = "it is over"
    SEVERAL = "two times for two things"
    REPEATING = "every so often"
    UNREADABLE = "a day that only an almanac knows"


@dataclass(frozen=True, slots=True)
class Moment:
    """When something is to be."""

    state: State
    start: date | datetime | None = None
    """A date: all day. A datetime: aware, in the reader's zone."""
    end: date | datetime | None = None
    """The last day, included, or the end."""
    used: tuple[Token, ...] = field(default=())
    """The words that said it; the rest is the title."""
    has_hour: bool = False
    """A time of the day was said."""


def find_times(text: str, today: date) -> list[Token]:
    """Every time in `text` (plain characters), read on the day `today`."""
    return scan(text, RULES, today)


def read_moment(text: str, tokens: Sequence[Token], now: datetime) -> Moment:
    """The moment that `text` names for something to be done; `now` is aware and in the reader's zone."""
    for kind, state in ((Repeat, State.REPEATING), (Unreadable, State.UNREADABLE)):
        if any(isinstance(token, kind) for token in tokens):
            return Moment(state, used=tuple(tokens))
    lengths = [token for token in tokens if isinstance(token, Length)]
    shifts = [token for token in tokens if isinstance(token, Shift)]
    clusters = clusters_in(text, tokens)
    if shifts and not any(cluster.clock for cluster in clusters):
        return _shifted(shifts[0], lengths, now)
    if not clusters:
        return Moment(State.NONE)
    if say_two_things(text, clusters):
        return Moment(State.SEVERAL, used=tuple(tokens))
    return _placed(choose(text, clusters, lengths), now)


def _shifted(shift: Shift, lengths: Sequence[Length], now: datetime) -> Moment:
    start = later(now, shift.length)
    whole = start.replace(second=0, microsecond=0)
    start = whole if whole > now else whole + timedelta(minutes=1)
    end = later(start, lengths[0].length) if lengths else None
    return Moment(State.EXACT, start, end, (shift, *lengths[:1]), has_hour=True)


def _placed(choice: Choice, now: datetime) -> Moment:
    days, end = choice.days, choice.end_days
    if days and end and end.last < days.first and not end.is_bare_weekday:  # 3月8日到5日
        return Moment(State.UNREADABLE, used=choice.used)
    if days and not days.is_one and not (days.is_span and choice.clock is None):
        return Moment(State.VAGUE, days.first, days.last, choice.used)
    if days and choice.clock is None and choice.part is None:
        return _all_day(choice, days, now)
    return _timed(choice, now)


def _all_day(choice: Choice, days: Days, now: datetime) -> Moment:
    first, last = days.first, days.last
    if choice.end_days:
        last = not_before(choice.end_days, first)
    elif choice.length and first == last:
        last = first + choice.length - DAY
    state = State.PAST if last < now.date() else State.EXACT
    return Moment(state, first, None if last == first else last, choice.used)


def not_before(days: Days, first: date) -> date:
    """The end of a span. 周一到周三, said on a Tuesday: the Wednesday after that Monday."""
    return days.last if days.last >= first else days.last + 7 * DAY * ((first - days.last).days // 7 + 1)


def _timed(choice: Choice, now: datetime) -> Moment:
    minutes = minutes_of(choice)
    day = choice.days.first if choice.days else now.date()
    start = at(day, minutes, now)
    if start <= now:
        start = _still_to_come(choice, day, minutes, now) or start
    state = State.PAST if start <= now else State.EXACT
    return Moment(state, start, end_of(choice, start), choice.used, has_hour=True)


def _still_to_come(choice: Choice, day: date, minutes: int, now: datetime) -> datetime | None:
    """The next time that the words can mean, when the first one is over."""
    if choice.days is None:
        return at(day + DAY, minutes, now)
    if choice.days.is_bare_weekday:
        return at(day + 7 * DAY, minutes, now)
    if choice.clock and not choice.clock.is_fixed and choice.part is None and minutes < NOON_MIN:
        return at(day, minutes + NOON_MIN, now)
    return None


def minutes_of(choice: Choice) -> int:
    """Minutes after the day's first midnight; 1,440 and more: the next day."""
    if choice.clock is None:
        return choice.part.usual_hour * 60 if choice.part else 0
    return _clock_minutes(choice.clock, choice.part, choice.hint)


def _clock_minutes(clock: Clock, part: Part | None, hint: Part | None = None) -> int:
    hour = clock.hour
    if not clock.is_fixed and 0 < hour <= 12:
        hour = _hour_in(part, hour) if part else _usual(hour, hint)
    return hour * 60 + clock.minute


def _hour_in(part: Part, hour: int) -> int:
    match part:
        case Part.DAWN:
            return hour % 12
        case Part.MORNING:
            return hour
        case Part.NOON:
            return hour + 12 if hour < 5 else hour
        case Part.AFTERNOON:
            return hour if hour == 12 else hour + 12
        case _:
            # twelve at night is the day's last midnight, and two at night comes after it
            return 24 + hour % 12 if hour == 12 or hour < 5 else hour + 12


def _usual(hour: int, hint: Part | None) -> int:
    if hint is Part.MORNING and hour >= 4:
        return hour
    if hint is Part.EVENING and 5 <= hour <= 11:
        return hour + 12
    return hour + 12 if hour <= 6 else hour


def end_of(choice: Choice, start: datetime) -> datetime | None:
    """The end that was said: the first such time after the start.

    9点到5点 ends at 17:00, 晚上10点到12点 at midnight.
    """
    if choice.length:
        return later(start, choice.length)
    clock, part = choice.end_clock, choice.end_part
    if clock is None:
        return None
    if choice.end_days:
        day, minutes = not_before(choice.end_days, start.date()), _clock_minutes(clock, part)
    else:
        day, minutes = start.date(), _clock_minutes(clock, part) if part else clock.hour * 60 + clock.minute
    step = 24 * 60 if clock.is_fixed or part or clock.hour > 12 else NOON_MIN
    return next(end for count in range(4) if (end := at(day, minutes + count * step, start)) > start)


def later(moment: datetime, length: timedelta) -> datetime:
    """`moment` plus a length of real time, on the clock of its zone."""
    return (moment.astimezone(UTC) + length).astimezone(moment.tzinfo)


def at(day: date, minutes: int, like: datetime) -> datetime:
    """So many minutes of the clock after a day's midnight, in the zone of `like`.

    A time that the clocks skip is as much later.
    """
    naive = datetime.combine(day, time()) + timedelta(minutes=minutes)
    return naive.replace(tzinfo=like.tzinfo).astimezone(UTC).astimezone(like.tzinfo)
