"""Streams whose events reach back to rows that a reader of a short page does not have."""

from __future__ import annotations

from typing import Any

from tests.conversation.streams import call as call_of
from tests.conversation.streams import text

Obj = dict[str, Any]

START: Obj = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}


def look(id: str) -> list[Obj]:
    return call_of(id, name="look")


def result(call_id: str, id: str = "", **more: object) -> Obj:
    fields = {"messageId": id or f"tm-{call_id}", "toolCallId": call_id, "content": f"of {call_id}", "role": "tool"}
    return {"type": "TOOL_CALL_RESULT", **fields, **more}


def start(call_id: str, parent: str) -> Obj:
    return {**look(call_id)[0], "parentMessageId": parent}


def plan(step: str, **more: object) -> Obj:
    return {"type": "ACTIVITY_SNAPSHOT", "messageId": "plan", "activityType": "plan", "content": {"s": step}, **more}


def snapshot(*messages: Obj) -> Obj:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def said(id: str, content: str = "", *calls: str, role: str = "assistant") -> Obj:
    made = [{"id": call, "type": "function", "function": {"name": "look", "arguments": "{}"}} for call in calls]
    return {"id": id, "role": role, "content": content, **({"toolCalls": made} if made else {})}


def answer(call_id: str, content: str = "new") -> Obj:
    return {"id": f"a-{call_id}", "role": "tool", "toolCallId": call_id, "content": content}


SUBAGENT: Obj = {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "helper"}

BEYOND: dict[str, list[Obj]] = {
    "results_long_after_their_calls": [
        START,
        *look("c8"),
        *look("c9"),
        *text("m1", "between"),
        *text("m2", "and more"),
        result("c9"),
        *text("m3", "and more"),
        result("c8"),
        result("nobody"),
        result("c8", id="again"),
    ],
    "an_activity_that_changes_when_others_have_spoken": [
        START,
        plan("one"),
        *text("m1", "between"),
        plan("two"),
        *text("m2", "more"),
        plan("three", replace=False),
        {**plan("x"), "type": "ACTIVITY_DELTA", "patch": [{"op": "add", "path": "/t", "value": 1}]},
    ],
    "calls_of_a_message_that_others_follow": [
        START,
        *text("m1", "I look"),
        start("c7", "m1"),
        *look("c7")[1:],
        start("c8", "m1"),
        *look("c8")[1:],
        result("c7"),
        start("c9", "m1"),
        *look("c9")[1:],
        result("c8"),
        result("c9"),
    ],
    "a_result_under_the_id_of_its_message": [
        START,
        *text("m1", "I look"),
        start("c8", "m1"),
        *look("c8")[1:],
        *text("m2", "between"),
        result("c8", id="m1"),
        *text("m3", "more"),
    ],
    "starts_that_come_twice": [
        START,
        *text("m1", "one"),
        *look("c8"),
        SUBAGENT,
        *text("m2", "two"),
        text("m1", "")[0],
        look("c8")[0],
        SUBAGENT,
        *text("m3", "three"),
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"},
    ],
    "a_snapshot_of_everything": [
        START,
        *text("m1", "one"),
        *look("c8"),
        *text("m2", "two"),
        snapshot(said("m1", "one!"), said("p", "", "c8", "c9"), answer("c8"), said("m2", "two!"), said("m3", "three")),
        *text("m4", "four"),
        snapshot(said("m1", "1"), said("p", "", "c8", "c9"), answer("c8", "newer"), answer("c9"), said("m2", "2")),
        *text("m5", "five"),
    ],
    "a_snapshot_without_the_newest": [
        START,
        plan("one"),
        *look("c8"),
        *text("m2", "gone"),
        snapshot(said("p", "", "c8")),
        result("c8"),
        plan("two"),
        snapshot(said("u9", "more", role="user"), said("p", "", "c8"), answer("c8", "other")),
        *text("m3", "last"),
    ],
}
