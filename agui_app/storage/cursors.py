"""Cursors of pages: opaque to clients, and theirs to send back."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, cast

from agui_app.errors import BadCursor


def write_cursor(**fields: str | int) -> str:
    """The text that `read_cursor` gives `fields` back from."""
    return base64.urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).decode().rstrip("=")


def read_cursor(cursor: str, **kinds: type[str] | type[int]) -> dict[str, Any]:
    """The fields of a cursor, exactly those of `kinds`.

    Raises: BadCursor: it was not made by us for this kind of page.
    """
    try:
        fields = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _bad(cursor) from error
    if not isinstance(fields, dict) or set(cast(dict[str, Any], fields)) != set(kinds):
        raise _bad(cursor)
    known = cast(dict[str, Any], fields)
    for name, kind in kinds.items():
        if not isinstance(known[name], kind) or isinstance(known[name], bool):
            raise _bad(cursor)
        if kind is int and not 0 <= known[name] < 2**63:
            raise _bad(cursor)
    return known


def _bad(cursor: str) -> BadCursor:
    shown = cursor if len(cursor) <= 80 else cursor[:80] + "…"
    return BadCursor(f"The cursor {shown!r} is none of this list; send `nextCursor` of its page before, or none")
