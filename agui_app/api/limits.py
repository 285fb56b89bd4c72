"""How large the fields of a valid request may be.

One rule for all of them: a body that is too long is 413, as nobody has read it; a field that is too large is a wrong
field, 422 with its JSON pointer, so that a client can say which one to shorten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from agui_app.errors import FieldError, InvalidRequest
from agui_app.settings import Settings

_ERRORS_TOLD = 100  # of a body in which everything is too large
_IN_DETAIL = 3


def refuse_large(body: dict[str, Any], settings: Settings) -> None:
    """Nothing when every field of `body`, a valid RunAgentInput, is within its limit. Raises: InvalidRequest."""
    found = [error for error, _ in zip(_errors(body, settings), range(_ERRORS_TOLD), strict=False)]
    if found:
        detail = "; ".join(f"{error.pointer}: {error.message}" for error in found[:_IN_DETAIL])
        raise InvalidRequest(detail, errors=tuple(found))


def _errors(body: dict[str, Any], settings: Settings) -> Iterator[FieldError]:
    messages: list[dict[str, Any]] = body.get("messages") or []
    tools: list[dict[str, Any]] = body.get("tools") or []
    yield from _above("/messages", len(messages), "messages", "max_input_messages", settings)
    yield from _above("/tools", len(tools), "tools", "max_input_tools", settings)
    for index, message in enumerate(messages):
        yield from _of_message(f"/messages/{index}", message, settings)
    for index, tool in enumerate(tools):
        length = len(json.dumps(tool.get("parameters"), ensure_ascii=False, separators=(",", ":")))
        pointer = f"/tools/{index}/parameters"
        yield from _above(pointer, length, "characters", "max_tool_schema_chars", settings)


def _of_message(pointer: str, message: dict[str, Any], settings: Settings) -> Iterator[FieldError]:
    length = _text_length(message.get("content"))
    yield from _above(f"{pointer}/content", length, "characters", "max_message_chars", settings)
    for index, call in enumerate(message.get("toolCalls") or []):
        length = len(call["function"].get("arguments", ""))
        where = f"{pointer}/toolCalls/{index}/function/arguments"
        yield from _above(where, length, "characters", "max_arguments_chars", settings)


def _text_length(content: Any) -> int:
    """Characters of a content's text; what an activity holds counts as it is written."""
    match content:
        case str():
            return len(content)
        case list():
            parts = cast(list[dict[str, Any]], content)
            return sum(len(part["text"]) for part in parts if part["type"] == "text")
        case dict():
            return len(json.dumps(content, ensure_ascii=False, separators=(",", ":")))
        case _:
            return 0


def _above(pointer: str, size: int, unit: str, setting: str, settings: Settings) -> Iterator[FieldError]:
    limit: int = getattr(settings, setting)
    if size > limit:
        yield FieldError(pointer, f"{size} {unit}; at most {limit} are taken (AGUI_{setting.upper()})")
