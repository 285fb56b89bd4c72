"""Streams whose events reach back to rows that a reader of a short page does not have."""

from __future__ import annotations

from tests.runs.house import Obj, call, text

START: Obj = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}


def result(call_id: str, id: str = "", **more: object) -> Obj:
    fields = {"messageId": id or f"tm-{call_id}", "toolCallId": call_id, "content": f"of {call_id}", "role": "tool"}
    return {"type": "TOOL_CALL_RESULT", **fields, **more}


def start(call_id: str, parent: str) -> Obj:
    return {**call("look", id=call_id)[0], "parentMessageId": parent}


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
        *call("look", id="c8"),
        *call("look", id="c9"),
        *text("between", id="m1"),
        *text("and more", id="m2"),
        result("c9"),
        *text("and more", id="m3"),
        result("c8"),
        result("nobody"),
        result("c8", id="again"),
    ],
    "an_activity_that_changes_when_others_have_spoken": [
        START,
        plan("one"),
        *text("between", id="m1"),
        plan("two"),
        *text("more", id="m2"),
        plan("three", replace=False),
        {**plan("x"), "type": "ACTIVITY_DELTA", "patch": [{"op": "add", "path": "/t", "value": 1}]},
    ],
    "calls_of_a_message_that_others_follow": [
        START,
        *text("I look", id="m1"),
        start("c7", "m1"),
        *call("look", id="c7")[1:],
        start("c8", "m1"),
        *call("look", id="c8")[1:],
        result("c7"),
        start("c9", "m1"),
        *call("look", id="c9")[1:],
        result("c8"),
        result("c9"),
    ],
    "a_result_under_the_id_of_its_message": [
        START,
        *text("I look", id="m1"),
        start("c8", "m1"),
        *call("look", id="c8")[1:],
        *text("between", id="m2"),
        result("c8", id="m1"),
        *text("more", id="m3"),
    ],
    "starts_that_come_twice": [
        START,
        *text("one", id="m1"),
        *call("look", id="c8"),
        SUBAGENT,
        *text("two", id="m2"),
        text("", id="m1")[0],
        call("look", id="c8")[0],
        SUBAGENT,
        *text("three", id="m3"),
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"},
    ],
    "a_snapshot_of_everything": [
        START,
        *text("one", id="m1"),
        *call("look", id="c8"),
        *text("two", id="m2"),
        snapshot(said("m1", "one!"), said("p", "", "c8", "c9"), answer("c8"), said("m2", "two!"), said("m3", "three")),
        *text("four", id="m4"),
        snapshot(said("m1", "1"), said("p", "", "c8", "c9"), answer("c8", "newer"), answer("c9"), said("m2", "2")),
        *text("five", id="m5"),
    ],
    "a_snapshot_without_the_newest": [
        START,
        plan("one"),
        *call("look", id="c8"),
        *text("gone", id="m2"),
        snapshot(said("p", "", "c8")),
        result("c8"),
        plan("two"),
        snapshot(said("u9", "more", role="user"), said("p", "", "c8"), answer("c8", "other")),
        *text("last", id="m3"),
    ],
}
