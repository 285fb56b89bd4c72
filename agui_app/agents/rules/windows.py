"""The time that a question about the calendar is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TypeAlias

from agui_app.agents.rules.clusters import DAY, Cluster, choose, clusters_in, one_day
from agui_app.agents.rules.moments import at, end_of, later, minutes_of, not_before
from agui_app.agents.rules.tokens import Clock, Shift, Token

Window: TypeAlias = tuple[datetime, datetime]
"""Half-open, aware, in the reader's zone."""

HOUR = timedelta(hours=1)

_AFTER, _SINCE = re.compile(r"\s*(?:之后|以后)"), re.compile(r"\bafter\s*$", re.IGNORECASE)
_BEFORE, _UNTIL = re.compile(r"(?:之前|以前|前)$"), re.compile(r"(?:before|until|till)\b", re.IGNORECASE)


def read_window(text: str, tokens: Sequence[Token], now: datetime) -> Window | None:
    """The time named in `text`: whole days, or the part of one; None: it names none."""
    clusters = clusters_in(text, tokens)
    shift = next((token for token in tokens if isinstance(token, Shift)), None)
    if not clusters:
        return _from(later(now, shift.length), None) if shift else None
    starts = [found for cluster in clusters if not cluster.is_end and (found := one_day(cluster.days))]
    ends = [found for cluster in clusters if cluster.is_end and (found := one_day(cluster.days))]
    first = min((item.first for item in starts or ends), default=now.date())
    last = max((*(item.last for item in starts), *(not_before(item, first) for item in ends)), default=first)
    narrow = _narrowed(text, clusters, first, now) if first == last else None
    return narrow or (at(first, 0, now), at(last + DAY, 0, now))


def _narrowed(text: str, clusters: Sequence[Cluster], day: date, now: datetime) -> Window | None:
    """The hours of one day: 下午, 3点到5点, after 3pm."""
    choice = choose(text, clusters, ())
    if choice.clock:
        start = at(day, minutes_of(choice), now)
        return _open(text, choice.clock, start) or _from(start, end_of(choice, start))
    if choice.part:
        first, last = choice.part.hours
        return at(day, first * 60, now), at(day, last * 60, now)
    return None


def _open(text: str, clock: Clock, moment: datetime) -> Window | None:
    said = text[clock.start : clock.end]
    if _UNTIL.match(said) or _BEFORE.search(said):
        return at(moment.date(), 0, moment), moment
    if _SINCE.search(text[: clock.start]) or _AFTER.match(text[clock.end :]):
        return moment, at(moment.date() + DAY, 0, moment)
    return None


def _from(start: datetime, end: datetime | None) -> Window:
    return start, end or start + HOUR
