from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.history import from_page
from agui_app.conversation.items import message_rows, rows
from agui_app.conversation.model import CallStatus, Item, ItemKind, Message, MessageStatus, Role, ToolCall, ToolResult
from agui_app.protocol.cards import error_card, make_card
from tests.conversation.streams import call, folded

AT = "2026-02-28T12:00:00.000Z"
EVENT = {"id": "e", "title": "t", "startAt": "2026-03-01T10:00:00+08:00"}


def test_a_message_is_a_row():
    parts = ({"type": "text", "text": "hi"},)
    message = Message("m", Role.USER, "r1", "hi", MessageStatus.COMPLETE, AT, name="Ada", parts=parts)
    assert message_rows(message) == (
        Item("m", ItemKind.MESSAGE, "complete", "r1", AT, "Ada", "user", "hi", parts=parts),
    )


def test_an_image_without_text_is_a_row():
    assert [item.text for item in message_rows(Message("m", Role.USER, parts=({"type": "image"},)))] == [""]


def test_a_message_with_a_call_is_two_rows():
    message = Message(
        "m", Role.ASSISTANT, "r1", "a", created_at=AT, call=ToolCall("c", "f", '{"v":1}', CallStatus.EXECUTING)
    )
    assert message_rows(message) == (
        Item("m", ItemKind.MESSAGE, "complete", "r1", AT, "assistant", "assistant", "a"),
        Item(
            "call:r1:c",
            ItemKind.TOOL_CALL,
            "executing",
            "r1",
            AT,
            "assistant",
            call_id="c",
            tool_name="f",
            args_text='{"v":1}',
            args={"v": 1},
        ),
    )


@pytest.mark.parametrize(
    ("args_text", "end", "args"),
    [('{"a": "he', False, {"a": "he"}), ('{"a": "he', True, None), ("null", True, None), ("[1]", True, [1])],
)
def test_arguments_are_shown_as_they_come_and_exactly_when_they_are_whole(args_text: str, end: bool, args: Any):
    assert [(item.args, item.args_text) for item in rows(folded(*call("c", args_text, end=end)))] == [(args, args_text)]


def test_a_call_that_was_not_carried_out_is_drawn_as_its_result():
    refused = ToolCall("c", "f", "{}", CallStatus.ERROR, error="no", error_code="timeout")
    assert message_rows(Message("m", Role.ASSISTANT, "r1", call=refused)) == (
        Item(
            "call:r1:c",
            ItemKind.TOOL_RESULT,
            "error",
            "r1",
            None,
            "assistant",
            None,
            "f 执行失败：no",
            "c",
            "f",
            args={},
            error="no",
            card=error_card("no", code="timeout", tool_name="f"),
            card_type="error_card.v1",
        ),
    )


def result_row(tool: ToolResult) -> Item:
    (item,) = message_rows(Message("tm", Role.TOOL, "r1", "line", created_at=AT, tool=tool))
    return item


def test_a_result_is_a_row_with_its_card():
    card = make_card("calendar_card.v1", EVENT)
    assert result_row(ToolResult("c", "f", {"v": 1}, 0, ui=card, payload_missing=True)) == Item(
        "call:r1:c",
        ItemKind.TOOL_RESULT,
        "completed",
        "r1",
        AT,
        "assistant",
        None,
        "line",
        "c",
        "f",
        args={"v": 1},
        card=card,
        card_type="calendar_card.v1",
        payload_missing=True,
    )


@pytest.mark.parametrize(
    "ui", [{"k": 1}, "text", 0, make_card("calendar_card.v9", EVENT), make_card("calendar_card.v1", None)]
)
def test_a_ui_that_cannot_be_drawn_is_left_to_the_fallback(ui: object):
    item = result_row(ToolResult("c", "f", ui=ui))
    assert (item.card, item.fallback) == (ui, True)


@pytest.mark.parametrize("error", [None, False, "", [], {}])
def test_what_says_nothing_is_no_error(error: object):
    item = result_row(ToolResult("c", "f", error=error))
    assert (item.status, item.card) == ("completed", None)


@pytest.mark.parametrize(
    ("error", "card"),
    [
        ("no", error_card("no", tool_name="f")),
        ({"message": "m", "code": "c"}, error_card("m", code="c", tool_name="f")),
        ({"error": "e", "code": 7}, error_card("e", tool_name="f")),
        ({"code": "c"}, error_card("c", code="c", tool_name="f")),
        ({"a": 1}, error_card("{'a': 1}", tool_name="f")),
        (True, error_card("True", tool_name="f")),
    ],
)
def test_an_error_without_a_card_gets_one(error: object, card: object):
    item = result_row(ToolResult("c", "f", error=error))
    assert (item.status, item.card, item.card_type, item.fallback) == ("error", card, "error_card.v1", False)


def test_an_error_keeps_the_card_that_it_brought():
    assert result_row(ToolResult("c", "", error="no", ui={"k": 1})).card == {"k": 1}


def test_a_schedule_is_a_row_of_its_kind():
    message = Message("s", Role.ACTIVITY, "r1", created_at=AT, activity_type="schedule", activity=EVENT)
    assert message_rows(message) == (
        Item(
            "s",
            ItemKind.SCHEDULE,
            "complete",
            "r1",
            AT,
            "activity",
            card=make_card("calendar_card.v1", EVENT),
            card_type="calendar_card.v1",
            activity_type="schedule",
            activity=EVENT,
        ),
    )


def test_an_old_row_of_role_schedule_is_one_too():
    page = {"messages": [{"id": "s", "role": "schedule", "content": EVENT}]}
    assert [(item.kind, item.card, item.fallback) for item in rows(from_page(page))] == [
        ("schedule", make_card("calendar_card.v1", EVENT), False)
    ]


def test_another_activity_is_a_message():
    message = Message("p", Role.ACTIVITY, "r1", activity_type="PLAN", activity={"s": 1})
    assert message_rows(message) == (
        Item(
            "p",
            ItemKind.MESSAGE,
            "complete",
            "r1",
            None,
            "activity",
            "activity",
            activity_type="PLAN",
            activity={"s": 1},
        ),
    )


@pytest.mark.parametrize(
    "message",
    [
        Message("m", Role.SYSTEM, text="x"),
        Message("m", Role.DEVELOPER, text="x"),
        Message("m", Role.ASSISTANT),
        Message("m", Role.REASONING),
        Message("m", Role.TOOL, text="x"),
        Message("m", Role.ASSISTANT, call=ToolCall("c", "f", status=CallStatus.COMPLETED, result_message_id="t")),
    ],
)
def test_what_makes_no_row(message: Message):
    assert message_rows(message) == ()
