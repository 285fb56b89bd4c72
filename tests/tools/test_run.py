"""One call of a tool, and every way in which it is not carried out."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.errors import StoreUnavailable, ToolError
from agui_app.tools.registry import Handler, Registry, Tool, ToolContext, ToolOutcome
from agui_app.tools.run import carry_out, error_card

CONTEXT = ToolContext(
    owner_id="local",
    thread_id="t",
    run_id="r",
    call_id="c",
    timezone="Asia/Shanghai",
    locale="zh",
    now=datetime(2026, 2, 28, 9, tzinfo=ZoneInfo("Asia/Shanghai")),
    session=cast("AsyncSession", None),
)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}, "required": []}


def registry(handler: Handler) -> Registry:
    return {"echo": Tool("echo", "says it again", SCHEMA, handler)}


async def echo(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    return ToolOutcome(result={"call": context.call_id, **args})


async def refuse(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    raise ToolError("'n': 1 is taken", tool_code="invalid_arguments")


async def fail(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    raise RuntimeError("password=hunter2")


async def time_out_by_itself(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    raise TimeoutError("upstream")


async def lose_the_store(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    raise StoreUnavailable("no answer from /secret/path")


async def hang(context: ToolContext, args: dict[str, Any]) -> ToolOutcome:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_handler_gets_checked_arguments_and_its_context():
    outcome = await carry_out(registry(echo), CONTEXT, "echo", "", 5)

    assert outcome == ToolOutcome(result={"call": "c", "n": 1})


@pytest.mark.parametrize(
    ("handler", "name", "args_text", "timeout_s", "message", "code"),
    [
        (echo, "no_such_tool", "{}", 5, "there is no tool 'no_such_tool'; known tools: echo", "unknown_tool"),
        (echo, "echo", '{"n": "x"}', 5, "'n': 'x' is not of type 'integer'", "invalid_arguments"),
        (refuse, "echo", "{}", 5, "'n': 1 is taken", "invalid_arguments"),
        (hang, "echo", "{}", 0.01, "echo gave no answer within 0.01 s", "timeout"),
        (fail, "echo", "{}", 5, "echo failed with RuntimeError", "failed"),
        (time_out_by_itself, "echo", "{}", 5, "echo failed with TimeoutError", "failed"),
        (lose_the_store, "echo", "{}", 5, "echo failed with StoreUnavailable", "failed"),
    ],
)
async def test_a_call_that_is_not_carried_out_says_why_and_no_more(
    handler: Handler, name: str, args_text: str, timeout_s: float, message: str, code: str
):
    with pytest.raises(ToolError) as caught:
        await carry_out(registry(handler), CONTEXT, name, args_text, timeout_s)

    assert (caught.value.detail, caught.value.tool_code) == (message, code)


async def test_bad_json_is_told_as_bad_json():
    with pytest.raises(ToolError, match="JSON") as caught:
        await carry_out(registry(echo), CONTEXT, "echo", "{bad json", 5)

    assert caught.value.tool_code == "invalid_json"


async def test_a_cancelled_call_stays_cancelled():
    task = asyncio.ensure_future(carry_out(registry(hang), CONTEXT, "echo", "{}", 60))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("timeout", {"message": "m", "code": "timeout", "toolName": "echo"}),
        (None, {"message": "m", "toolName": "echo"}),
    ],
)
def test_an_error_card_holds_message_code_and_tool(code: str | None, data: dict[str, str]):
    assert error_card("m", code, "echo") == {
        "type": "card",
        "cardType": "error_card.v1",
        "data": data,
        "actions": [],
    }
