from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.items import rows
from agui_app.conversation.model import CallStatus, ItemKind, Message, Role, ToolCall, ToolResult
from agui_app.conversation.reducer import fold, reduce
from agui_app.protocol.events import ToolCallResultEvent, read_event
from agui_app.protocol.ids import derived_id
from tests.conversation.streams import call, events_of, finished, folded, result, run_of, text

Obj = dict[str, Any]


def carrier(id: str, call: ToolCall, **more: Any) -> Message:
    return Message(id, Role.ASSISTANT, "r1", call=call, **more)


def made(id: str = "c", status: CallStatus = CallStatus.EXECUTING, args_text: str = "{}", **more: Any) -> ToolCall:
    return ToolCall(id, "f", args_text, status, **more)


PLACES: dict[str, tuple[list[Obj], list[tuple[str, str | None]]]] = {
    "a call without a parent": (call("c"), [("r1.c", "c")]),
    "a call on the message that it names": ([*text("m", "a"), *call("c", parentMessageId="m")], [("m", "c")]),
    "a call on a message that is still open": (
        [*text("m", "a", end=False), *call("c", parentMessageId="m")],
        [("m", "c")],
    ),
    "a second call of the message": (
        [*text("m", "a"), *call("c", parentMessageId="m"), *call("d", parentMessageId="m")],
        [("m", "c"), ("r1.d", "d")],
    ),
    "a parent that is not the newest": (
        [*text("m", "a"), *text("n", "b"), *call("c", parentMessageId="m")],
        [("m", None), ("n", None), ("r1.c", "c")],
    ),
    "a parent that nobody knows": (
        [*call("c", parentMessageId="p"), *call("d", parentMessageId="p")],
        [("p", "c"), ("r1.d", "d")],
    ),
    "a parent that is no answer": (
        [*text("u", "hi", role="user"), *call("c", parentMessageId="u")],
        [("u", None), ("r1.c", "c")],
    ),
    "an id that is taken": ([*text("r1.c", "a"), *call("c")], [("r1.c", None), ("r1.c.2", "c")]),
    "an id that no message may have": (call("a b"), [(derived_id("r1", "a b"), "a b")]),
    "a call that is known": ([*call("c"), *call("c", args="")], [("r1.c", "c")]),
}


@pytest.mark.parametrize(("stream", "places"), PLACES.values(), ids=PLACES)
def test_where_a_call_sits(stream: list[Obj], places: list[tuple[str, str | None]]):
    messages = folded(*stream).messages
    assert [(message.id, message.call and message.call.id) for message in messages] == places


def test_a_carrier_has_the_time_and_the_subagent_of_its_call():
    conversation = folded(*call("c", timestamp=1_772_280_000_000, subagentRunId="s", parentMessageId="p"))
    call_made = made(parent_message_id="p")
    assert conversation.messages == (
        carrier("p", call_made, created_at="2026-02-28T12:00:00.000Z", subagent_run_id="s"),
    )


