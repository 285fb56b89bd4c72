"""Runs from their first event to their last: the whole log, and what is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agui_app.agents.base import AgentInput
from agui_app.errors import AguiError
from agui_app.settings import Settings
from tests.runs.house import TIME, Obj, Open, Scripted, Waits, body, call, text, user

STARTED: Obj = {
    "type": "RUN_STARTED",
    "threadId": "t",
    "runId": "r",
    "input": {"threadId": "t", "runId": "r", "messages": [user()], "tools": [], "context": []},
}
FINISHED: Obj = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "success"}}
CUT: Obj = {"metadata": {"agui-app": {"interrupted": True}}}


def error(message: str, code: str) -> Obj:
    return {"type": "RUN_ERROR", "message": message, "code": code}


async def test_a_text_is_logged_coalesced_and_stored(open_house: Open) -> None:
    async with open_house(Scripted(text("a", "b", "c"))) as house:
        assert await house.play(body(user())) == [STARTED, *text("abc"), FINISHED]
        assert [(row["position"], row["id"], row["content"], row["status"]) for row in await house.messages()] == [
            (0, "u1", "hello", "complete"),
            (1, "m1", "abc", "complete"),
        ]
        [run] = await house.runs()
        assert (run["status"], run["last_event_id"], run["outcome"]) == ("finished", 5, {"type": "success"})


async def test_every_event_has_a_time_and_ids_count_up(open_house: Open) -> None:
    given = [{"type": "CUSTOM", "name": "x", "value": 1, "timestamp": 5}, *text("a")]
    async with open_house(Scripted(given)) as house:
        await house.play(body(user()))
        frames = await house.frames()
        assert [frame.id for frame in frames] == [1, 2, 3, 4, 5, 6]
        assert [frame.last for frame in frames] == [False] * 5 + [True]
        times = [json.loads(frame.data)["timestamp"] for frame in frames]
        assert times == [times[0], 5, *[times[0]] * 4]


async def test_what_breaks_the_order_of_events_is_dropped_before_the_log(open_house: Open) -> None:
    start, content, end = text("a")
    given = [start, start, content, end, end, {"type": "TEXT_MESSAGE_CONTENT", "messageId": "nobody", "delta": "x"}]
    async with open_house(Scripted(given)) as house:
        assert await house.play(body(user())) == [STARTED, start, content, end, FINISHED]


async def test_the_agents_own_start_is_swallowed_and_its_end_is_honoured(open_house: Open) -> None:
    end = {
        "type": "RUN_FINISHED",
        "threadId": "theirs",
        "runId": "theirs",
        "result": {"n": 1},
        "usage": [{"model": "m", "inputTokens": 3}],
    }
    given = [{"type": "RUN_STARTED", "threadId": "theirs", "runId": "theirs"}, *text("a"), end, *text("late", id="m2")]
    async with open_house(Scripted(given)) as house:
        events = await house.play(body(user()))
        assert events == [STARTED, *text("a"), {**end, "threadId": "t", "runId": "r"}]
        assert house.agent.closed == 1
        [run] = (await house.page())["runs"]
        assert (run["status"], run["result"], run["usage"]) == ("finished", {"n": 1}, end["usage"])


async def test_an_error_of_the_agent_ends_the_run_and_what_is_open(open_house: Open) -> None:
    given = [*text("half")[:2], {"type": "STEP_STARTED", "stepName": "intent"}, error("quota", "q")]
    async with open_house(Scripted(given)) as house:
        assert await house.play(body(user())) == [
            STARTED,
            *given[:3],
            {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT},
            {"type": "STEP_FINISHED", "stepName": "intent", **CUT},
            error("quota", "q"),
        ]
        page = await house.page()
        assert [message["status"] for message in page["messages"]] == ["complete", "interrupted"]
        assert page["runs"] == [
            {
                "runId": "r",
                "status": "failed",
                "steps": [{"name": "intent", "state": "error", "startedAt": TIME, "finishedAt": TIME}],
                "startedAt": TIME,
                "error": {"message": "quota", "code": "q"},
                "finishedAt": TIME,
            }
        ]


async def test_an_agent_that_raises_in_the_middle_of_a_text_leaks_nothing(open_house: Open) -> None:
    async def breaks(input: AgentInput) -> AsyncIterator[Any]:
        for event in text("half")[:2]:
            yield event
        raise RuntimeError("secret key at /home/me")

    async with open_house(Scripted(breaks)) as house:
        assert await house.play(body(user())) == [
            STARTED,
            *text("half")[:2],
            {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT},
            error("The agent failed with RuntimeError", "agent_failed"),
        ]


@pytest.mark.parametrize("raised", [AguiError("The model is not there"), asyncio.CancelledError()])
async def test_an_agent_may_give_up_in_any_way(open_house: Open, raised: BaseException) -> None:
    async def breaks(input: AgentInput) -> AsyncIterator[Any]:
        raise raised
        yield

    async with open_house(Scripted(breaks)) as house:
        told = raised.detail if isinstance(raised, AguiError) else "The agent gave up"
        assert await house.play(body(user())) == [STARTED, error(told, "agent_failed")]


async def test_an_agent_that_does_not_close_well_spoils_nothing(open_house: Open) -> None:
    class Bad:
        def __init__(self) -> None:
            self.events = iter([*text("a"), FINISHED])

        def run(self, input: AgentInput) -> Bad:
            return self

        def __aiter__(self) -> Bad:
            return self

        async def __anext__(self) -> Any:
            return next(self.events)

        async def aclose(self) -> None:
            raise RuntimeError("no")

    async with open_house(Bad()) as house:
        assert await house.play(body(user())) == [STARTED, *text("a"), FINISHED]


async def test_an_iterator_without_a_close_is_an_agent_too(open_house: Open) -> None:
    class Plain:
        def run(self, input: AgentInput) -> Any:
            class Events:
                events = iter(text("a"))

                def __aiter__(self) -> Any:
                    return self

                async def __anext__(self) -> Any:
                    try:
                        return next(self.events)
                    except StopIteration:
                        raise StopAsyncIteration from None

            return Events()

    async with open_house(Plain()) as house:
        assert await house.play(body(user())) == [STARTED, *text("a"), FINISHED]


async def test_what_the_agent_leaves_open_is_ended_and_marked(open_house: Open) -> None:
    given = [*text("half")[:2], *call("pick", '{"a":')[:2]]
    async with open_house(Scripted(given)) as house:
        events = await house.play(body(user(), tools=[{"name": "pick", "description": "", "parameters": {}}]))
        result = events[-2]
        assert events[:5] == [STARTED, *given]
        assert events[5:7] == [
            {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT},
            {"type": "TOOL_CALL_END", "toolCallId": "c1", **CUT},
        ]
        assert (result["type"], result["error"], result["content"]) == (
            *("TOOL_CALL_RESULT", "The call was cut short", "pick failed: The call was cut short"),
        )
        assert events[-1] == error("The agent stopped in the middle of a call", "interrupted")


@pytest.mark.parametrize("answer", [{"type": "TOOL_CALL_RESULT", "content": "ok", "messageId": "x"}, {"error": "no"}])
async def test_a_call_that_its_agent_answers_without_ending_it_is_ended_first(open_house: Open, answer: Obj) -> None:
    answer = {"type": "TOOL_CALL_ERROR", "toolCallId": "c1", **answer}
    async with open_house(Scripted([*call("pick")[:2], answer])) as house:
        events = await house.play(body(user()))
        assert [event["type"] for event in events[1:5]] == [
            *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", answer["type"])
        ]
        assert events[3] == {"type": "TOOL_CALL_END", "toolCallId": "c1", **CUT}
        assert events[-1] == FINISHED
        status = (await house.page())["messages"][1]["toolCalls"][0]["status"]
        assert status == ("error" if "error" in answer else "completed")


async def test_what_a_snapshot_takes_away_is_ended_all_the_same(open_house: Open) -> None:
    given = [*text("a")[:2], *call("pick")[:2], {"type": "MESSAGES_SNAPSHOT", "messages": []}]
    async with open_house(Scripted(given)) as house:
        events = await house.play(body(user()))
        assert events[-3:-1] == [
            {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT},
            {"type": "TOOL_CALL_END", "toolCallId": "c1", **CUT},
        ]
        assert events[-1]["type"] == "RUN_FINISHED"
        assert (await house.page())["messages"] == []


async def test_chunks_are_expanded_and_surrogates_joined_before_the_log(open_house: Open) -> None:
    given = [
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "delta": "x\ud83d"},
        {"type": "TEXT_MESSAGE_CHUNK", "delta": "\ude00y\x00"},
    ]
    async with open_house(Scripted(given)) as house:
        events = await house.play(body(user()))
        assert [event["type"] for event in events] == [
            *("RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED")
        ]
        assert events[2]["delta"] == "x😀y\ufffd"


async def test_whatever_an_agent_sends_the_run_ends_closed(open_house: Open) -> None:
    given: list[Any] = [
        *(None, 5, "text", [], {}, {"type": 7}, {"type": "NO_SUCH"}, {"type": "TEXT_MESSAGE_CONTENT"}, object()),
        {"type": "TEXT_MESSAGE_END", "messageId": "nobody"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "nobody", "delta": "x"},
        {"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/no", "value": 1}]},
        {"type": "MESSAGES_SNAPSHOT", "messages": [None, 5, {"id": "x"}], "metadata": {"agui-app": {"partial": True}}},
        *text("a"),
    ]
    async with open_house(Scripted(given)) as house:
        events = await house.play(body(user()))
        assert events[-4:] == [*text("a"), FINISHED]
        assert [(row["id"], row["content"]) for row in await house.messages()][-1] == ("m1", "a")


async def test_a_message_id_of_an_earlier_run_gets_the_runs_id_before_it(open_house: Open) -> None:
    agent = Scripted(text("one"), [*text("two"), *text("three", id="u2"), *call("pick", id="c1")])
    async with open_house(agent) as house:
        await house.play(body(user()))
        events = await house.play(body(user("next", "u2"), run="r2"))
        ids = [event["messageId"] for event in events if event["type"] == "TEXT_MESSAGE_START"]
        assert ids == ["r2.m1", "r2.u2"]
        contents = [(row["id"], row["content"]) for row in await house.messages() if row["role"] != "tool"]
        assert contents[:5] == [("u1", "hello"), ("m1", "one"), ("u2", "next"), ("r2.m1", "two"), ("r2.u2", "three")]


async def test_a_snapshot_changes_rows_of_earlier_runs_by_id_and_removes_none(open_house: Open) -> None:
    snapshot = {
        "type": "MESSAGES_SNAPSHOT",
        "messages": [
            {"id": "m1", "role": "assistant", "content": "one, corrected"},
            {"id": "u2", "role": "user", "content": "next"},
            {"id": "m3", "role": "assistant", "content": "new"},
        ],
    }
    agent = Scripted(text("one"), [*text("gone", id="m2"), snapshot, *call("echo", {"say": "x"})], [])
    async with open_house(agent) as house:
        await house.play(body(user()))
        events = await house.play(body(user("next", "u2"), run="r2"))
        logged = next(event for event in events if event["type"] == "MESSAGES_SNAPSHOT")
        assert logged["messages"] == [{**snapshot["messages"][0], "runId": "r"}, *snapshot["messages"][1:]]
        contents = [(row["id"], row["content"]) for row in await house.messages() if row["content"]]
        assert [content for _, content in contents] == ["hello", "one, corrected", "next", "new", "x"]
        assert [message.text for message in agent.inputs[2].messages][:4] == ["hello", "one, corrected", "next", "new"]


async def test_an_unanswered_call_of_the_client_is_left_to_it(open_house: Open) -> None:
    async with open_house(Scripted(call("pick", {"q": 1}))) as house:
        events = await house.play(body(user(), tools=[{"name": "pick", "description": "", "parameters": {}}]))
        outcome = {"type": "success", "pendingToolCallIds": ["c1"]}
        assert events == [STARTED, *call("pick", {"q": 1}), {**FINISHED, "outcome": outcome}]
        [asked] = (await house.page())["messages"][1:]
        assert [(one["name"], one["status"]) for one in asked["toolCalls"]] == [("pick", "pending")]


async def test_a_question_to_the_reader_makes_the_run_wait(open_house: Open) -> None:
    end = {**FINISHED, "outcome": {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "confirm"}]}}
    async with open_house(Scripted([*call("echo", {"say": "x"}), end])) as house:
        assert await house.play(body(user())) == [STARTED, *call("echo", {"say": "x"}), end]
        [run] = (await house.page())["runs"]
        assert (run["status"], run["interrupts"]) == ("waiting", [{"id": "i1", "reason": "confirm"}])


async def test_an_agent_that_says_it_was_cancelled_is_cancelled(open_house: Open) -> None:
    end = {**FINISHED, "outcome": {"type": "cancelled"}}
    async with open_house(Scripted([*text("half")[:2], end])) as house:
        assert (await house.play(body(user())))[-2:] == [{"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT}, end]
        assert [run["status"] for run in await house.runs()] == ["cancelled"]


async def test_a_long_run_gives_signs_of_life(open_house: Open, clock: Any, monkeypatch: Any, until: Waits) -> None:
    monkeypatch.setattr("agui_app.runs.outbox.HEARTBEAT_S", 0.005)
    go_on = asyncio.Event()

    async def silent(input: AgentInput) -> AsyncIterator[Any]:
        await go_on.wait()
        yield text("a")[0]

    async with open_house(Scripted(silent)) as house:
        await house.start(body(user()))
        clock.advance(60)

        async def beaten() -> bool:
            [run] = await house.runs()
            return run["heartbeat_at"] == clock.now

        await until(beaten)
        go_on.set()
        await house.events()


async def test_an_agent_far_ahead_of_the_database_waits_and_loses_nothing(open_house: Open) -> None:
    pieces = [{"type": "CUSTOM", "name": "n", "value": number} for number in range(1_200)]
    async with open_house(Scripted(pieces)) as house:
        events = await house.play(body(user()))
        assert events == [STARTED, *pieces, FINISHED]


async def test_runs_of_many_threads_share_commits_and_stay_apart(open_house: Open) -> None:
    class Echoes:
        async def run(self, input: AgentInput) -> AsyncIterator[Any]:
            for event in text(input.thread_id, id=f"m-{input.thread_id}"):
                await asyncio.sleep(0.001)
                yield event

    async with open_house(Echoes()) as house:
        names = [f"t{number}" for number in range(12)]
        await asyncio.gather(*(house.start(body(user(id="u"), thread=name, run=f"r-{name}")) for name in names))
        for name in names:
            events = await house.events(name, f"r-{name}")
            assert [event.get("delta") for event in events] == [None, None, name, None, None]
            assert [frame.id for frame in await house.frames(name, f"r-{name}")] == [1, 2, 3, 4, 5]


async def test_payloads_lie_in_the_folder(open_house: Open, settings: Settings) -> None:
    async with open_house(Scripted(call("echo", {"say": "hi"}), text("done"))) as house:
        await house.play(body(user()))
        [row] = [row for row in await house.messages() if row["role"] == "tool"]
        file = Path(settings.payload_dir) / row["metadata"]["storage_path"]
        assert json.loads(file.read_text())["callId"] == "c1"
