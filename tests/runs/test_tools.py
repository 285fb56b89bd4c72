"""Tool calls in a run: carried out, refused, stored in two layers."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.messages import standard_messages
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import read_event
from agui_app.settings import Settings
from agui_app.storage.calendar import CalendarEvent
from agui_app.storage.tables import THREADS
from agui_app.tools.registry import ToolContext, ToolOutcome
from tests.runs.house import T0, TIME, Obj, Open, Scripted, body, call, text, tool, user

CUT: Obj = {"metadata": {"agui-app": {"interrupted": True}}}


def steps(*names: str) -> list[Obj]:
    return [{"type": f"STEP_{kind}", "stepName": name} for name in names for kind in ("STARTED", "FINISHED")]


async def test_a_call_is_carried_out_and_the_next_round_gets_its_result(open_house: Open, settings: Settings) -> None:
    asked = [{"type": "STEP_STARTED", "stepName": "execution"}, *call("echo", {"say": "你好"})]
    agent = Scripted(asked, [{"type": "STEP_FINISHED", "stepName": "execution"}, *text("done")])
    async with open_house(agent) as house:
        events = await house.play(body(user(), forwardedProps={"locale": "zh"}))
        card = {"type": "card", "cardType": "x.v1", "data": {}}
        result = {
            "type": "TOOL_CALL_RESULT",
            "messageId": events[5]["messageId"],
            "toolCallId": "c1",
            "role": "tool",
            "content": "你好",
            "callId": "c1",
            "toolName": "echo",
            "args": {"say": "你好"},
            "result": {"ok": True, "message": "你好"},
            "ui": card,
            "stage": "execution",
        }
        assert events[1:6] == [*asked, result]
        assert [message["role"] for message in standard_messages(agent.inputs[1].messages)] == [
            "user",
            "assistant",
            "tool",
        ]
        row = next(row for row in await house.messages() if row["role"] == "tool")
        path = row["metadata"].pop("storage_path")
        assert (row["content"], row["metadata"]) == (
            "你好",
            {
                "tool_call_id": "c1",
                "tool_name": "echo",
                "run_id": "r",
                "stage": "execution",
                "task_id": None,
                "storage_bucket": "local",
                "summary_version": 1,
            },
        )
        assert json.loads((settings.payload_dir / path).read_text()) == {
            "schema": "tool_result",
            "version": "v1",
            "callId": "c1",
            "toolName": "echo",
            "runId": "r",
            "threadId": "t",
            "stage": "execution",
            "taskId": None,
            "args": {"say": "你好"},
            "result": {"ok": True, "message": "你好"},
            "error": None,
            "ui": card,
            "content": "你好",
            "startedAt": TIME,
            "finishedAt": TIME,
        }


async def test_a_call_that_fails_is_an_error_then_a_result_with_a_card(open_house: Open) -> None:
    asked = [*call("refuse"), *call("echo", {"no": 1}, id="c2"), *call("nobody", "{cut", id="c3")]
    async with open_house(Scripted(asked, text("sorry"))) as house:
        events = await house.play(body(user()))
        told = [event for event in events if event["type"] in ("TOOL_CALL_ERROR", "TOOL_CALL_RESULT")]
        assert [(event["type"], event["toolCallId"], event.get("code")) for event in told] == [
            ("TOOL_CALL_ERROR", "c1", "failed"),
            ("TOOL_CALL_RESULT", "c1", None),
            ("TOOL_CALL_ERROR", "c2", "invalid_arguments"),
            ("TOOL_CALL_RESULT", "c2", None),
            ("TOOL_CALL_ERROR", "c3", "unknown_tool"),
            ("TOOL_CALL_RESULT", "c3", None),
        ]
        first = {key: value for key, value in told[1].items() if key != "messageId"}
        assert first == {
            "type": "TOOL_CALL_RESULT",
            "toolCallId": "c1",
            "role": "tool",
            "content": "refuse failed: it will not",
            "callId": "c1",
            "toolName": "refuse",
            "args": {},
            "error": "it will not",
            "ui": {
                "type": "card",
                "cardType": "error_card.v1",
                "data": {"message": "it will not", "code": "failed", "toolName": "refuse"},
                "actions": [],
            },
            "stage": "execution",
            "metadata": {"agui-app": {"about": "r.c1"}},
        }
        assert events[-1]["outcome"] == {"type": "success"}
        page = await house.page()
        assert [one["error"] is not None for one in page["messages"] if one["role"] == "tool"] == [True] * 3


async def test_an_agent_that_stops_in_the_middle_of_a_call_is_not_asked_again(open_house: Open) -> None:
    async with open_house(Scripted(call("echo", {"say": "x"})[:2], text("sorry"))) as house:
        events = await house.play(body(user()))
        assert [event["type"] for event in events[3:]] == ["TOOL_CALL_END", "TOOL_CALL_RESULT", "RUN_ERROR"]
        assert events[3] == {"type": "TOOL_CALL_END", "toolCallId": "c1", **CUT}
        assert (events[-1]["code"], events[-1]["message"]) == (
            "interrupted",
            "The agent stopped in the middle of a call",
        )
        [run] = (await house.page())["runs"]
        assert run["status"] == "interrupted"


async def test_the_end_of_a_round_with_open_calls_of_ours_is_not_the_end_of_the_run(open_house: Open) -> None:
    end = {"type": "RUN_FINISHED", "threadId": "x", "runId": "y"}
    async with open_house(Scripted([*call("echo", {"say": "x"}), end], [*text("done"), end])) as house:
        types = [event["type"] for event in await house.play(body(user()))]
        assert types[4:] == ["TOOL_CALL_RESULT", *(event["type"] for event in text("done")), "RUN_FINISHED"]


async def test_calls_that_the_agent_answers_itself_are_left_to_it_and_summarised(open_house: Open) -> None:
    result = {
        "type": "TOOL_CALL_RESULT",
        "messageId": "x1",
        "toolCallId": "c1",
        "content": '{"title": "Report", "rows": [1, 2]}',
        "role": "tool",
    }
    async with open_house(Scripted([*call("search", {"q": 1}), result, *text("done")])) as house:
        events = await house.play(body(user(), forwardedProps={"locale": "zh"}))
        assert events[4] == {**result, "metadata": {"agui-app": {"summary": "Report"}}}
        page = await house.page()
        [answer] = [one for one in page["messages"] if one["role"] == "tool"]
        assert (answer["content"], answer["toolName"], answer["args"]) == ("Report", "search", {"q": 1})
        assert standard_messages(house.agent.inputs[0].messages) == [{"id": "u1", "role": "user", "content": "hello"}]


async def test_results_in_another_order_stand_where_their_calls_began(open_house: Open) -> None:
    def result(id: str) -> Obj:
        return {"type": "TOOL_CALL_RESULT", "messageId": f"x{id}", "toolCallId": id, "content": id, "role": "tool"}

    asked = [*call("a", id="c1"), *call("b", id="c2"), *text("t"), result("c2"), result("c1")]
    async with open_house(Scripted(asked)) as house:
        await house.play(body(user()))
        assert [(row["position"], row["id"]) for row in await house.messages()] == [
            *((0, "u1"), (1, "r.c1"), (2, "xc1"), (3, "r.c2"), (4, "xc2"), (5, "m1")),
        ]


async def test_an_agent_that_never_stops_calling_is_stopped(open_house: Open) -> None:
    rounds = [call("echo", {"say": "x"}, id=f"c{number}") for number in range(9)]
    async with open_house(Scripted(*rounds), max_tool_rounds=2) as house:
        events = await house.play(body(user()))
        assert [event["type"] for event in events].count("TOOL_CALL_RESULT") == 3
        assert (events[-1]["code"], len(house.agent.inputs)) == ("too_many_rounds", 3)


async def test_a_call_id_that_comes_again_in_a_later_round_is_another_call(open_house: Open) -> None:
    rounds = [call("echo", {"say": word}, id="call_0") for word in ("one", "two", "three")]
    async with open_house(Scripted(*rounds, text("done"))) as house:
        events = await house.play(body(user()))
        results = [(event["toolCallId"], event["content"]) for event in events if event["type"] == "TOOL_CALL_RESULT"]
        assert results == [("call_0", "one"), ("call_0.2", "two"), ("call_0.3", "three")]


def writing(title: str, log: list[str] | None = None, *, fails: bool = False) -> Any:
    """A handler whose effect is a calendar event, or an error."""

    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        async def commit(session: AsyncSession) -> None:
            session.add(
                CalendarEvent(
                    owner_id=context.owner_id,
                    id=context.call_id,
                    title=title,
                    timezone="UTC",
                    created_at=T0,
                    updated_at=T0,
                )
            )
            await session.flush()
            if fails:
                raise RuntimeError("the effect failed")

        found = await context.session.execute(select(func.count()).select_from(CalendarEvent))
        if log is not None:
            log.append(f"{title} sees {found.scalar_one()}")
        return ToolOutcome(result={"ok": True, "title": title}, commit=commit)

    return handler


async def test_the_effect_of_a_call_is_seen_by_the_next_one(open_house: Open) -> None:
    log: list[str] = []
    tools = [tool("one", writing("one", log)), tool("two", writing("two", log))]
    async with open_house(Scripted([*call("one"), *call("two", id="c2")], text("done")), tools=tools) as house:
        await house.play(body(user()))
        assert log == ["one sees 0", "two sees 1"]
        assert [row["title"] for row in await house.rows(CalendarEvent.metadata.tables["calendar_events"])] == [
            "one",
            "two",
        ]


async def test_an_effect_that_fails_is_taken_back_and_the_call_is_an_error(open_house: Open) -> None:
    tools = [tool("bad", writing("bad", fails=True)), tool("good", writing("good"))]
    agent = Scripted([*text("before"), *call("bad"), *call("good", id="c2")], text("done", id="m2"))
    async with open_house(agent, tools=tools) as house:
        events = await house.play(body(user()))
        results = [event for event in events if event["type"] == "TOOL_CALL_RESULT"]
        assert [(event["toolCallId"], event.get("error")) for event in results] == [
            ("c1", "bad could not be stored"),
            ("c2", None),
        ]
        assert [row["title"] for row in await house.rows(CalendarEvent.metadata.tables["calendar_events"])] == ["good"]
        assert [row["content"] for row in await house.messages() if row["content"]] == [
            *("hello", "before", "bad failed: bad could not be stored", "good", "done")
        ]
        conversation = fold(Conversation(), [read_event(event) for event in await house.log()])
        assert [message.id for message in conversation.messages] == [row["id"] for row in await house.messages()]


async def test_a_result_that_is_no_json_is_an_error(open_house: Open) -> None:
    deep: Any = []
    for _ in range(200):
        deep = [deep]

    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        return ToolOutcome(result=deep)

    async with open_house(Scripted(call("deep"), text("done")), tools=[tool("deep", handler)]) as house:
        events = await house.play(body(user()))
        [failed] = [event for event in events if event["type"] == "TOOL_CALL_ERROR"]
        assert "is no JSON" in failed["error"]


async def test_a_null_result_is_a_result(open_house: Open) -> None:
    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        return ToolOutcome(result=None)

    async with open_house(Scripted(call("nothing"), text("done")), tools=[tool("nothing", handler)]) as house:
        [result] = [event for event in await house.play(body(user())) if event["type"] == "TOOL_CALL_RESULT"]
        assert (result["result"], result["content"], "error" in result) == (None, "nothing done", False)


async def test_a_tool_knows_who_asks_when_and_where(open_house: Open) -> None:
    seen: list[ToolContext] = []

    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        seen.append(context)
        return ToolOutcome(result=1)

    async with open_house(Scripted(call("look"), []), tools=[tool("look", handler)]) as house:
        await house.play(body(user(), forwardedProps={"timezone": "Asia/Shanghai", "locale": "zh"}))
        [context] = seen
        assert (context.owner_id, context.thread_id, context.run_id, context.call_id) == ("local", "t", "r", "c1")
        assert (context.timezone, context.locale, context.now.isoformat()) == (
            *("Asia/Shanghai", "zh", "2026-03-02T17:00:00+08:00"),
        )


async def test_the_thread_is_there_for_the_effect(open_house: Open) -> None:
    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        async def commit(session: AsyncSession) -> None:
            await session.execute(
                insert(THREADS).values(
                    owner_id="other",
                    id="made",
                    title="",
                    created_at=T0,
                    updated_at=T0,
                    last_event_id=0,
                    next_position=0,
                )
            )

        return ToolOutcome(result=1, commit=commit)

    async with open_house(Scripted(call("make"), []), tools=[tool("make", handler)]) as house:
        await house.play(body(user()))
        assert [thread["id"] for thread in await house.threads()] == ["t", "made"]
