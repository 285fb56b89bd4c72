"""Every limit of a request, on both of its sides; what is refused leaves nothing behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from agui_app.services import Overrides, Services, open_services
from agui_app.settings import Settings
from tests.api.conftest import Conducted, over
from tests.api.test_runs import RUNS, run, says

SMALL = {
    "max_message_chars": 10,
    "max_input_messages": 3,
    "max_input_tools": 2,
    "max_tool_schema_chars": 20,
    "max_arguments_chars": 5,
    "max_body_bytes": 2_000,
}


@pytest.fixture
async def services(settings: Settings, agent: Conducted) -> AsyncIterator[Services]:
    async with open_services(settings.model_copy(update=SMALL), Overrides(agent=agent)) as opened:
        yield opened


def called(arguments: str) -> dict[str, Any]:
    return {
        "id": "a",
        "role": "assistant",
        "toolCalls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}],
    }


def tool(parameters: Any = None) -> dict[str, Any]:
    return {"name": "f", "description": "d", "parameters": parameters}


def parts(*texts: str) -> list[dict[str, Any]]:
    return [*({"type": "text", "text": text} for text in texts), {"type": "image", "url": "x" * 100}]


LIMITS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "a message's text": (
        run("t", "r", says("你" * 10)),
        run("t", "r", says("你" * 11)),
        "/messages/0/content",
        "11 characters; at most 10 are taken (AGUI_MAX_MESSAGE_CHARS)",
    ),
    "the text of a message's parts": (
        run("t", "r", says(parts("12345", "67890"))),  # type: ignore[arg-type]
        run("t", "r", says(parts("12345", "67890", "1"))),  # type: ignore[arg-type]
        "/messages/0/content",
        "11 characters; at most 10 are taken (AGUI_MAX_MESSAGE_CHARS)",
    ),
    "a tool's answer": (
        run("t", "r", {"id": "x", "role": "tool", "toolCallId": "c", "content": "1234567890"}),
        run("t", "r", {"id": "x", "role": "tool", "toolCallId": "c", "content": "12345678901"}),
        "/messages/0/content",
        "11 characters; at most 10 are taken (AGUI_MAX_MESSAGE_CHARS)",
    ),
    "an activity": (
        run("t", "r", {"id": "y", "role": "activity", "activityType": "x", "content": {"a": "12"}}),
        run("t", "r", {"id": "y", "role": "activity", "activityType": "x", "content": {"a": "123"}}),
        "/messages/0/content",
        "11 characters; at most 10 are taken (AGUI_MAX_MESSAGE_CHARS)",
    ),
    "the messages of an input": (
        run("t", "r", *(says(id=f"m{number}") for number in range(3))),
        run("t", "r", *(says(id=f"m{number}") for number in range(4))),
        "/messages",
        "4 messages; at most 3 are taken (AGUI_MAX_INPUT_MESSAGES)",
    ),
    "the tools of an input": (
        run("t", "r", tools=[tool()] * 2),
        run("t", "r", tools=[tool()] * 3),
        "/tools",
        "3 tools; at most 2 are taken (AGUI_MAX_INPUT_TOOLS)",
    ),
    "the schema of a tool": (
        run("t", "r", tools=[tool(), tool({"description": "12"})]),
        run("t", "r", tools=[tool(), tool({"description": "123"})]),
        "/tools/1/parameters",
        "21 characters; at most 20 are taken (AGUI_MAX_TOOL_SCHEMA_CHARS)",
    ),
    "the arguments of a call": (
        run("t", "r", says(), called("12345")),
        run("t", "r", says(), called("123456")),
        "/messages/1/toolCalls/0/function/arguments",
        "6 characters; at most 5 are taken (AGUI_MAX_ARGUMENTS_CHARS)",
    ),
}


@pytest.mark.parametrize(("within", "above", "pointer", "message"), LIMITS.values(), ids=LIMITS)
async def test_a_field_over_its_limit_is_a_wrong_field_named_by_its_pointer_and_nothing_is_stored(
    http: httpx.AsyncClient, within: dict[str, Any], above: dict[str, Any], pointer: str, message: str
) -> None:
    refused = await http.post(RUNS, json=above)
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json() == {
        "type": "/api/docs#invalid_request",
        "title": "Invalid request",
        "status": 422,
        "detail": f"{pointer}: {message}",
        "code": "invalid_request",
        "errors": [{"pointer": pointer, "message": message}],
    }
    assert (await http.get(f"{RUNS}/t/history")).status_code == 404
    assert (await http.post(RUNS, json=within)).status_code == 202


async def test_a_body_over_its_limit_is_too_large_and_nothing_is_stored(http: httpx.AsyncClient) -> None:
    body = run("t", "r", filler="")
    room = 2_000 - len(httpx.Request("POST", "http://x", json=body).content)
    refused = await http.post(RUNS, json={**body, "filler": "x" * (room + 1)})
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert refused.json()["detail"] == "the body has more than 2000 bytes (AGUI_MAX_BODY_BYTES)"
    assert (await http.get(f"{RUNS}/t/history")).status_code == 404
    assert (await http.post(RUNS, json={**body, "filler": "x" * room})).status_code == 202


async def test_every_field_that_is_too_large_is_named_and_the_first_hundred_are_told(http: httpx.AsyncClient) -> None:
    refused = await http.post(RUNS, json=run("t", "r", says("x" * 11), called("123456"), tools=[tool()] * 3))
    assert [error["pointer"] for error in refused.json()["errors"]] == [
        "/tools",
        "/messages/0/content",
        "/messages/1/toolCalls/0/function/arguments",
    ]


async def test_of_a_body_in_which_everything_is_too_large_a_hundred_fields_are_told(settings: Settings) -> None:
    async with open_services(settings.model_copy(update={"max_message_chars": 1})) as services, over(services) as http:
        refused = await http.post(RUNS, json=run("t", "r", *(says("xx", id=f"m{number}") for number in range(150))))
    assert len(refused.json()["errors"]) == 100
    assert refused.json()["detail"].count(";") == 5


async def test_a_paste_of_twenty_thousand_lines_is_taken_by_the_default_limits(settings: Settings) -> None:
    paste = "\n".join(f"{number:05d} {'一行日志 a line of a log' * 4}" for number in range(20_000))
    async with open_services(settings, Overrides(agent=Conducted())) as services, over(services) as http:
        assert (await http.post(RUNS, json=run("t", "r", says(paste)))).status_code == 202
        page = (await http.get(f"{RUNS}/t/history")).json()
    assert page["messages"][0]["content"] == paste
