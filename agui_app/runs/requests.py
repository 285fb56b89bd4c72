"""What a request to run asks for, read from its body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name

from agui_app.conversation.model import Message, Role
from agui_app.errors import FieldError, InvalidRequest
from agui_app.protocol.ids import is_valid_id

TITLE_LENGTH = 80
REPLACE_FROM = "/forwardedProps/replaceFrom"
"""Where a request says what it replaces (JSON pointer)."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A valid RunAgentInput, and what it says about its reader."""

    body: dict[str, Any]
    thread_id: str | None
    run_id: str | None
    messages: tuple[dict[str, Any], ...]
    forwarded: dict[str, Any]
    """`forwardedProps`: as the client sent it, not trusted."""
    timezone: str
    locale: str
    body_hash: str
    replace_from: str | None = None
    """The message from which on the run replaces what the thread has: a retry, or an edit when it brings a new one."""


def read_request(body: dict[str, Any], *, default_timezone: str) -> RunRequest:
    """The request that `body` makes.

    Raises: InvalidRequest: `forwardedProps.timezone` is no zone, `forwardedProps.replaceFrom` no id.
    """
    forwarded = _object(body.get("forwardedProps"))
    messages = [cast(dict[str, Any], one) for one in _list(body.get("messages")) if isinstance(one, dict)]
    return RunRequest(
        body=body,
        thread_id=body.get("threadId"),
        run_id=body.get("runId"),
        messages=tuple(messages),
        forwarded=forwarded,
        timezone=_timezone(forwarded.get("timezone"), default_timezone),
        locale=_locale(forwarded.get("locale")),
        body_hash=hashlib.sha256(canonical_json(body).encode("utf-8", "surrogatepass")).hexdigest(),
        replace_from=_replace_from(forwarded.get("replaceFrom")),
    )


def canonical_json(value: Any) -> str:
    """The same text for bodies that mean the same: keys in order, no spaces, 1.0 as 1."""
    return json.dumps(_plain_numbers(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def title_of(messages: Iterable[Message]) -> str:
    """One line of the first user message with text; empty without."""
    lines = (" ".join(message.text.split()) for message in messages if message.role is Role.USER)
    line = next((line for line in lines if line), "")
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def _timezone(value: object, default: str) -> str:
    if value is None:
        return default or get_localzone_name() or "UTC"
    try:
        return ZoneInfo(str(value)).key
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"{value!r} is no IANA time zone, such as Europe/Berlin"
        raise InvalidRequest(message, errors=(FieldError("/forwardedProps/timezone", message),)) from error


def _replace_from(value: object) -> str | None:
    if value is None or is_valid_id(value):
        return value
    message = f"{str(value)[:100]!r} is no id of a message"
    raise InvalidRequest(message, errors=(FieldError(REPLACE_FROM, message),))


def _locale(value: object) -> str:
    return "zh" if str(value).lower().startswith("zh") else "en"


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in cast(list[Any], value)]
    return value


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []
