"""What an agent may say at most: the arguments of one call, and everything in one run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agui_app.agents.base import AgentInput
from agui_app.protocol.events import read_event
from agui_app.runs.coalesce import extent
from tests.runs.house import Obj, Open, Scripted, Waits, body, call, text, user

CUT: Obj = {"metadata": {"agui-app": {"interrupted": True}}}
SAY = json.dumps({"say": "x" * 80})


def texts(events: list[Obj]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


async def test_arguments_at_the_limit_are_taken(open_house: Open) -> None:
    async with open_house(Scripted(call("echo", SAY), text("done")), max_arguments_chars=len(SAY)) as house:
        events = await house.play(body(user()))
        assert [event["type"] for event in events if "ERROR" in event["type"]] == []
        assert next(event for event in events if event["type"] == "TOOL_CALL_RESULT")["content"] == "x" * 80


async def test_a_call_whose_arguments_are_too_large_is_refused_and_the_agent_is_told(open_house: Open) -> None:
    agent = Scripted(call("echo", SAY), text("shorter, then"))
    async with open_house(agent, max_arguments_chars=len(SAY) - 1) as house:
        events = await house.play(body(user()))
        told = "the arguments have 91 characters; echo takes at most 90 (AGUI_MAX_ARGUMENTS_CHARS)"
        assert events[4] == {
            "type": "TOOL_CALL_ERROR",
            "toolCallId": "c1",
            "error": told,
            "code": "invalid_arguments",
        }
        assert (events[5]["type"], events[5]["error"]) == ("TOOL_CALL_RESULT", told)
        assert events[5]["ui"]["data"] == {"message": told, "code": "invalid_arguments", "toolName": "echo"}
        assert (texts(events), events[-1]["type"]) == ("shorter, then", "RUN_FINISHED")
        assert agent.inputs[1].messages[-1].tool.error == told


def endless(kind: str) -> list[Any]:
    """The beginning of something, and the piece that comes again and again."""
    match kind:
        case "text":
            start, piece, _ = text("0123456789")
        case "reasoning":
            start = {"type": "REASONING_MESSAGE_START", "messageId": "m1", "role": "reasoning"}
            piece = {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m1", "delta": "0123456789"}
        case "arguments":
            start, piece, _ = call("echo", "0123456789")
        case "what is dropped":
            start = piece = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "nobody", "delta": "0123456789"}
        case _:
            start = piece = {"type": "CUSTOM", "name": "x", "value": 1}
    return [start, piece]


@pytest.mark.parametrize("kind", ["text", "reasoning", "arguments", "what is dropped", "other events"])
async def test_an_agent_that_never_ends_is_ended_and_what_it_said_is_kept(open_house: Open, kind: str) -> None:
    async def forever(input: AgentInput) -> AsyncIterator[Any]:
        start, piece = endless(kind)
        yield start
        while True:
            yield piece

    async with open_house(Scripted(forever), max_run_chars=10_000) as house:
        events = await house.play(body(user()))
        assert events[-1] == {
            "type": "RUN_ERROR",
            "message": "The agent said more than 10000 characters in one run (AGUI_MAX_RUN_CHARS)",
            "code": "too_large",
        }
        said = sum(len(event.get("delta", "")) for event in events)
        assert (9_800 < said <= 10_000) == (kind in ("text", "reasoning", "arguments"))
        assert sum(len(json.dumps(event)) for event in events) < 40_000
        assert house.agent.closed == 1
        page = await house.page()
        assert (page["activeRunId"], page["runs"][0]["status"]) == (None, "failed")
        if kind == "text":
            assert (len(page["messages"][1]["content"]), page["messages"][1]["status"]) == (said, "interrupted")
            assert events[-2] == {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT}


async def test_an_agent_that_says_just_as_much_as_it_may_ends_well(open_house: Open) -> None:
    said = text("x" * 2_000)
    limit = sum(extent(read_event(event)) for event in said)
    async with open_house(Scripted(said, said), max_run_chars=limit) as house:
        assert (await house.play(body(user())))[-1]["type"] == "RUN_FINISHED"
    async with open_house(Scripted(said), max_run_chars=limit - 1) as house:
        events = await house.play(body(user("again", "u2"), run="r2"))
        assert (events[-1]["code"], len(texts(events))) == ("too_large", 2_000)


async def test_the_rounds_of_a_run_count_together(open_house: Open) -> None:
    rounds = [call("echo", {"say": "x" * 500}, id=f"c{number}") for number in range(9)]
    async with open_house(Scripted(*rounds), max_run_chars=2_000) as house:
        events = await house.play(body(user()))
        assert events[-1]["code"] == "too_large"
        results = [event for event in events if event["type"] == "TOOL_CALL_RESULT"]
        assert ["error" in result for result in results] == [False, False, False, True]


async def test_an_agent_that_never_waits_can_be_cancelled_and_leaves_others_their_turn(
    open_house: Open, until: Waits
) -> None:
    async def forever(input: AgentInput) -> AsyncIterator[Any]:
        while True:
            yield {"type": "THINKING_END"}  # of nothing: it means nothing and is said to nobody

    async with open_house(Scripted(forever, text("here"))) as house:
        await house.start(body(user()))
        other = await house.play(body(user(), thread="t2", run="r2"))
        assert other[-1]["type"] == "RUN_FINISHED"
        async with asyncio.timeout(10):
            assert (await house.services.runs.cancel("local", "t", None))["status"] == "cancelling"
            assert (await house.events())[-1]["outcome"] == {"type": "cancelled"}
