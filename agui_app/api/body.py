"""The JSON body of a request: read within its limits, and mended."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from starlette.requests import Request

from agui_app.errors import FieldError, InvalidRequest, MalformedJson, TooLarge, UnsupportedMediaType
from agui_app.protocol.sanitise import MAX_DEPTH, TooDeep, sanitise

_JSON_TYPE = re.compile(r"application/(?:[a-z0-9!#$&^_.+-]+\+)?json", re.IGNORECASE)
_SPARE_LEVELS = 10  # what events and payloads put around a part of the body must not take it over the limit


async def read_json(request: Request, limit_bytes: int) -> Any:
    """The body as a value; None when there is none. NUL and lone surrogates in it became U+FFFD.

    Raises: UnsupportedMediaType, TooLarge, MalformedJson, InvalidRequest (nested too deep).
    """
    declared = request.headers.get("content-type")
    if declared is not None and not _JSON_TYPE.fullmatch(declared.partition(";")[0].strip()):
        raise UnsupportedMediaType(f"the body's media type is {declared!r}; send application/json")
    raw = await _read(request, limit_bytes)
    if not raw:
        return None
    if declared is None:
        raise UnsupportedMediaType("the body has no media type; send Content-Type: application/json")
    try:
        return sanitise(_parse(raw), depth=_SPARE_LEVELS + 1)
    except (TooDeep, RecursionError) as error:
        message = f"nested deeper than {MAX_DEPTH - _SPARE_LEVELS} levels"
        raise InvalidRequest(f"the body is {message}", errors=(FieldError("", message),)) from error


async def _read(request: Request, limit_bytes: int) -> bytes:
    too_large = TooLarge(f"the body has more than {limit_bytes} bytes")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and len(declared) < 20 and int(declared) > limit_bytes:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit_bytes:
            raise too_large
    return bytes(body)


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise MalformedJson(f"the body is no UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise MalformedJson(f"the body is no JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except ValueError as error:
        raise MalformedJson(f"the body is no JSON: {error}") from error


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        _refuse_number(text)
    return value


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is no number that can be kept")


def json_body(model: str, *, required: bool) -> dict[str, Any]:
    """The body of a route that reads it itself, for OpenAPI; `model` is one of `docs`."""
    schema = {"$ref": f"#/components/schemas/{model}"}
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def escape(key: str) -> str:
    """`key` as one segment of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
