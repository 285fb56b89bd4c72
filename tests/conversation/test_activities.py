from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.activities import patched
from agui_app.conversation.items import rows
from agui_app.conversation.model import Message, MessageStatus, Role, ToolCall
from agui_app.conversation.reducer import fold
from agui_app.protocol.sanitise import MAX_DEPTH
from tests.conversation.streams import call, events_of, finished, folded, run_of, text

Obj = dict[str, Any]


def shown(content: Obj, **more: Any) -> Obj:
    return {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "PLAN", "content": content, **more}


def changed(*patch: Obj, **more: Any) -> Obj:
    return {"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "PLAN", "patch": list(patch), **more}


def add(path: str, value: Any) -> Obj:
    return {"op": "add", "path": path, "value": value}


def activity(content: Obj, **more: Any) -> Message:
    return Message("a", Role.ACTIVITY, "r1", activity_type="PLAN", activity=content, **more)


ACTIVITIES: dict[str, tuple[list[Obj], tuple[Message, ...]]] = {
    "an activity": (
        [shown({"s": []}, timestamp=1_772_280_000_000, metadata={"k": 1}, subagentRunId="s")],
        (activity({"s": []}, created_at="2026-02-28T12:00:00.000Z", metadata={"k": 1}, subagent_run_id="s"),),
    ),
    "a later one takes its place": ([shown({"s": 1}), shown({"s": 2})], (activity({"s": 2}),)),
    "unless it must not": ([shown({"s": 1}), shown({"s": 2}, replace=False)], (activity({"s": 1}),)),
    "a change": ([shown({"s": []}), changed(add("/s/-", "one"))], (activity({"s": ["one"]}),)),
    "a change of nothing": ([changed(add("/s", 1))], ()),
    "a change that does not fit": (
        [shown({"s": 1}), changed(add("/s", 2), {"op": "remove", "path": "/x"})],
        (activity({"s": 1}),),
    ),
    "a change into no object": ([shown({"s": 1}), changed(add("", 7))], (activity({"s": 1}),)),
}


@pytest.mark.parametrize(("stream", "messages"), ACTIVITIES.values(), ids=ACTIVITIES)
def test_activities_are_folded(stream: list[Obj], messages: tuple[Message, ...]):
    assert folded(*stream).messages == messages


def test_a_message_that_is_no_activity_of_the_run_is_left_alone():
    said = folded(*text("a", "x"))
    assert fold(said, events_of(shown({}), changed(add("/s", 1)))) is said
    over = fold(folded(shown({"s": 1})), [*events_of(finished()), *run_of(run_id="r2")])
    assert fold(over, events_of(shown({}), changed(add("/s", 2)))) is over


PATCHES: dict[str, tuple[Any, list[Obj], Any]] = {
    "a slash in a name": ({}, [add("/a~1b", 1)], {"a/b": 1}),
    "a tilde in a name": ({}, [add("/a~0b", 1)], {"a~b": 1}),
    "every operation": (
        {"a": 1, "l": [1]},
        [
            {"op": "test", "path": "/a", "value": 1},
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "move", "from": "/a", "path": "/c"},
            {"op": "replace", "path": "/b", "value": 2},
            {"op": "remove", "path": "/l/0"},
        ],
        {"l": [], "b": 2, "c": 1},
    ),
    "a missing path": ({}, [{"op": "replace", "path": "/x", "value": 1}], None),
    "a path that is none": ({}, [add("x", 1)], None),
    "a place in a text": ({"a": "s"}, [add("/a/-", 1)], None),
    "a polluting path": ({}, [add("/__proto__/x", 1)], None),
    "a polluting source": ({"__proto__": 1}, [{"op": "copy", "from": "/__proto__", "path": "/a"}], None),
}


@pytest.mark.parametrize(("value", "patch", "result"), PATCHES.values(), ids=PATCHES)
def test_a_patch_is_carried_out_whole_or_not_at_all(value: Any, patch: list[Obj], result: Any):
    assert patched(value, patch) == result


def test_a_patch_cannot_nest_without_end():
    value: Any = {}
    for _ in range(MAX_DEPTH):
        value = patched({}, [add("/a", value)]) if value is not None else None
    assert value is not None
    assert patched({}, [add("/a", value)]) is None


def copies(count: int) -> list[Obj]:
    return [{"op": "copy", "from": "", "path": f"/{number}"} for number in range(count)]


def test_a_short_patch_that_copies_without_end_is_refused_and_its_value_left_alone():
    value = {"a": "x"}
    assert patched(value, copies(60)) is None
    assert value == {"a": "x"}
    assert patched(value, copies(2)) == {"a": "x", "0": {"a": "x"}, "1": {"a": "x", "0": {"a": "x"}}}


def subagent(kind: str, **more: Any) -> Obj:
    return {"type": f"SUBAGENT_{kind}", "subagentRunId": "s", **more}


STARTED = subagent("STARTED", name="helper", description="looks things up", metadata={"k": 1})


def helper(status: MessageStatus, activity: Obj) -> Message:
    return Message(
        "r1.s",
        Role.SUBAGENT,
        "r1",
        "looks things up",
        status,
        name="helper",
        activity=activity,
        metadata={"k": 1},
        subagent_run_id="s",
    )


SUBAGENTS: dict[str, tuple[list[Obj], tuple[Message, ...]]] = {
    "begins": ([STARTED], (helper(MessageStatus.STREAMING, {}),)),
    "begins again": ([STARTED, STARTED], (helper(MessageStatus.STREAMING, {}),)),
    "is done": (
        [STARTED, subagent("FINISHED", result=1, outcome={"type": "success"})],
        (helper(MessageStatus.COMPLETE, {"result": 1, "outcome": {"type": "success"}}),),
    ),
    "fails": ([STARTED, subagent("ERROR", message="no")], (helper(MessageStatus.INTERRUPTED, {"error": "no"}),)),
    "is done twice": (
        [STARTED, subagent("FINISHED"), subagent("ERROR", message="no")],
        (helper(MessageStatus.COMPLETE, {}),),
    ),
    "never began": ([subagent("FINISHED")], ()),
}


@pytest.mark.parametrize(("stream", "messages"), SUBAGENTS.values(), ids=SUBAGENTS)
def test_subagents_are_folded(stream: list[Obj], messages: tuple[Message, ...]):
    assert folded(*stream).messages == messages


def test_a_subagent_has_a_row_of_its_own():
    items = rows(folded(STARTED))
    assert [(item.id, item.role, item.sender, item.text, item.status) for item in items] == [
        ("r1.s", "subagent", "helper", "looks things up", "streaming")
    ]


def sealed(subtype: str, id: str) -> Obj:
    return {"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype, "entityId": id, "encryptedValue": "e"}


def test_encrypted_values_go_with_what_they_belong_to():
    conversation = folded(
        *text("m", "a"), *call("c"), sealed("message", "m"), sealed("tool-call", "c"), sealed("message", "x")
    )
    assert [message.encrypted_value for message in conversation.messages] == ["e", None]
    assert [message.call and message.call.encrypted_value for message in conversation.messages] == [None, "e"]


def test_a_message_is_not_sealed_as_a_call():
    conversation = folded(*text("m", "a"))
    assert fold(conversation, events_of(sealed("tool-call", "m"))) is conversation
    assert conversation.messages[0].call is None or isinstance(conversation.messages[0].call, ToolCall)
