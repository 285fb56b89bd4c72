from __future__ import annotations

from typing import Any

from agui_app.conversation.closing import closing_events
from agui_app.conversation.items import rows
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold
from agui_app.protocol.cards import error_card
from agui_app.protocol.events import write_event
from tests.conversation.streams import call, events_of, finished, folded, result, text

Obj = dict[str, Any]

CUT = {"metadata": {"agui-app": {"interrupted": True}}}
STOPPED = {"metadata": {"agui-app": {"interrupted": True, "stopped": True}}}

OPEN: list[Obj] = [
    {"type": "STEP_STARTED", "stepName": "intent"},
    {"type": "STEP_FINISHED", "stepName": "intent"},
    {"type": "STEP_STARTED", "stepName": "execution"},
    {"type": "REASONING_START", "messageId": "span"},
    {"type": "REASONING_MESSAGE_START", "messageId": "z", "role": "reasoning"},
    {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "helper"},
    *text("done", "x"),
    *text("m", "half", end=False),
    *call("a"),
    result("a"),
    *call("b", '{"v":1}'),
    *call("c", "{", end=False),
]


def written(conversation: Conversation, **how: Any) -> list[Obj]:
    given = {"stopped": False, "error": "interrupted", **how}
    return [write_event(event) for event in closing_events(conversation, **given)]


def refusal(id: str, error: str, content: str, code: str | None = None, **more: Any) -> Obj:
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": f"r1.{id}.result",
        "toolCallId": id,
        "callId": id,
        "role": "tool",
        "content": content,
        "toolName": "f",
        "error": error,
        "ui": error_card(error, code=code, tool_name="f"),
        **more,
    }


TEXTS: list[Obj] = [
    {"type": "REASONING_MESSAGE_END", "messageId": "z", **CUT},
    {"type": "SUBAGENT_ERROR", "subagentRunId": "s", "message": "interrupted", **CUT},
    {"type": "TEXT_MESSAGE_END", "messageId": "m", **CUT},
]
CUT_CALL: list[Obj] = [
    {"type": "TOOL_CALL_END", "toolCallId": "c", **CUT},
    refusal("c", "interrupted", "f 执行失败：interrupted"),
]
SPANS: list[Obj] = [
    {"type": "REASONING_END", "messageId": "span", **CUT},
    {"type": "STEP_FINISHED", "stepName": "execution", **CUT},
]


def test_everything_that_is_open_is_ended_and_every_call_answered():
    assert written(folded(*OPEN)) == [
        *TEXTS,
        refusal("b", "interrupted", "f 执行失败：interrupted", args={"v": 1}),
        *CUT_CALL,
        *SPANS,
    ]


def test_a_run_that_ends_well_leaves_whole_calls_to_whoever_answers_them():
    assert written(folded(*OPEN), finished=True) == [*TEXTS, *CUT_CALL, *SPANS]


def test_a_cancel_stops_the_steps():
    stopped = written(folded({"type": "STEP_STARTED", "stepName": "s"}), stopped=True)
    assert stopped == [{"type": "STEP_FINISHED", "stepName": "s", **STOPPED}]


def test_a_call_that_was_refused_gets_its_result_also_at_a_good_end():
    refused = folded(*call("c"), {"type": "TOOL_CALL_ERROR", "toolCallId": "c", "error": "no", "code": "timeout"})
    assert written(refused, finished=True, locale="en") == [refusal("c", "no", "f failed: no", "timeout", args={})]


def test_a_call_cut_by_us_before_still_gets_its_result_at_a_good_end():
    cut = folded(*call("c", end=False), {"type": "TOOL_CALL_END", "toolCallId": "c", **CUT})
    assert written(cut, finished=True) == [refusal("c", "interrupted", "f 执行失败：interrupted", args={})]


def test_a_run_that_is_over_owes_nothing():
    assert written(Conversation()) == []
    assert written(fold(folded(*OPEN), events_of(finished()))) == []


def test_after_its_ends_nothing_is_open():
    conversation = folded(*OPEN)
    closed = fold(conversation, closing_events(conversation, stopped=False, error="interrupted"))
    assert [(item.id, item.status) for item in rows(closed)] == [
        ("r1.s", "interrupted"),
        ("done", "complete"),
        ("m", "interrupted"),
        ("call:r1:a", "completed"),
        ("call:r1:b", "error"),
        ("call:r1:c", "error"),
    ]
    assert written(closed) == []
