"""What a request asks for."""

from __future__ import annotations

from typing import Any

import pytest
from tzlocal import get_localzone_name

from agui_app.conversation.model import Message, Role
from agui_app.errors import FieldError, InvalidRequest
from agui_app.runs.requests import canonical_json, read_request, title_of


def read(forwarded: Any = None, default: str = "Asia/Tokyo") -> tuple[str, str]:
    request = read_request({"messages": [], "forwardedProps": forwarded}, default_timezone=default)
    return request.timezone, request.locale


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        (None, ("Asia/Tokyo", "en")),
        ("nonsense", ("Asia/Tokyo", "en")),
        ({"timezone": "Europe/Berlin", "locale": "zh"}, ("Europe/Berlin", "zh")),
        ({"locale": "zh-Hant-TW"}, ("Asia/Tokyo", "zh")),
        ({"locale": "ZH_cn"}, ("Asia/Tokyo", "zh")),
        ({"locale": "en-GB"}, ("Asia/Tokyo", "en")),
        ({"locale": "fr"}, ("Asia/Tokyo", "en")),
        ({"locale": 5}, ("Asia/Tokyo", "en")),
    ],
)
def test_zone_and_language_travel_with_the_run(forwarded: Any, expected: tuple[str, str]) -> None:
    assert read(forwarded) == expected


def test_without_any_zone_it_is_the_one_of_the_system() -> None:
    assert read(default="") == (get_localzone_name() or "UTC", "en")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime", 5, "Europe"])
def test_a_zone_that_is_none_is_named_with_a_pointer(zone: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read({"timezone": zone})
    message = f"{zone!r} is no IANA time zone, such as Europe/Berlin"
    assert (caught.value.detail, caught.value.errors) == (message, (FieldError("/forwardedProps/timezone", message),))


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [(None, None), ({}, None), ({"replaceFrom": None}, None), ({"replaceFrom": "u:1"}, "u:1")],
)
def test_what_a_run_replaces_is_a_message_by_its_id(forwarded: Any, expected: str | None) -> None:
    assert read_request({"forwardedProps": forwarded}, default_timezone="UTC").replace_from == expected


@pytest.mark.parametrize("value", ["", "a b", "x" * 129, 5, True, ["u1"], {"id": "u1"}])
def test_what_is_no_id_cannot_be_replaced(value: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read({"replaceFrom": value})
    message = f"{str(value)[:100]!r} is no id of a message"
    assert caught.value.errors == (FieldError("/forwardedProps/replaceFrom", message),)


def test_bodies_that_mean_the_same_are_the_same() -> None:
    one = {"a": 1, "b": [{"c": 1.0, "d": "é"}], "e": 1.5, "f": True}
    other = {"f": True, "e": 1.5, "b": [{"d": "é", "c": 1}], "a": 1.0}
    assert canonical_json(one) == canonical_json(other) == '{"a":1,"b":[{"c":1,"d":"é"}],"e":1.5,"f":true}'


def test_a_body_with_half_a_surrogate_pair_has_a_hash() -> None:
    assert len(read_request({"messages": [{"id": "u", "content": "\ud800"}]}, default_timezone="UTC").body_hash) == 64


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        ([], ""),
        (["  \n "], ""),
        ([" one\n\tline  "], "one line"),
        (["", "second"], "second"),
        (["x" * 80], "x" * 80),
        (["x" * 81], "x" * 79 + "…"),
    ],
)
def test_the_title_is_one_line_of_what_the_reader_said_first(texts: list[str], title: str) -> None:
    other = Message("s", Role.SYSTEM, text="not this")
    assert title_of([other, *(Message(str(n), Role.USER, text=text) for n, text in enumerate(texts))]) == title