INTERRUPTED = {"metadata": {"agui-app": {"interrupted": True}}}
END = {"type": "TOOL_CALL_END", "toolCallId": "c"}
ARGS = {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"}
ERROR = {"type": "TOOL_CALL_ERROR", "toolCallId": "c", "error": "no", "code": "timeout"}

CALLS: dict[str, tuple[list[Obj], tuple[Message, ...]]] = {
    "arguments are coming": (
        call("c", '{"a', end=False),
        (carrier("r1.c", made(status=CallStatus.PENDING, args_text='{"a')),),
    ),
    "arguments are whole": (call("c"), (carrier("r1.c", made()),)),
    "arguments after the end are kept": ([*call("c", ""), ARGS], (carrier("r1.c", made()),)),
    "an end that we wrote": (
        [*call("c", end=False), {**END, **INTERRUPTED}],
        (carrier("r1.c", made(status=CallStatus.ERROR)),),
    ),
    "an end that comes again": ([*call("c"), {**END, **INTERRUPTED}], (carrier("r1.c", made()),)),
    "parts of a call that nobody made": ([ARGS, END, ERROR], ()),
    "a call that was not carried out": (
        [*call("c"), ERROR],
        (carrier("r1.c", made(status=CallStatus.ERROR, error="no", error_code="timeout")),),
    ),
}


@pytest.mark.parametrize(("stream", "messages"), CALLS.values(), ids=CALLS)
def test_calls_are_folded(stream: list[Obj], messages: tuple[Message, ...]):
    assert folded(*stream).messages == messages


def answer(text: str = "ok", id: str = "tm-c", tool: ToolResult | None = None, **more: Any) -> Message:
    given = tool or ToolResult("c", "f", args={}, content="ok")
    return Message(id, Role.TOOL, "r1", text, tool=given, **more)


def test_a_result_stands_right_after_its_call_whenever_it_comes():
    conversation = folded(*call("c"), *text("m", "a"), result("c"))
    answered = made(status=CallStatus.COMPLETED, result_message_id="tm-c")
    said = Message("m", Role.ASSISTANT, "r1", "a")
    assert conversation.messages == (carrier("r1.c", answered), answer(), said)


RESULTS: dict[str, tuple[list[Obj], Message]] = {
    "its own fields": (
        [
            *call("c"),
            result(
                "c",
                "ok",
                toolName="g",
                args={"a": 1},
                result=0,
                ui={"k": 1},
                stage="execution",
                taskId="t",
                timestamp=1_772_280_000_000,
                metadata={"k": 1, "agui-app": {"summary": "the line"}},
                subagentRunId="s",
            ),
        ],
        answer(
            "the line",
            tool=ToolResult("c", "g", {"a": 1}, 0, ui={"k": 1}, content="ok", stage="execution", task_id="t"),
            created_at="2026-02-28T12:00:00.000Z",
            metadata={"k": 1},
            subagent_run_id="s",
        ),
    ),
    "the call's name and arguments": (
        [*call("c", '{"v":1}'), result("c")],
        answer(tool=ToolResult("c", "f", {"v": 1}, content="ok")),
    ),
    "arguments that cannot be read": (
        [*call("c", "nonsense"), result("c")],
        answer(tool=ToolResult("c", "f", None, content="ok")),
    ),
    "an error": (
        [*call("c"), result("c", "x", error={"message": "no"})],
        answer("x", tool=ToolResult("c", "f", {}, error={"message": "no"}, content="x")),
    ),
    "the error that came before": (
        [*call("c"), ERROR, result("c", "x", error="")],
        answer("x", tool=ToolResult("c", "f", {}, error="no", content="x")),
    ),
    "a second result changes nothing": ([*call("c"), result("c"), result("c", "again", messageId="n")], answer()),
    "nothing follows a result": ([*call("c"), result("c"), ARGS, ERROR, END], answer()),
    "an id that is taken": (
        [*text("tm-c", "a"), *call("c"), result("c")],
        answer(id="r1.c.result"),
    ),
    "a result of a call that nobody made": ([result("c")], answer(tool=ToolResult("c", "", content="ok"))),
    "a call after its result": ([result("c"), *call("c")], answer(tool=ToolResult("c", "", content="ok"))),
}


@pytest.mark.parametrize(("stream", "message"), RESULTS.values(), ids=RESULTS)
def test_results_are_folded(stream: list[Obj], message: Message):
    assert [each for each in folded(*stream).messages if each.role is Role.TOOL] == [message]


def test_the_row_of_a_call_is_the_row_of_its_result():
    asked, answered = folded(*call("c")), folded(*call("c"), result("c"))
    assert [(item.id, item.kind) for item in rows(asked)] == [("call:r1:c", ItemKind.TOOL_CALL)]
    assert [(item.id, item.kind) for item in rows(answered)] == [("call:r1:c", ItemKind.TOOL_RESULT)]


def test_the_same_call_id_in_two_runs_is_two_calls():
    first = fold(folded(*call("c"), result("c", "one")), events_of(finished()))
    both = fold(first, run_of(*call("c"), result("c", "two", messageId="n"), run_id="r2"))
    assert [(item.id, item.text) for item in rows(both)] == [("call:r1:c", "one"), ("call:r2:c", "two")]


def test_a_result_never_answers_a_call_of_another_run():
    outcome = {"type": "success", "pendingToolCallIds": ["c"]}
    first = fold(folded(*call("c")), events_of(finished(outcome)))
    both = fold(first, run_of(result("c"), run_id="r2"))
    assert [(item.id, item.status) for item in rows(both)] == [("call:r1:c", "pending"), ("call:r2:c", "completed")]


def test_a_plain_model_of_the_standard_is_folded_like_ours():
    event = ToolCallResultEvent(message_id="tm-c", tool_call_id="c", content="ok")
    asked = folded(*call("c"))
    assert reduce(asked, event) == reduce(asked, read_event(event))
    assert reduce(asked, event) != asked
