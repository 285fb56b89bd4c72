from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.items import rows
from agui_app.conversation.model import Conversation, Message, Role, Run, RunFailure, RunStatus, Step, StepState
from agui_app.conversation.reducer import fold
from tests.conversation.streams import call, events_of, finished, folded, result, run_of, text

Obj = dict[str, Any]
NOON = 1_772_280_000_000
AT_NOON = "2026-02-28T12:00:00.000Z"
ERROR: Obj = {"type": "RUN_ERROR", "message": "no model", "code": "x"}
CANCELLED = finished({"type": "cancelled"})
QUESTION = {"id": "i", "reason": "confirm", "toolCallId": "c"}


def started(messages: Any = None, **more: Any) -> Obj:
    given = {} if messages is None else {"input": {"messages": messages}}
    return {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1", **given, **more}


def test_a_run_starts_with_its_time():
    conversation = fold(Conversation(), events_of(started(timestamp=NOON)))
    assert conversation == Conversation(runs=(Run("r1", started_at=AT_NOON),), active_run_id="r1")


def test_a_run_that_is_known_does_not_start_again():
    conversation = folded(*text("m", "a"))
    assert fold(conversation, events_of(started([{"id": "u", "role": "user", "content": "hi"}]))) is conversation
    over = fold(conversation, events_of(finished()))
    assert fold(over, events_of(started())) is over


ENDS: dict[str, tuple[Obj, Run]] = {
    "success": (
        {**finished(), "timestamp": NOON, "result": {"a": 1}, "usage": [{"inputTokens": 1}]},
        Run("r1", RunStatus.FINISHED, finished_at=AT_NOON, result={"a": 1}, usage=[{"inputTokens": 1}]),
    ),
    "success by name": (finished({"type": "success"}), Run("r1", RunStatus.FINISHED, {"type": "success"})),
    "an outcome that nobody knows": (finished({"type": "odd"}), Run("r1", RunStatus.FINISHED)),
    "cancelled": (CANCELLED, Run("r1", RunStatus.CANCELLED, {"type": "cancelled"})),
    "a question": (
        finished({"type": "interrupt", "interrupts": [QUESTION]}),
        Run("r1", RunStatus.WAITING, {"type": "interrupt", "interrupts": [QUESTION]}, interrupts=(QUESTION,)),
    ),
    "an end without ids": ({"type": "RUN_FINISHED"}, Run("r1", RunStatus.FINISHED)),
    "the end of another run": (finished(run_id="r7"), Run("r1", RunStatus.RUNNING)),
    "an error": (
        {**ERROR, "timestamp": NOON, "usage": [{"inputTokens": 1}]},
        Run("r1", RunStatus.FAILED, error=RunFailure("no model", "x"), finished_at=AT_NOON, usage=[{"inputTokens": 1}]),
    ),
    "an interruption": (
        {"type": "RUN_ERROR", "message": "gone", "code": "interrupted"},
        Run("r1", RunStatus.INTERRUPTED, error=RunFailure("gone", "interrupted")),
    ),
}


@pytest.mark.parametrize(("end", "run"), ENDS.values(), ids=ENDS)
def test_how_a_run_ends(end: Obj, run: Run):
    conversation = folded(end)
    assert conversation.runs == (run,)
    assert conversation.active_run_id == (None if run.status is not RunStatus.RUNNING else "r1")


def test_what_comes_after_the_end_changes_nothing():
    over = folded(*text("m", "a"), ERROR)
    late = events_of(
        finished(), ERROR, {"type": "STEP_STARTED", "stepName": "s"}, *text("n", "b"), *call("c"), result("c")
    )
    assert fold(over, late) is over


def test_a_run_that_never_got_its_end_is_interrupted_by_the_next():
    conversation = fold(folded(*text("m", "half", end=False)), run_of(run_id="r2"))
    assert [(run.run_id, run.status) for run in conversation.runs] == [("r1", "interrupted"), ("r2", "running")]
    assert [(item.text, item.status) for item in rows(conversation)] == [("half", "interrupted")]


def step(kind: str, name: str = "s", **more: Any) -> Obj:
    return {"type": f"STEP_{kind}", "stepName": name, **more}


def cut(**more: Any) -> Obj:
    return {"metadata": {"agui-app": {"interrupted": True, **more}}}


STEPS: dict[str, tuple[list[Obj], tuple[Step, ...]]] = {
    "a step goes on": ([step("STARTED", timestamp=NOON)], (Step("s", StepState.ACTIVE, AT_NOON),)),
    "a step is over": (
        [step("STARTED", timestamp=NOON), step("FINISHED", timestamp=NOON)],
        (Step("s", StepState.DONE, AT_NOON, AT_NOON),),
    ),
    "a step comes again": (
        [step("STARTED"), step("FINISHED", timestamp=NOON), step("STARTED", timestamp=NOON)],
        (Step("s", StepState.ACTIVE),),
    ),
    "steps keep their order": (
        [step("STARTED", "a"), step("STARTED", "b"), step("FINISHED", "a")],
        (Step("a", StepState.DONE), Step("b", StepState.ACTIVE)),
    ),
    "an end without a start": ([step("FINISHED")], ()),
    "an end that comes again": (
        [step("STARTED"), step("FINISHED"), step("FINISHED", **cut())],
        (Step("s", StepState.DONE),),
    ),
    "an end that we wrote": ([step("STARTED"), step("FINISHED", **cut())], (Step("s", StepState.ERROR),)),
    "an end that we wrote on a cancel": (
        [step("STARTED"), step("FINISHED", **cut(stopped=True))],
        (Step("s", StepState.STOPPED),),
    ),
    "open at an error": ([step("STARTED"), ERROR], (Step("s", StepState.ERROR),)),
    "open at the end": ([step("STARTED"), finished()], (Step("s", StepState.ERROR),)),
    "open at a cancel": ([step("STARTED"), CANCELLED], (Step("s", StepState.STOPPED),)),
    "ended by us before a cancel": (
        [step("STARTED"), step("FINISHED", **cut()), CANCELLED],
        (Step("s", StepState.STOPPED),),
    ),
    "over before a cancel": ([step("STARTED"), step("FINISHED"), CANCELLED], (Step("s", StepState.DONE),)),
}


@pytest.mark.parametrize(("stream", "steps"), STEPS.values(), ids=STEPS)
def test_steps_are_folded(stream: list[Obj], steps: tuple[Step, ...]):
    assert folded(*stream).runs[0].steps == steps


CALL_ENDS: dict[str, tuple[list[Obj], str]] = {
    "success": ([*call("c"), finished()], "completed"),
    "success, no arguments": ([*call("c", ""), finished()], "completed"),
    "success, unreadable": ([*call("c", "nonsense"), finished()], "error"),
    "success, no end": ([*call("c", end=False), finished()], "error"),
    "named as pending": ([*call("c"), finished({"type": "success", "pendingToolCallIds": ["c"]})], "pending"),
    "another is pending": ([*call("c"), finished({"type": "success", "pendingToolCallIds": ["d"]})], "completed"),
    "asked about": ([*call("c"), finished({"type": "interrupt", "interrupts": [QUESTION]})], "pending"),
    "an error": ([*call("c"), ERROR], "error"),
    "cancelled": ([*call("c"), CANCELLED], "error"),
    "refused": ([*call("c"), {"type": "TOOL_CALL_ERROR", "toolCallId": "c", "error": "no"}, finished()], "error"),
    "answered": ([*call("c"), result("c"), ERROR], "completed"),
}


@pytest.mark.parametrize(("stream", "status"), CALL_ENDS.values(), ids=CALL_ENDS)
def test_what_the_end_of_a_run_makes_of_a_call(stream: list[Obj], status: str):
    assert [item.status for item in rows(folded(*stream))] == [status]


@pytest.mark.parametrize("end", [ERROR, CANCELLED, finished()])
def test_a_message_that_is_open_at_the_end_was_interrupted(end: Obj):
    assert [item.status for item in rows(folded(*text("m", "a", end=False), end))] == ["interrupted"]


def test_a_run_brings_what_the_reader_said():
    given = [
        {"id": "u1", "role": "user", "content": "hi"},
        {"id": "u2", "role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image"}], "name": "n"},
        {"id": "x", "role": "narrator", "content": "?"},
        7,
    ]
    assert fold(Conversation(), events_of(started(given, timestamp=NOON))).messages == (
        Message("u1", Role.USER, "r1", "hi", created_at=AT_NOON),
        Message(
            "u2",
            Role.USER,
            "r1",
            "see",
            created_at=AT_NOON,
            name="n",
            parts=({"type": "text", "text": "see"}, {"type": "image"}),
        ),
    )


