"""JSON values as they may be stored and sent: no NUL, no half of a surrogate pair, no NaN, no bottomless nesting."""

from __future__ import annotations

import math
import re
from typing import Any, cast

MAX_DEPTH = 100  # below the 255 that pydantic serialises and the 1,000 that the json module reads
REPLACEMENT = "\ufffd"
_UNSOUND = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\x00\ud800-\udfff]")


class TooDeep(ValueError):
    """A value nested deeper than MAX_DEPTH."""


def _mended(match: re.Match[str]) -> str:
    unsound = match.group()
    return REPLACEMENT if len(unsound) == 1 else unsound.encode("utf-16", "surrogatepass").decode("utf-16")


def sanitise_text(text: str) -> str:
    """`text` with pairs of surrogates joined; lone ones and NUL become U+FFFD."""
    return _UNSOUND.sub(_mended, str.__str__(text))  # a plain str, also of a member of an enumeration


def sanitise(value: object, depth: int = 0) -> Any:
    """`value` as plain JSON: what JSON has no word for becomes its text, a number that is none becomes null.

    Raises: TooDeep.
    """
    if depth > MAX_DEPTH:
        raise TooDeep(f"a value may be nested {MAX_DEPTH} deep at most")
    match value:
        case str():
            return sanitise_text(value)
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case dict():
            pairs = cast(dict[object, object], value).items()
            return {sanitise_text(str(key)): sanitise(item, depth + 1) for key, item in pairs}
        case list() | tuple():
            return [sanitise(item, depth + 1) for item in cast(list[object], value)]
        case _:
            return sanitise_text(str(value))
