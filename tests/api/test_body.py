from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from agui_app.api.body import read_json
from agui_app.errors import AguiError, InvalidRequest, MalformedJson, TooLarge, UnsupportedMediaType

JSON = "application/json"


def posted(*chunks: bytes, **headers: str) -> Request:
    coming: list[Message] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    coming.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Message:
        return coming.pop(0)

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": named}, receive)


async def read(*chunks: bytes, limit: int = 1000, content_type: str = JSON, **headers: str) -> Any:
    return await read_json(posted(*chunks, content_type=content_type, **headers), limit)


async def refusal(chunks: Iterable[bytes], **more: Any) -> AguiError:
    with pytest.raises(AguiError) as caught:
        await read(*chunks, **more)
    return caught.value


async def test_a_body_in_pieces_is_one_value() -> None:
    assert await read(b'{"a": "\xe4', b'\xbd\xa0", "n": [1, 2.5, null]}') == {"a": "你", "n": [1, 2.5, None]}


@pytest.mark.parametrize(
    "media_type", [JSON, "application/json; charset=utf-8", "APPLICATION/JSON", "application/a+json"]
)
async def test_json_may_be_declared_in_these_ways(media_type: str) -> None:
    assert await read(b"[]", content_type=media_type) == []


@pytest.mark.parametrize("media_type", ["text/plain", "application/jsonp", "multipart/form-data", "", "json"])
async def test_another_media_type_is_refused_also_without_a_body(media_type: str) -> None:
    assert type(await refusal([b"{}"], content_type=media_type)) is UnsupportedMediaType
    assert type(await refusal([], content_type=media_type)) is UnsupportedMediaType


async def test_a_body_without_a_media_type_is_refused_and_no_body_is_none() -> None:
    with pytest.raises(UnsupportedMediaType):
        await read_json(posted(b"{}"), 1000)
    assert await read_json(posted(), 1000) is None


async def test_a_body_over_the_limit_is_refused_by_its_declared_length() -> None:
    assert type(await refusal([b"{}"], content_length="1001")) is TooLarge


async def test_a_body_over_the_limit_is_refused_while_it_is_read() -> None:
    assert type(await refusal([b'"', b"x" * 600, b"x" * 600, b'"'])) is TooLarge
    assert await read(b'"' + b"x" * 998 + b'"') == "x" * 998


@pytest.mark.parametrize(
    "raw",
    [b"{", b"nonsense", b"{} {}", b"[NaN]", b"[-Infinity]", b"[1e999]", b'"\xff"', b"\xff\xfe[\x00]\x00", b"1" * 999],
)
async def test_what_is_no_json_is_malformed(raw: bytes) -> None:
    if raw == b"1" * 999:
        raw *= 5  # more digits than Python reads
    assert type(await refusal([raw], limit=10_000)) is MalformedJson


async def test_a_byte_order_mark_is_dropped() -> None:
    assert await read(b"\xef\xbb\xbf[]") == []


async def test_nul_and_lone_surrogates_become_replacement_characters_and_pairs_are_joined() -> None:
    assert await read(rb'{"a\u0000": ["\ud83d", "\ud83d\ude00"]}') == {"a\ufffd": ["\ufffd", "😀"]}


@pytest.mark.parametrize("depth", [91, 2_000, 200_000])
async def test_a_body_nested_too_deep_is_refused(depth: int) -> None:
    error = await refusal([b"[" * depth + b"]" * depth], limit=1_000_000)
    assert (type(error), error.detail) == (InvalidRequest, "the body is nested deeper than 90 levels")


async def test_a_body_nested_as_deep_as_allowed_is_read() -> None:
    value = await read(b"[" * 90 + b"]" * 90)
    assert isinstance(value, list)