@pytest.mark.parametrize("given", [None, 7, {"messages": 7}, {}])
def test_a_run_may_be_given_nothing(given: object):
    assert fold(Conversation(), events_of({**started(), "input": given})).messages == ()


def test_the_row_that_the_page_drew_becomes_the_runs_where_it_stands():
    drawn = Conversation((Message("u", Role.USER, text="hi "), Message("n", Role.USER, text="next")))
    conversation = fold(drawn, events_of(started([{"id": "u", "role": "user", "content": "hi"}], timestamp=NOON)))
    assert conversation.messages == (
        Message("u", Role.USER, "r1", "hi", created_at=AT_NOON),
        Message("n", Role.USER, text="next"),
    )


def test_a_message_of_an_earlier_run_stays_as_it_is():
    first = fold(Conversation(), events_of(started([{"id": "u", "role": "user", "content": "hi"}]), finished()))
    again = {**started([{"id": "u", "role": "user", "content": "changed"}]), "runId": "r2"}
    assert fold(first, events_of(again)).messages == (Message("u", Role.USER, "r1", "hi"),)


def test_a_run_may_be_given_a_whole_conversation():
    given = [
        {"id": "a", "role": "assistant", "toolCalls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        {"id": "tm", "role": "tool", "toolCallId": "c", "content": "ok"},
        {"id": "s", "role": "system", "content": "be kind"},
    ]
    conversation = fold(Conversation(), events_of(started(given)))
    assert [(message.id, message.role) for message in conversation.messages] == [
        ("a", "assistant"),
        ("tm", "tool"),
        ("s", "system"),
    ]
    assert [(item.id, item.text) for item in rows(conversation)] == [("call:r1:c", "ok")]
