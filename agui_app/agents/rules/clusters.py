"""Times that stand together, and which of them are meant: 明天提醒我下午3点到5点准备周五的演讲."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

from agui_app.agents.rules.tokens import Clock, DayPart, Days, Length, Part, Token

DAY = timedelta(days=1)

_TIGHT = re.compile(r"(?:[\s,，()（）]|的|\b(?:at|on|in|of|the|from)\b)*", re.IGNORECASE)
_LINK = re.compile(r"(?:的|\s)*(?:一?直?到|至|-|–|—|~|～|\b(?:to|until|till|through)\b)\s*", re.IGNORECASE)
_AND = re.compile(r"\s*(?:和|与|及|、|,|，|\band\b)\s*", re.IGNORECASE)
_BREAK = re.compile(r"[,，;；。、\n]|然后|接着|再|\b(?:and|then)\b", re.IGNORECASE)
_MORNING = re.compile(
    r"起床|早起|叫醒|早餐|早饭|早会|晨|日出|闹钟|\b(?:wake|breakfast|sunrise|alarm|jog|morning)\b", re.IGNORECASE
)
_EVENING = re.compile(r"晚饭|晚餐|晚宴|晚会|夜宵|宵夜|\b(?:dinner|supper|evening|night)\b", re.IGNORECASE)


class Cluster(NamedTuple):
    """Times with nothing between them."""

    tokens: tuple[Token, ...]
    is_end: bool = False
    """It is the end of what the one before it began."""

    @property
    def days(self) -> list[Days]:
        return [token for token in self.tokens if isinstance(token, Days)]

    @property
    def clock(self) -> Clock | None:
        return next((token for token in self.tokens if isinstance(token, Clock)), None)

    @property
    def part(self) -> Part | None:
        parts = [token.part for token in self.tokens if isinstance(token, DayPart)]
        parts += [token.part for token in self.days if token.part]
        return parts[0] if parts else None

    @property
    def is_owner(self) -> bool:
        return any(token.is_owner for token in self.days)


class Choice(NamedTuple):
    """What the words say, before it is set against the present."""

    days: Days | None
    part: Part | None
    clock: Clock | None
    end_days: Days | None
    end_part: Part | None
    end_clock: Clock | None
    length: timedelta | None
    used: tuple[Token, ...]
    hint: Part | None
    """The half of the day that the thing itself speaks for: breakfast, 晚饭."""


def clusters_in(text: str, tokens: Sequence[Token]) -> list[Cluster]:
    """The clusters of `text` in order."""
    found: list[Cluster] = []
    for token in (token for token in tokens if isinstance(token, Days | Clock | DayPart)):
        if not found:
            found.append(Cluster((token,)))
            continue
        before = found[-1].tokens[-1]
        gap = text[before.end : token.start]
        is_end = _links(before, gap, token)
        is_second_clock = isinstance(token, Clock) and found[-1].clock is not None
        if not is_end and not is_second_clock and _TIGHT.fullmatch(gap):
            found[-1] = found[-1]._replace(tokens=(*found[-1].tokens, token))
        else:
            found.append(Cluster((token,), is_end))
    return found


def _links(before: Token, gap: str, token: Token) -> bool:
    """From one to the other: 3点到5点, and 明天和后天."""
    if isinstance(before, Clock) and before.is_open:
        return True
    if (
        isinstance(before, Days)
        and isinstance(token, Days)
        and token.first == before.last + DAY
        and _AND.fullmatch(gap)
    ):
        return True
    return _LINK.fullmatch(gap) is not None


def say_two_things(text: str, clusters: Sequence[Cluster]) -> bool:
    """Whether two times are no from-to: two clocks in two clauses (10点开会，3点看牙), two days (周一和周三)."""
    for one, other in pairwise(clusters):
        gap = text[one.tokens[-1].end : other.tokens[0].start]
        if one.days and other.days and not other.is_end and _AND.fullmatch(gap):
            return True
    timed = [cluster for cluster in clusters if cluster.clock and not cluster.is_end]
    if len(timed) < 2 or timed[1].is_owner:
        return False
    gap = text[timed[0].tokens[-1].end : timed[1].tokens[0].start].strip()
    return bool(_BREAK.search(gap) or _AND.fullmatch(gap))


def one_day(days: Sequence[Days]) -> Days | None:
    """The day that several words for it make: 周四 3月5日, 下周的周五, Friday next week."""
    exact = [item for item in days if item.is_one and not item.is_bare_weekday]
    weekdays = [item for item in days if item.is_bare_weekday]
    spans = [item for item in days if not item.is_one]
    if exact:
        return exact[0]
    if weekdays and spans and spans[0].last - spans[0].first < 7 * DAY:
        first = spans[0].first + (weekdays[0].first - spans[0].first) % (7 * DAY)
        return Days(start=weekdays[0].start, end=weekdays[0].end, first=first, last=first)
    return next(iter([*weekdays, *spans]), None)


def choose(text: str, clusters: Sequence[Cluster], lengths: Sequence[Length]) -> Choice:
    """The time of one thing, which may be said in several places; there is at least one cluster."""
    starts = [cluster for cluster in clusters if not cluster.is_end]
    main = _main(starts)
    index = clusters.index(main) + 1
    end = clusters[index] if index < len(clusters) and clusters[index].is_end else Cluster(())
    days, end_days = one_day(main.days), one_day(end.days)
    if days is None and end_days:  # between 2 and 4pm tomorrow
        days, end_days = end_days, None
    days, part, others = _completed(days, main.part, [cluster for cluster in starts if cluster is not main])
    clock, end_clock = main.clock, end.clock
    length = _length(lengths, has_time=clock is not None or part is not None) if not end.tokens else None
    return Choice(
        days=days,
        part=(clock.part if clock else None) or part,
        clock=clock,
        end_days=end_days,
        end_part=(end_clock.part if end_clock else None) or end.part,
        end_clock=end_clock,
        length=length.length if length else None,
        used=(*main.tokens, *end.tokens, *others, *((length,) if length else ())),
        hint=Part.EVENING if _EVENING.search(text) else Part.MORNING if _MORNING.search(text) else None,
    )


def _main(starts: Sequence[Cluster]) -> Cluster:
    """The cluster of the clock time, else of the day; Friday's in Friday's demo only when there is no other."""
    own = [cluster for cluster in starts if not cluster.is_owner] or starts
    return next((cluster for cluster in own if cluster.clock), own[0])


def _completed(
    days: Days | None, part: Part | None, others: Sequence[Cluster]
) -> tuple[Days | None, Part | None, tuple[Token, ...]]:
    """Day and part of the day with what is missing taken from other places in the sentence, and the words for it."""
    used: tuple[Token, ...] = ()
    for other in sorted((cluster for cluster in others if not cluster.clock), key=lambda cluster: cluster.is_owner):
        gives_day = days is None and bool(other.days)
        gives_part = part is None and other.part is not None and (gives_day or not other.days)
        days = one_day(other.days) if gives_day else days
        part = other.part if gives_part else part
        used += other.tokens if gives_day or gives_part else ()
    return days, part, used


def _length(lengths: Sequence[Length], *, has_time: bool) -> Length | None:
    """The first length that goes with what is known: hours with a time, days with anything."""
    return lengths[0] if lengths and (has_time or lengths[0].length >= DAY) else None
