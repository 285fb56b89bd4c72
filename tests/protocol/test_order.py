"""The rules of order, as a table: a stream of one run, and what becomes of each event."""

from __future__ import annotations

from typing import Any

import pytest

from agui_app.protocol.events import (
    Event,
    MessagesSnapshotEvent,
    RunStartedEvent,
    ToolCallResultEvent,
    UnknownEvent,
    read_event,
    write_event,
)
from agui_app.protocol.order import LATE_CONTENT, Order, Verdict

Obj = dict[str, Any]


def message(kind: str, id: str = "m", family: str = "TEXT_MESSAGE", **more: Any) -> Obj:
    return {"type": f"{family}_{kind}", "messageId": id, **more}


def call(kind: str, id: str = "c", **more: Any) -> Obj:
    return {"type": f"TOOL_CALL_{kind}", "toolCallId": id, **more}


def step(kind: str) -> Obj:
    return {"type": f"STEP_{kind}", "stepName": "s"}


def subagent(kind: str, **more: Any) -> Obj:
    return {"type": f"SUBAGENT_{kind}", "subagentRunId": "s", **more}


START, CONTENT, END = message("START"), message("CONTENT", delta="x"), message("END")
REASONING = {"family": "REASONING_MESSAGE"}
CALL, ARGS, CALL_END, RESULT = (
    call("START", toolCallName="f"),
    call("ARGS", delta="{}"),
    call("END"),
    call("RESULT", content="ok"),
)
ERROR = call("ERROR", error="no")
RUN = {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r1"}
ACTIVITY = {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "P", "content": {}}
PATCH = {"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "P", "patch": []}

OVER = "nothing follows the end of a run"
UNSTARTED = "a CONTENT belongs to a message that was started and not answered"

RULES: dict[str, list[tuple[Obj, str | None]]] = {
    "a whole run": [
        (RUN, None),
        (step("STARTED"), None),
        (START, None),
        (CONTENT, None),
        (END, None),
        (CALL, None),
        (ARGS, None),
        (CALL_END, None),
        (RESULT, None),
        (step("FINISHED"), None),
        ({"type": "CUSTOM", "name": "n", "value": 1}, None),
        (FINISHED, None),
    ],
    "a run starts once": [(RUN, None), (RUN, "a run starts once")],
    "nothing follows a RUN_FINISHED": [(FINISHED, None), (START, OVER), (FINISHED, OVER)],
    "nothing follows a RUN_ERROR": [({"type": "RUN_ERROR", "message": "no"}, None), (FINISHED, OVER)],
    "a run ends under its own id": [
        (RUN, None),
        ({**FINISHED, "runId": "r2"}, "a run ends under its own id"),
        ({**FINISHED, "runId": ""}, None),
    ],
    "a start that comes again": [(START, None), (START, "a START names a new message"), (CONTENT, None)],
    "a content without a start": [(CONTENT, UNSTARTED)],
    "a content after the end": [(START, None), (END, None), (CONTENT, LATE_CONTENT)],
    "an end without a start": [(END, "an END closes an open message")],
    "an end that comes again": [(START, None), (END, None), (END, "an END closes an open message")],
    "a text is no reasoning": [
        (START, None),
        (
            message("CONTENT", delta="x", **REASONING),
            "a CONTENT belongs to a reasoning message that was started and not answered",
        ),
    ],
    "reasoning": [
        (message("START", "z", "REASONING"), None),
        (message("START", **REASONING), None),
        (START, "a START names a new message"),
        (message("CONTENT", delta="x", **REASONING), None),
        (message("END", **REASONING), None),
        (message("END", "z", "REASONING"), None),
        (message("END", "z", "REASONING"), "an END closes an open reasoning span"),
    ],
    "arguments without a call": [(ARGS, "a CONTENT belongs to a call that was started and not answered")],
    "arguments after the result": [
        (CALL, None),
        (RESULT, None),
        (ARGS, "a CONTENT belongs to a call that was started and not answered"),
        (CALL_END, "an END closes an open call"),
    ],
    "a result of a call that nobody made": [(RESULT, None), (RESULT, "a call has one result")],
    "an error of a call": [(CALL, None), (ERROR, None), (RESULT, None)],
    "an error without a call": [(ERROR, "a TOOL_CALL_ERROR belongs to a call that has no result")],
    "an error after the result": [
        (CALL, None),
        (RESULT, None),
        (ERROR, "a TOOL_CALL_ERROR belongs to a call that has no result"),
    ],
    "a step comes again": [
        (step("FINISHED"), "an END closes an open step"),
        (step("STARTED"), None),
        (step("STARTED"), "a START names a step that is not active"),
        (step("FINISHED"), None),
        (step("STARTED"), None),
    ],
    "activities": [
        (PATCH, "an ACTIVITY_DELTA changes a known activity"),
        (ACTIVITY, None),
        (ACTIVITY, None),
        (PATCH, None),
        (START, None),
        ({**ACTIVITY, "messageId": "m"}, "an activity has an id of its own"),
    ],
    "subagents": [
        (subagent("FINISHED"), "an END closes an open subagent"),
        (subagent("STARTED", name="n"), None),
        (subagent("ERROR", message="no"), None),
    ],
    "what a snapshot brings is known": [
        (
            {
                "type": "MESSAGES_SNAPSHOT",
                "messages": [
                    {"id": "m", "role": "assistant", "toolCalls": [{"id": "c"}, {"id": "d"}, 7]},
                    {"id": "x", "role": "narrator"},
                    {"id": "tm", "role": "tool", "toolCallId": "c"},
                    7,
                ],
            },
            None,
        ),
        (START, "a START names a new message"),
        (RESULT, "a call has one result"),
        (call("RESULT", "d", content="ok"), None),
        (message("START", "x"), None),
    ],
    "a snapshot in the middle of a message": [
        (START, None),
        ({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m", "role": "assistant", "content": "x"}]}, None),
        (CONTENT, None),
        (END, None),
    ],
    "what the run was given is known": [
        ({**RUN, "input": {"messages": [{"id": "m", "role": "user", "content": "hi"}]}}, None),
        (START, "a START names a new message"),
    ],
}


@pytest.mark.parametrize("stream", RULES.values(), ids=RULES)
def test_the_order_of_a_run(stream: list[tuple[Obj, str | None]]):
    order = Order()
    events = [read_event(wire) for wire, _ in stream]
    assert [order.check(event) for event in events] == [
        Verdict(event if violation in (None, LATE_CONTENT) else None, violation)
        for event, (_, violation) in zip(events, stream, strict=True)
    ]


def test_what_nobody_can_read_is_kept_and_counted_when_it_should_have_been_read():
    order = Order()
    future, broken = read_event({"type": "FUTURE"}), read_event({"type": "STEP_STARTED"})
    assert isinstance(broken, UnknownEvent)
    assert (order.check(future), order.check(broken)) == (Verdict(future), Verdict(broken, broken.reason))


def test_plain_models_of_the_standard_are_checked_too():
    order = Order()
    events = [
        RunStartedEvent(thread_id="t", run_id="r"),
        MessagesSnapshotEvent(messages=[]),
        ToolCallResultEvent(message_id="m", tool_call_id="c", content="ok"),
    ]
    assert [order.check(event) for event in events] == [Verdict(event) for event in events]


BEGUN: dict[str, tuple[Obj, Obj]] = {
    "a text": (START, END),
    "a reasoning message": (message("START", **REASONING), message("END", **REASONING)),
    "a reasoning span": (message("START", family="REASONING"), message("END", family="REASONING")),
    "a call": (CALL, CALL_END),
    "a step": (step("STARTED"), step("FINISHED")),
    "a subagent": (subagent("STARTED", name="h"), subagent("ERROR", message="cut short")),
}


def heard(*wires: Obj) -> Order:
    order = Order()
    for wire in wires:
        order.check(read_event(wire))
    return order


def written(events: list[Event]) -> list[Obj]:
    return [write_event(event) for event in events]


CUT = {"metadata": {"agui-app": {"interrupted": True}}}


@pytest.mark.parametrize(("begin", "end"), BEGUN.values(), ids=BEGUN)
def test_what_was_begun_is_owed_an_end_until_it_has_one_also_when_a_snapshot_took_it_away(begin: Obj, end: Obj):
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": []}
    assert written(heard(begin, snapshot).close()) == [{**end, **CUT}]
    assert heard(begin, end).close() == []
    assert heard(begin, {**end, **CUT}).close() == []


def test_an_activity_has_no_end():
    shown = {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "x", "content": {}}
    assert heard(shown).close() == []


@pytest.mark.parametrize("answer", [RESULT, call("ERROR", error="no")])
def test_a_call_is_owed_its_end_before_its_answer(answer: Obj):
    assert written(heard(CALL, ARGS).owed(read_event(answer))) == [{**CALL_END, **CUT}]
    assert heard(CALL, ARGS, CALL_END).owed(read_event(answer)) == []
    assert heard().owed(read_event(answer)) == []
    assert heard(CALL, ARGS).owed(read_event(ARGS)) == []
