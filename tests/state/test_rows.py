"""Items as the page's components read them."""

from __future__ import annotations

from typing import Any

from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import reduce
from agui_app.protocol.events import read_event
from agui_app.state.rows import View, page_rows, view

START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
TEXT = [
    {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "half"},
]
END = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
CALL = [
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "echo"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": '{"a": 1'},
]


def fold(*events: dict[str, Any], start: Conversation | None = None) -> Conversation:
    conversation = start or Conversation()
    for event in events:
        conversation = reduce(conversation, read_event(event))
    return conversation


def test_the_row_that_grows_carries_no_text() -> None:
    assert view(fold(START, *TEXT)) == View(
        rows=({"kind": "message", "id": "m", "status": "streaming", "role": "assistant", "hot": True},),
        hot_id="m",
        hot_text="half",
        progress=(),
        running=True,
    )


def test_the_row_that_grew_stays_hot_when_it_is_whole_so_that_its_text_is_not_sent_again() -> None:
    ended = fold(START, *TEXT, {"type": "TEXT_MESSAGE_END", "messageId": "m"}, END)
    shown = view(ended, "m")
    assert (shown.hot_id, shown.hot_text, shown.running) == ("m", "half", False)
    assert shown.rows == ({"kind": "message", "id": "m", "status": "complete", "role": "assistant", "hot": True},)


def test_a_row_is_no_longer_hot_when_another_one_grows() -> None:
    shown = view(fold(START, *TEXT, {"type": "TEXT_MESSAGE_END", "messageId": "m"}, *CALL), "m")
    assert shown.hot_text == '{"a": 1'
    assert [row.get("hot") for row in shown.rows] == [None, True]
    assert shown.rows[0]["text"] == "half"


def test_a_call_with_its_result_is_a_row_with_readable_arguments() -> None:
    done = fold(
        START,
        *CALL,
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "}"},
        {"type": "TOOL_CALL_END", "toolCallId": "c"},
        {"type": "TOOL_CALL_RESULT", "messageId": "t", "toolCallId": "c", "content": "1", "role": "tool"},
    )
    assert view(done, "call:r:c").rows == (
        {
            "kind": "toolResult",
            "id": "call:r:c",
            "status": "completed",
            "text": "1",
            "tool": "echo",
            "args": '{\n  "a": 1\n}',
        },
    )


def test_an_unknown_card_is_marked_for_the_fallback() -> None:
    ui = {"type": "card", "cardType": "weather_card.v7", "data": {"t": 21}, "actions": []}
    result = {"type": "TOOL_CALL_RESULT", "messageId": "t", "toolCallId": "x", "content": "ok", "ui": ui}
    row = view(fold(START, result)).rows[0]
    assert (row["cardType"], row["fallback"], row["card"]) == ("weather_card.v7", True, ui)


def test_stages_come_in_their_order_and_other_steps_after_them() -> None:
    steps = [{"type": "STEP_STARTED", "stepName": name} for name in ("plan", "intent")]
    assert view(fold(START, *steps)).progress == (
        {"name": "intent", "state": "active", "stage": True},
        {"name": "execution", "state": "pending", "stage": True},
        {"name": "report", "state": "pending", "stage": True},
        {"name": "plan", "state": "active", "stage": False},
    )


def test_steps_that_are_no_stages_bring_no_stages() -> None:
    step = {"type": "STEP_STARTED", "stepName": "plan"}
    assert view(fold(START, step)).progress == ({"name": "plan", "state": "active", "stage": False},)


def test_the_last_row_of_a_run_that_failed_is_marked() -> None:
    failed = fold(START, *TEXT, {"type": "RUN_ERROR", "message": "no model"})
    assert view(failed).rows[-1]["mark"] == "failed"
    assert view(failed).rows[-1]["markText"] == "no model"
    assert page_rows(failed)[-1]["markText"] == "no model"


def test_a_run_that_goes_on_in_the_next_page_is_marked_there() -> None:
    failed = fold(START, *TEXT, {"type": "RUN_ERROR", "message": "no model"})
    assert "mark" not in page_rows(failed, newer_run="r")[-1]


def test_a_row_that_was_drawn_before_is_left_out() -> None:
    assert view(fold(START, *TEXT), skip=frozenset({"m"})).rows == ()


def test_the_mark_of_a_run_knows_the_message_that_it_answers() -> None:
    said = {"input": {"messages": [{"id": "u", "role": "user", "content": "hi"}]}}
    failed = fold(START | said, *TEXT, {"type": "RUN_ERROR", "message": "no model"})
    assert view(failed).rows[-1]["turn"] == page_rows(failed)[-1]["turn"] == "u"
    assert view(failed).retry_from == "u"


def test_a_run_without_a_row_of_its_own_is_marked_at_the_last_row() -> None:
    said = {"input": {"messages": [{"id": "u", "role": "user", "content": "hi"}]}}
    answered = fold(START | said, *TEXT, {"type": "TEXT_MESSAGE_END", "messageId": "m"}, END)
    failed = fold({**START, "runId": "r2"}, {"type": "RUN_ERROR", "message": "no model"}, start=answered)
    assert [row.get("mark") for row in page_rows(failed)] == [None, "failed"]
    assert page_rows(failed)[-1]["turn"] == "u"


def test_only_the_newest_turn_may_be_answered_again_and_only_when_it_ended_badly() -> None:
    said = {"input": {"messages": [{"id": "u", "role": "user", "content": "hi"}]}}
    failed = fold(START | said, *TEXT, {"type": "RUN_ERROR", "message": "no model"})
    assert view(fold()).retry_from == ""
    assert view(fold(START | said, *TEXT)).retry_from == ""
    more = {"runId": "r2", "input": {"messages": [{"id": "u2", "role": "user", "content": "more"}]}}
    going = fold({**START, **more}, start=failed)
    assert view(going).retry_from == ""
    assert view(fold({**END, "runId": "r2"}, start=going)).retry_from == ""
