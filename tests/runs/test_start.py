"""Starting runs: what is stored, what is the same again, what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agui_app.agents.base import AgentInput, ToolSpec
from agui_app.conversation.messages import standard_messages
from agui_app.errors import InvalidRequest, RunActive, RunConflict, StoreUnavailable
from agui_app.runs.service import StartedRun
from tests.runs.house import ECHO_SCHEMA, MS, T0, Open, Scripted, Waits, body, call, text, user


async def forever(input: AgentInput) -> AsyncIterator[Any]:
    yield text("working")[0]
    await asyncio.Event().wait()


async def test_the_first_message_makes_thread_run_row_and_event(open_house: Open) -> None:
    async with open_house(Scripted(text("hi"))) as house:
        started = await house.start(body(user(" hello\nworld ")))
        assert started == StartedRun("t", "r", "running", 0)
        await house.events()
        first = (await house.log())[0]
        assert first == {
            "type": "RUN_STARTED",
            "timestamp": MS,
            "threadId": "t",
            "runId": "r",
            "input": {
                "threadId": "t",
                "runId": "r",
                "messages": [{"id": "u1", "role": "user", "content": " hello\nworld "}],
                "tools": [],
                "context": [],
            },
        }
        [thread] = await house.threads()
        assert (thread["title"], thread["created_at"], thread["owner_id"]) == ("hello world", T0, "local")
        [run] = await house.runs()
        assert (run["id"], run["status"], run["first_event_id"], run["locale"], run["timezone"]) == (
            *("r", "finished", 1, "en", "Europe/Berlin"),
        )


async def test_ids_that_are_left_out_are_made(open_house: Open) -> None:
    async with open_house() as house:
        started = await house.start({"messages": [{"role": "user", "content": "hi"}]})
        assert started.thread_id.startswith("thread_")
        assert started.run_id.startswith("run_")
        assert [message["role"] for message in await house.messages()] == ["user"]


async def test_only_messages_that_the_thread_does_not_have_are_stored(open_house: Open) -> None:
    async with open_house(Scripted(text("one", id="m1"), text("two", id="m2"))) as house:
        await house.play(body(user("first", "u1")))
        changed = {"id": "m1", "role": "assistant", "content": "not what it said"}
        events = await house.play(
            body(user("first", "u1"), changed, user("second", "u2"), user("again", "u2"), run="r2")
        )
        assert events[0]["input"]["messages"] == [user("second", "u2")]
        contents = [(message["id"], message["content"]) for message in await house.messages()]
        assert contents == [("u1", "first"), ("m1", "one"), ("u2", "second"), ("m2", "two")]
        assert [message.text for message in house.agent.inputs[1].messages] == ["first", "one", "second"]


async def test_the_position_before_the_run_is_given_and_the_run_follows_it(open_house: Open) -> None:
    async with open_house() as house:
        await house.play(body(user()))
        started = await house.start(body(user("more", "u2"), run="r2"))
        frames = await house.frames("t", "r2")
        assert [frame.id for frame in frames] == [started.last_event_id + 1, started.last_event_id + 2]
        assert await house.services.runs.run_bounds("local", "t", "r2") == (frames[0].id, frames[-1].id)


async def test_the_same_request_is_the_same_run(open_house: Open) -> None:
    async with open_house(Scripted(forever)) as house:
        asked = body(user(), forwardedProps={"a": 1.0, "b": 2})
        again = body(user(), forwardedProps={"b": 2, "a": 1})
        assert await house.start(asked) == await house.start(again) == StartedRun("t", "r", "running", 0)
        assert len(house.agent.inputs) <= 1
        await house.services.runs.cancel("local", "t", None)
        await house.events()
        assert await house.start(asked) == StartedRun("t", "r", "cancelled", 0)
        assert len(await house.runs()) == 1


async def test_a_run_id_with_another_body_is_a_conflict_in_any_thread(open_house: Open) -> None:
    async with open_house() as house:
        await house.play(body(user()))
        for other in (body(user("other")), body(user(), thread="u")):
            with pytest.raises(RunConflict):
                await house.start(other)
        assert len(await house.threads()) == 1


async def test_a_second_run_of_a_thread_is_refused_and_nothing_stored(open_house: Open, until: Waits) -> None:
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        with pytest.raises(RunActive) as caught:
            await house.start(body(user("second", "u2"), run="r2"))
        assert caught.value.extra == {"activeRunId": "r"}
        assert "u2" not in [message["id"] for message in await house.messages()]
        await house.start(body(user("elsewhere"), thread="u", run="r3"))
        assert [run["id"] for run in await house.runs()] == ["r", "r3"]


async def test_two_at_once_are_one_run_and_one_refusal(open_house: Open) -> None:
    async with open_house(Scripted(forever)) as house:
        answers = await asyncio.gather(
            *(house.start(body(user(id=f"u{number}"), run=f"r{number}")) for number in range(5)), return_exceptions=True
        )
        assert [type(answer) for answer in answers].count(StartedRun) == 1
        assert [type(answer) for answer in answers].count(RunActive) == 4


async def test_a_run_sent_while_a_cancel_is_under_way_waits_for_its_turn(open_house: Open, until: Waits) -> None:
    async with open_house(Scripted(forever, text("second", id="m2"))) as house:
        await house.start(body(user()))
        await until(lambda: house.agent.inputs)
        await house.services.runs.cancel("local", "t", None)
        events = await house.play(body(user("second", "u2"), run="r2"))
        assert [event["type"] for event in events][-1] == "RUN_FINISHED"
        assert [run["status"] for run in await house.runs()] == ["cancelled", "finished"]


async def test_a_cancel_that_takes_too_long_is_a_refusal(open_house: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agui_app.runs.service.CANCEL_WAIT_S", 0.0)
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        await house.services.runs.cancel("local", "t", None)
        with pytest.raises(RunActive):
            await house.start(body(user("second", "u2"), run="r2"))


async def test_a_client_that_goes_away_leaves_no_run_behind_that_is_not_carried_out(open_house: Open) -> None:
    async with open_house() as house:
        task = asyncio.ensure_future(house.start(body(user())))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await house.play(body(user())))[-1]["type"] == "RUN_FINISHED"


async def test_a_wrong_zone_stores_nothing(open_house: Open) -> None:
    async with open_house() as house:
        with pytest.raises(InvalidRequest):
            await house.start(body(user(), forwardedProps={"timezone": "Mars"}))
        assert await house.threads() == []


async def test_a_server_that_stops_takes_no_run(open_house: Open) -> None:
    async with open_house() as house:
        await house.services.runs.shutdown()
        with pytest.raises(StoreUnavailable):
            await house.start(body(user()))


async def test_the_agent_is_told_all_there_is_to_know(open_house: Open) -> None:
    shown = {"name": "pick", "description": "asks", "parameters": {"type": "object", "properties": {}}}
    tools = [shown, {"name": "echo", "description": "not ours", "parameters": {}}, {"name": ""}, "nonsense"]
    asked = body(
        user(),
        tools=tools,
        state={"n": 1},
        context=[{"description": "d", "value": "v"}],
        forwardedProps={"timezone": "Asia/Shanghai", "locale": "zh-CN", "own": 1},
    )
    async with open_house() as house:
        await house.play(asked)
        [told] = house.agent.inputs
        assert (told.thread_id, told.run_id, told.timezone, told.locale) == ("t", "r", "Asia/Shanghai", "zh")
        assert told.now.isoformat() == "2026-03-02T17:00:00+08:00"
        assert (told.state, told.context, told.forwarded_props["own"]) == (
            {"n": 1},
            ({"description": "d", "value": "v"},),
            1,
        )
        assert told.tools == (
            ToolSpec("echo", "does echo", ECHO_SCHEMA),
            ToolSpec("refuse", "does refuse", {"type": "object"}),
            ToolSpec("pick", "asks", shown["parameters"]),
        )


async def test_the_agent_gets_earlier_results_in_full(open_house: Open) -> None:
    agent = Scripted([*call("echo", {"say": "hi"})], text("done"), text("more", id="m2"))
    async with open_house(agent) as house:
        await house.play(body(user()))
        await house.play(body(user("next", "u2"), run="r2"))
        own, later = agent.inputs[1].messages, agent.inputs[2].messages
        assert standard_messages(own) == standard_messages(later)[:3]
        assert later[2].tool is not None
        assert (later[2].tool, later[2].text) == (own[2].tool, "hi")


async def test_results_that_come_with_a_request_are_stored_with_payloads(open_house: Open, until: Waits) -> None:
    given = [
        user(),
        {
            "id": "a1",
            "role": "assistant",
            "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "pick", "arguments": '{"q":1}'}}],
        },
        {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "picked"},
    ]
    async with open_house(Scripted(text("thanks"))) as house:
        await house.play(body(*given))

        async def stored() -> bool:
            return all("storage_missing" not in (row["metadata"] or {}) for row in await house.messages())

        await until(stored)
        page = await house.page()
        assert [(one["role"], one["content"]) for one in page["messages"]] == [
            ("user", "hello"),
            ("assistant", ""),
            ("tool", "picked"),
            ("assistant", "thanks"),
        ]
        assert (page["messages"][2]["args"], page["messages"][2].get("payloadMissing")) == ({"q": 1}, None)
