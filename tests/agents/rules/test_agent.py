"""The rounds of the rule agent, and its golden sentences through agent and tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from agui_app.agents.rules.agent import RulesAgent, pieces
from agui_app.conversation.model import Message, Role
from agui_app.errors import ToolError
from agui_app.protocol.events import Event, TextMessageContentEvent, ToolCallArgsEvent, ToolCallStartEvent
from agui_app.protocol.ids import is_valid_id
from agui_app.storage.calendar import CalendarEvent
from agui_app.tools.catalog import TOOLS
from agui_app.tools.registry import ToolContext, ToolOutcome
from agui_app.tools.run import carry_out
from tests.agents.house import events, joined, round_of, tool, user

VECTORS = Path(__file__).parents[2] / "vectors"
GOLDEN: list[dict[str, Any]] = json.loads((VECTORS / "intents.json").read_text(encoding="utf-8"))


async def test_a_request_is_intent_then_a_call_that_is_left_unanswered():
    wire = joined(await events(RulesAgent(), round_of(user("明天上午10点提醒我开会"))))

    args = '{"title": "开会", "startAt": "2026-03-01T10:00:00+08:00", "timezone": "Asia/Shanghai"}'
    assert wire == [
        {"type": "STEP_STARTED", "stepName": "intent"},
        {"type": "STEP_FINISHED", "stepName": "intent"},
        {"type": "STEP_STARTED", "stepName": "execution"},
        {"type": "TOOL_CALL_START", "toolCallId": "toolCallId-1", "toolCallName": "create_calendar_event"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "toolCallId-1", "delta": args},
        {"type": "TOOL_CALL_END", "toolCallId": "toolCallId-1"},
    ]


async def test_after_the_result_it_ends_the_execution_and_reports():
    args = {"title": "开会", "startAt": "2026-03-01T10:00:00+08:00"}
    input = round_of(user("明天上午10点提醒我开会"), tool("create_calendar_event", args=args, result={"ok": True}))

    assert joined(await events(RulesAgent(), input)) == [
        {"type": "STEP_FINISHED", "stepName": "execution"},
        {"type": "STEP_STARTED", "stepName": "report"},
        {"type": "TEXT_MESSAGE_START", "messageId": "messageId-1", "role": "assistant"},
        {
            "type": "TEXT_MESSAGE_CONTENT",
            "messageId": "messageId-1",
            "delta": "已为你创建日程“开会”：2026年3月1日（周日）10:00。",
        },
        {"type": "TEXT_MESSAGE_END", "messageId": "messageId-1"},
        {"type": "STEP_FINISHED", "stepName": "report"},
    ]


async def test_without_a_tool_it_is_intent_then_a_report():
    assert joined(await events(RulesAgent(), round_of(user("thanks"), locale="en"))) == [
        {"type": "STEP_STARTED", "stepName": "intent"},
        {"type": "STEP_FINISHED", "stepName": "intent"},
        {"type": "STEP_STARTED", "stepName": "report"},
        {"type": "TEXT_MESSAGE_START", "messageId": "messageId-1", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "messageId-1", "delta": "You're welcome!"},
        {"type": "TEXT_MESSAGE_END", "messageId": "messageId-1"},
        {"type": "STEP_FINISHED", "stepName": "report"},
    ]


@pytest.mark.parametrize(
    ("text", "locale", "answer"),
    [("谢谢", "en", "不客气！"), ("thanks", "zh", "不客气！"), ("thanks", "en", "You're welcome!")],
)
async def test_it_answers_in_the_language_of_the_sentence_else_in_the_readers(text: str, locale: str, answer: str):
    assert text_of(await events(RulesAgent(), round_of(user(text), locale=locale))) == answer


async def test_only_the_last_sentence_counts_and_no_sentence_is_no_request():
    earlier = tool("create_calendar_event", args={"title": "a"}, result={})

    assert text_of(await events(RulesAgent(), round_of(user("明天3点开会"), earlier, user("谢谢")))) == "不客气！"
    assert text_of(await events(RulesAgent(), round_of(locale="en"))).startswith("I have no answer to that.")


async def test_a_run_without_a_new_message_does_nothing_twice():
    answered = Message(id="a", role=Role.ASSISTANT, text="已为你创建日程。")

    wire = joined(await events(RulesAgent(), round_of(user("提醒我明天开会"), answered)))

    assert [event["delta"] for event in wire if event["type"] == "TEXT_MESSAGE_CONTENT"] == ["没有新的内容需要回答。"]
    assert not [event for event in wire if event["type"] == "TOOL_CALL_START"]


async def test_text_and_arguments_come_in_small_pieces():
    said = await events(RulesAgent(), round_of(user("你好")))
    called = await events(RulesAgent(), round_of(user("明天上午10点提醒我开会")))

    deltas = [event.delta for event in said if isinstance(event, TextMessageContentEvent)]
    args = [event.delta for event in called if isinstance(event, ToolCallArgsEvent)]
    assert len(deltas) > 10
    assert len(args) > 4
    assert all(deltas)
    assert all(args)


async def test_a_forced_call_without_arguments_has_none():
    called = await events(RulesAgent(), round_of(user("#tool:a")))

    assert [type(event).__name__ for event in called[3:]] == ["ToolCallStartEvent", "ToolCallEndEvent"]


async def test_ids_are_valid_and_new_each_time():
    rounds = [await events(RulesAgent(), round_of(user("#tool:a"))) for _ in range(2)]

    ids = {event.tool_call_id for round in rounds for event in round if isinstance(event, ToolCallStartEvent)}
    assert len(ids) == 2
    assert all(is_valid_id(id) for id in ids)


async def test_a_round_can_be_closed_in_the_middle():
    async with aclosing(RulesAgent(60).run(round_of(user("你好")))) as stream:  # pyright: ignore
        assert [type(event).__name__ async for event in first(stream, 4)] == [
            "StepStartedEvent",
            "StepFinishedEvent",
            "StepStartedEvent",
            "TextMessageStartEvent",
        ]


async def first(stream: AsyncIterator[Event], count: int) -> AsyncIterator[Event]:
    for _ in range(count):
        yield await anext(stream)


@given(st.text() | st.text("你好 ,。a\n"))
def test_pieces_joined_are_the_text(text: str):
    assert "".join(pieces(text)) == text


def test_pieces_are_two_to_four_characters_or_up_to_three_words():
    assert list(pieces("已为你创建日程“开会”。")) == ["已为你创", "建日程“", "开会”。"]
    assert list(pieces("I can put things into it.")) == ["I can put ", "things into it."]


def text_of(events: list[Event]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextMessageContentEvent))


# --- the golden sentences -------------------------------------------------------------------------------------------


@pytest.fixture
async def session() -> AsyncIterator[AsyncSession]:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(CalendarEvent.__table__.create)  # pyright: ignore
    async with AsyncSession(engine) as session:
        yield session
    await engine.dispose()


@pytest.mark.parametrize("case", GOLDEN, ids=[f"{index}: {case['text']}" for index, case in enumerate(GOLDEN)])
async def test_the_golden_sentences_are_understood_and_carried_out(case: dict[str, Any], session: AsyncSession):
    input = round_of(user(case["text"]), now=case["now"], timezone=case["timezone"])

    wire = joined(await events(RulesAgent(), input))

    calls = [event for event in wire if event["type"] == "TOOL_CALL_START"]
    assert [call["toolCallName"] for call in calls] == ([case["tool"]] if case["tool"] else [])
    if not calls:
        return
    args_text = "".join(event["delta"] for event in wire if event["type"] == "TOOL_CALL_ARGS")
    context = ToolContext("local", "th", "r", "c", input.timezone, "zh", input.now, session)
    if "error_contains" in case:
        with pytest.raises(ToolError, match=case["error_contains"]):
            await carry_out(TOOLS, context, case["tool"], args_text, 5)
        return
    outcome = await carry_out(TOOLS, context, case["tool"], args_text, 5)
    if outcome.commit is not None:
        await outcome.commit(session)
    check(case, json.loads(args_text), outcome)


def check(case: dict[str, Any], args: dict[str, Any], outcome: ToolOutcome) -> None:
    assert {key: args.get(key) for key in case["args"]} == case["args"]
    assert case.get("title_contains", "") in args.get("title", "")
    assert case.get("location_contains", "") in args.get("location", "")
    if "range" in case:
        assert [args["start"], args["end"]] == case["range"]
    if case.get("all_day"):
        assert outcome.ui is not None
        assert outcome.ui["data"]["allDay"] is True
    if case["tool"] == "create_calendar_event":
        assert outcome.ui is not None
        assert datetime.fromisoformat(outcome.ui["data"]["startAt"]) == datetime.fromisoformat(args["startAt"])
