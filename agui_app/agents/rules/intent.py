"""What a sentence asks for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from agui_app.agents.rules import wording
from agui_app.agents.rules.moments import Moment, State, read_moment
from agui_app.agents.rules.sentences import Sentence, plain, read_sentence
from agui_app.agents.rules.titles import read_wording
from agui_app.agents.rules.tokens import GAP, Days, Lead, Length
from agui_app.agents.rules.windows import Window, read_window

CREATE_TOOL = "create_calendar_event"
READ_TOOL = "calendar_read"

MAX_LENGTH = 500
"""Characters of a sentence that is read; what is longer is pasted, and no request."""
DEFAULT_DAYS = 7
"""How far ahead a question without a time looks."""
SEARCH_DAYS = 90
"""How far ahead a question for when something is looks."""

_FORCED = re.compile(r"\s*#tool:(\S+)\s*(.*)", re.DOTALL)

Args: TypeAlias = dict[str, Any]


class Kind(StrEnum):
    FORCED = "forced"
    CREATE = "create"
    READ = "read"
    ASK_WHAT = "ask_what"
    ASK_WHEN = "ask_when"
    ASK_DAY = "ask_day"
    ASK_ONE = "ask_one"
    ASK_WHETHER = "ask_whether"
    PAST = "past"
    REPEATING = "repeating"
    ALMANAC = "almanac"
    CHANGE = "change"
    GREETING = "greeting"
    THANKS = "thanks"
    HELP = "help"
    WEATHER = "weather"
    CLOCK = "clock"
    NO_SUCH_TIME = "no_such_time"
    TOO_LONG = "too_long"
    NOTHING_NEW = "nothing_new"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Intent:
    """What to do: call `tool` with `args_text`, or, without a tool, to answer as `kind` says."""

    kind: Kind
    tool: str | None = None
    args_text: str = ""
    """JSON; of a forced call what the reader wrote, whatever that is."""
    title: str = ""
    """What is to be noted, as far as it was understood."""
    day: date | None = None
    """CLOCK: the day that was asked about."""
    args: Args = field(default_factory=dict[str, Any])
    """`args_text`, read; empty when forced."""


def read_intent(text: str, now: datetime, timezone: str) -> Intent:
    """What `text` asks for, said at `now` (aware) by a reader in the IANA zone `timezone`."""
    if forced := _FORCED.fullmatch(text):
        return Intent(Kind.FORCED, tool=forced[1], args_text=forced[2].strip())
    if len(text) > MAX_LENGTH:
        return Intent(Kind.TOO_LONG)
    for pattern, kind in (
        (wording.GREETING, Kind.GREETING),
        (wording.THANKS, Kind.THANKS),
        (wording.HELP, Kind.HELP),
    ):
        if pattern.search(plain(text)):
            return Intent(kind)
    return _classified(read_sentence(text, now, timezone))


def _classified(sentence: Sentence) -> Intent:
    masked = sentence.masked
    if _is_request(sentence):
        return _created(sentence)
    if wording.CLOCK.search(sentence.plain) or wording.CLOCK.search(masked):
        days = [token.first for token in sentence.tokens if isinstance(token, Days)]
        return Intent(Kind.CLOCK, day=days[0] if days else None)
    if wording.DEFINITION.search(masked):
        return Intent(Kind.OTHER)
    if wording.WEATHER.search(masked) and not wording.CALENDAR_ITSELF.search(masked):
        return Intent(Kind.WEATHER)
    if _is_about_the_calendar(sentence):
        return _read(sentence)
    if any(pattern.search(masked) for pattern in (wording.NEGATED, wording.CHANGE)):
        return Intent(Kind.CHANGE)
    if wording.ENGLISH_CHANGE.search(sentence.english):
        return Intent(Kind.CHANGE)
    return Intent(Kind.OTHER) if _is_question(sentence) else _stated(sentence)


# --- what kind of sentence ----------------------------------------------------------------------------------------


def _is_request(sentence: Sentence) -> bool:
    if wording.NEGATED.search(sentence.masked):
        return False
    return _is_english_request(sentence) or _is_chinese_request(sentence.masked)


def _is_english_request(sentence: Sentence) -> bool:
    english, is_asked = sentence.english, wording.ASKS_AT_END.search(sentence.masked) is not None
    if wording.ENGLISH_REQUEST_VERB.search(english):
        # "Book a table tonight?" without can you is a question, "Remind me tonight?" is none
        return not is_asked or english != sentence.masked or "remind" in english.lower()
    return bool(wording.ENGLISH_REQUEST.search(english)) and not wording.ENGLISH_QUESTION.search(english)


def _is_chinese_request(masked: str) -> bool:
    found = wording.CHINESE_REQUEST.search(masked)
    if found is None:
        return False
    start = found.start("verb") if found["verb"] else found.start()
    before, after = masked[:start], masked[start:]
    if wording.ASKING_WORD.search(before.replace("有空", "")):  # 怎么提醒我: a question
        return False
    if wording.DONE_ALREADY.search(after) or wording.WHAT_AFTER.search(after):
        return False
    if wording.ASKS_AT_END.search(masked) and not wording.TAG.search(masked):
        return wording.POLITE_WORD.search(before) is not None
    return True


def _is_question(sentence: Sentence) -> bool:
    masked, english = sentence.masked, sentence.english
    patterns = (
        wording.ASKS_AT_END,
        wording.ASKING_WORD,
        wording.ENGLISH_QUESTION,
        wording.ASKED_INDIRECTLY,
        wording.REMIND_ME_WHAT,
    )
    return any(pattern.search(masked) or pattern.search(english) for pattern in patterns)


def _is_about_the_calendar(sentence: Sentence) -> bool:
    masked = sentence.masked
    if wording.ONLY_CALENDAR.search(masked):
        return True
    if not _is_question(sentence):
        return False
    if sentence.names_a_day and (wording.NOTHING_ELSE_ASKED.search(masked) or wording.WHATS_ON.search(sentence.plain)):
        return True
    is_near = bool(sentence.tokens) or wording.ABOUT_ME.search(masked) is not None
    is_thing = wording.CALENDAR_THING.search(masked) is not None
    if wording.CALENDAR_ITSELF.search(masked):
        return is_near or wording.ASKED_INDIRECTLY.search(sentence.english) is not None
    if wording.NEXT_ONE.search(masked) or (sentence.tokens and "我" in masked):
        return True
    if wording.WHEN_IS.search(masked) and (is_thing or wording.EVENT_LIKE.search(masked)):
        return True
    return is_near and is_thing


# --- reading ------------------------------------------------------------------------------------------------------


def _read(sentence: Sentence) -> Intent:
    window, text = read_window(sentence.plain, sentence.tokens, sentence.now), ""
    if window is None:
        window, text = _window_ahead(sentence)
    args = {"start": window[0].isoformat(), "end": window[1].isoformat()} | ({"text": text} if text else {})
    return _call(Kind.READ, READ_TOOL, args)


def _window_ahead(sentence: Sentence) -> tuple[Window, str]:
    """The time that a question without one looks at, and the text that it looks for."""
    now = sentence.now.replace(microsecond=0)
    if wording.WHEN.search(sentence.masked) or wording.NEXT_ONE.search(sentence.masked):
        words = wording.SUBJECT_NOISE.sub(" ", sentence.masked.replace(GAP, " "))
        return (now, _midnight(now, SEARCH_DAYS)), " ".join(words.split())
    return (_midnight(now, 0), _midnight(now, DEFAULT_DAYS)), ""


def _midnight(now: datetime, days: int) -> datetime:
    return datetime.combine(now.date() + timedelta(days=days), time(), tzinfo=now.tzinfo)


# --- creating -----------------------------------------------------------------------------------------------------

_ASKED_BACK = {
    State.REPEATING: Kind.REPEATING,
    State.UNREADABLE: Kind.ALMANAC,
    State.SEVERAL: Kind.ASK_ONE,
    State.PAST: Kind.PAST,
    State.VAGUE: Kind.ASK_DAY,
    State.NONE: Kind.ASK_WHEN,
}


def _created(sentence: Sentence) -> Intent:
    """The call that a request makes, or what it lacks."""
    return _noted(sentence, read_moment(sentence.plain, sentence.tokens, sentence.now))


def _noted(sentence: Sentence, moment: Moment) -> Intent:
    leads = [token for token in sentence.tokens if isinstance(token, Lead)]
    used = moment.used if moment.state in (State.EXACT, State.PAST) else sentence.tokens
    said = read_wording(sentence.text, sentence.plain, used, leads)
    if not said.title or wording.NO_TITLE.search(said.title) or _is_only_a_name(sentence, said.title):
        return Intent(Kind.ASK_WHAT)
    if wording.NO_SUCH_TIME.search(sentence.masked):
        return Intent(Kind.NO_SUCH_TIME)
    if moment.state is not State.EXACT:
        return Intent(_ASKED_BACK[moment.state], title=said.title)
    args = {
        "title": said.title,
        "startAt": moment.start and moment.start.isoformat(),
        "endAt": moment.end and moment.end.isoformat(),
        "timezone": str(sentence.now.tzinfo),
        "location": said.location,
        "notes": said.notes,
        "description": said.description,
    }
    return _call(Kind.CREATE, CREATE_TOOL, {key: value for key, value in args.items() if value})


def _is_only_a_name(sentence: Sentence, title: str) -> bool:
    """圣诞节 alone is a date, not an event."""
    days = [token for token in sentence.tokens if isinstance(token, Days) and token.is_named]
    return title in [sentence.text[token.start : token.end] for token in days]


def _stated(sentence: Sentence) -> Intent:
    """What comes of a statement: an event when it names a time and reads like one, else a question back."""
    if all(isinstance(token, Lead | Length) for token in sentence.tokens):
        return Intent(Kind.OTHER)
    moment = read_moment(sentence.plain, sentence.tokens, sentence.now)
    intent = _noted(sentence, moment)
    if intent.kind in (Kind.ASK_WHAT, Kind.ASK_WHEN):
        return intent
    tells = wording.TELLS.search(sentence.plain) is not None
    is_event = moment.has_hour or moment.end or wording.EVENT_LIKE.search(intent.title)
    if tells or (intent.kind is Kind.CREATE and not is_event):
        return Intent(Kind.ASK_WHETHER, title=intent.title)
    return intent


def _call(kind: Kind, tool: str, args: Args) -> Intent:
    intent = Intent(kind, tool=tool, args_text=json.dumps(args, ensure_ascii=False), args=args)
    return replace(intent, title=args.get("title", ""))
