"""Which ids may come in from outside, and how new ones are made."""

from __future__ import annotations

import hashlib
import re
from typing import TypeGuard
from uuid import uuid4

MAX_ID_LENGTH = 128
_VALID = re.compile(rf"[A-Za-z0-9._:@~-]{{1,{MAX_ID_LENGTH}}}")
_INVALID_CHARACTERS = re.compile(r"[^A-Za-z0-9._:@~-]")
_DIGEST_LENGTH = 12  # 48 bits: two cut ids of one run do not meet


def is_valid_id(value: object) -> TypeGuard[str]:
    """Whether a thread, run, message or call may have this id."""
    return isinstance(value, str) and _VALID.fullmatch(value) is not None and value not in (".", "..")


def new_id(prefix: str) -> str:
    """An id that nothing else has, such as `run_4f…`."""
    return f"{prefix}_{uuid4().hex}"


def derived_id(*parts: str) -> str:
    """A valid id made of `parts`, the same whenever it is made: joined by dots, mended where that is no valid id."""
    joined = ".".join(parts)
    if is_valid_id(joined):
        return joined
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:_DIGEST_LENGTH]
    readable = _INVALID_CHARACTERS.sub("-", joined)[: MAX_ID_LENGTH - _DIGEST_LENGTH - 1]
    return f"{readable}.{digest}"
