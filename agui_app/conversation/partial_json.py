"""Arguments of a call as values: whole ones to the letter, unfinished ones as far as they can be read."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from pydantic_core import from_json

from agui_app.conversation.model import Json
from agui_app.protocol.sanitise import REPLACEMENT, TooDeep, sanitise

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OPEN_NUMBER = re.compile(r"[-+0-9.eE]+$")
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?=(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?$)"  # the half of one to come
    r"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)


class _Unreadable(ValueError):
    pass


def is_readable(text: str) -> bool:
    """Whether `text` is JSON; blank text counts, as no arguments."""
    try:
        _load(text)
    except _Unreadable:
        return False
    return True


def read_json(text: str) -> Json:
    """The value of `text`; no arguments for blank text; None when it cannot be read."""
    try:
        return _load(text)
    except _Unreadable:
        return None


def read_partial(text: str) -> Json:
    """The value that `text` begins, None when nothing can be told yet.

    More text never takes back what was read: open strings grow, open numbers and words are left out until they end.
    """
    in_string = '"' in _STRING.sub("", text)
    settled = text if in_string else _OPEN_NUMBER.sub("", text)
    if settled == text and text.strip():
        with suppress(_Unreadable):
            return _load(text)
    try:
        return sanitise(from_json(_ESCAPE.sub(_sound_escape, settled), allow_partial="trailing-strings"))
    except (ValueError, RecursionError):
        return None


def _load(text: str) -> Json:
    """Raises: _Unreadable."""
    if not text.strip():
        return {}
    try:
        return sanitise(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError, TooDeep) as error:
        raise _Unreadable(str(error)) from error


def _refuse(word: str) -> Json:
    raise _Unreadable(f"{word} is no JSON")


def _sound_escape(match: re.Match[str]) -> str:
    """The escape as it is; half of a pair, which pydantic_core refuses, as the replacement character."""
    return REPLACEMENT if match["lone"] else match.group()
