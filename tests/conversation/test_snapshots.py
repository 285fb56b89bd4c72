from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.history import page_message
from agui_app.conversation.items import rows
from agui_app.conversation.model import CallStatus, Conversation, Message, MessageStatus, Role, Run, RunStatus
from agui_app.conversation.reducer import fold
from agui_app.conversation.snapshots import scoped_snapshot
from agui_app.protocol.events import MessagesSnapshot
from tests.conversation.streams import call, events_of, finished, folded, result, run_of, text

Obj = dict[str, Any]


def snapshot(*messages: object, **more: Any) -> Obj:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages), **more}


def said(id: str, content: str | None = None, *calls: str, **more: Any) -> Obj:
    made = [{"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}} for call in calls]
    return {"id": id, "role": "assistant", "content": content, "toolCalls": made or None, **more}


def answered(call_id: str, content: Any = "ok", **more: Any) -> Obj:
    return {"id": f"s-{call_id}", "role": "tool", "toolCallId": call_id, "content": content, **more}


def user(id: str, content: Any = "hi") -> Obj:
    return {"id": id, "role": "user", "content": content}


REASON = [
    {"type": "REASONING_MESSAGE_START", "messageId": "z", "role": "reasoning"},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "z", "delta": "why"},
    {"type": "REASONING_MESSAGE_END", "messageId": "z"},
]
PLAN = {"type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "PLAN", "content": {"s": 1}}

SHOWN: dict[str, tuple[list[Obj], list[tuple[str, str]]]] = {
    "new messages come in their order": ([snapshot(user("u"), said("m", "yo"))], [("u", "hi"), ("m", "yo")]),
    "a repeated text is not doubled": ([*text("m", "ab"), snapshot(said("m", "ab"))], [("m", "ab")]),
    "a text is corrected where it stands": (
        [*text("m", "ab"), *text("n", "c"), snapshot(said("n", "c"), said("m", "AB"))],
        [("m", "AB"), ("n", "c")],
    ),
    "what it leaves out is gone": (
        [*text("u", "hi", role="user"), *text("m", "a"), *call("c"), result("c"), snapshot(said("n", "b"))],
        [("n", "b")],
    ),
    "reasoning and activities stay": ([*REASON, PLAN, *text("m", "a"), snapshot()], [("z", "why"), ("p", "")]),
    "reasoning and activities can be changed": (
        [
            *REASON,
            PLAN,
            snapshot(
                {"id": "z", "role": "reasoning", "content": "because"},
                {"id": "p", "role": "activity", "activityType": "PLAN", "content": {"s": 2}},
                {"id": "q", "role": "activity", "content": {}},
            ),
        ],
        [("z", "because"), ("p", ""), ("q", "")],
    ),
    "a call and its answer": ([snapshot(said("m", None, "c"), answered("c"))], [("call:r1:c", "ok")]),
    "two calls of one message": (
        [snapshot(said("m", "a", "c", "d"), answered("d", "D"), answered("c", "C"))],
        [("m", "a"), ("call:r1:c", "C"), ("call:r1:d", "D")],
    ),
    "a call that was streamed": (
        [*call("c"), result("c"), snapshot(said("other", None, "c"), answered("c"))],
        [("call:r1:c", "ok")],
    ),
    "a call that is new on a known message": (
        [*text("m", "a"), snapshot(said("m", "a", "c"))],
        [("m", "a"), ("call:r1:c", "")],
    ),
    "an answer that is gone": ([*call("c"), result("c"), snapshot(said("m", None, "c"))], [("call:r1:c", "")]),
    "a call that is gone": (
        [*text("m", "a"), *call("c", parentMessageId="m"), result("c"), snapshot(said("m", "a"))],
        [("m", "a")],
    ),
    "an answer that changed": (
        [*call("c"), result("c"), snapshot(said("m", None, "c"), answered("c", "new"))],
        [("call:r1:c", "new")],
    ),
    "an answer before its call": ([snapshot(answered("c"), said("m", None, "c"))], [("call:r1:c", "ok")]),
    "an answer of no call": ([snapshot(answered("c"))], [("call:r1:c", "ok")]),
    "a message that becomes another role": (
        [*text("m", "a"), snapshot({"id": "m", "role": "user", "content": "b"})],
        [("m", "a")],
    ),
    "what cannot be shown": (
        [
            snapshot(
                {"id": "x", "role": "narrator"},
                {"role": "user", "content": "no id"},
                {"id": "t", "role": "tool"},
                {
                    "id": "m",
                    "role": "assistant",
                    "content": "a",
                    "toolCalls": [7, {"id": "c"}, {"function": {"name": "f"}}],
                },
            )
        ],
        [("m", "a")],
    ),
}


@pytest.mark.parametrize(("stream", "shown"), SHOWN.values(), ids=SHOWN)
def test_a_snapshot_is_authoritative_for_the_rows_of_its_run(stream: list[Obj], shown: list[tuple[str, str]]):
    assert [(item.id, item.text) for item in rows(folded(*stream))] == shown


def test_a_message_goes_on_streaming_after_a_snapshot():
    more = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "c"}
    conversation = folded(*text("m", "a", end=False), snapshot(said("m", "ab")), more)
    assert conversation.messages == (Message("m", Role.ASSISTANT, "r1", "abc", MessageStatus.STREAMING),)


def test_a_call_without_its_answer_is_being_carried_out_again():
    messages = folded(*call("c"), result("c"), snapshot(said("m", None, "c"))).messages
    calls = [message.call for message in messages if message.call]
    assert [(made.status, made.result_message_id) for made in calls] == [(CallStatus.EXECUTING, None)]


def test_a_call_that_is_still_open_stays_as_it_is():
    before = folded(*call("c"))
    assert fold(before, events_of(snapshot(said("m", None, "c")))).messages == before.messages


def test_the_card_of_an_answer_stays():
    ui = {"type": "card", "cardType": "x.v1"}
    conversation = folded(
        *call("c"), result("c", ui=ui), snapshot(said("m", None, "c"), answered("c", "new", error="no"))
    )
    assert [(item.text, item.card, item.error) for item in rows(conversation)] == [("new", ui, "no")]


def earlier() -> Conversation:
    return fold(folded(*text("m", "a"), *call("c"), result("c")), events_of(finished()))


def test_rows_of_earlier_runs_are_changed_by_id_and_never_removed():
    conversation = fold(
        earlier(), run_of(*text("n", "b"), snapshot(said("m", "A"), answered("c"), said("n", "b")), run_id="r2")
    )
    changed = fold(earlier(), run_of(snapshot({**answered("c", "no"), "id": "tm-c"}, user("m", "no")), run_id="r2"))
    assert [(item.id, item.text) for item in rows(conversation)] == [
        ("m", "A"),
        ("call:r1:c", "ok"),
        ("n", "b"),
        ("call:r2:c", "ok"),
    ]
    assert rows(changed) == rows(earlier())


def test_without_a_run_a_snapshot_only_changes_what_is_there():
    conversation = fold(earlier(), events_of(snapshot(said("m", "A"), said("n", "new"))))
    assert [(item.id, item.text) for item in rows(conversation)] == [("m", "A"), ("call:r1:c", "ok")]


def test_a_scoped_snapshot_means_the_same_to_a_reader_who_has_only_the_end_of_the_thread():
    event = MessagesSnapshot(messages=[said("m", "a"), said("n", "b"), 7])
    scoped = scoped_snapshot(event, {"m": "r1"})
    assert scoped.messages == [{**said("m", "a"), "runId": "r1"}, said("n", "b"), 7]
    whole = fold(earlier(), [*run_of(run_id="r2"), scoped])
    window = fold(Conversation(), [*run_of(run_id="r2"), scoped])
    assert [item.id for item in rows(whole)] == ["m", "call:r1:c", "n"]
    assert [item.id for item in rows(window)] == ["n"]


def test_a_scoped_snapshot_calls_a_message_by_the_name_that_it_has_in_the_thread():
    event = MessagesSnapshot(messages=[said("m", "a"), said("n", "b"), 7])
    scoped = scoped_snapshot(event, {"m": "r1", "n": "r1"}, {"m": "r2.m"})
    assert scoped.messages == [said("r2.m", "a"), {**said("n", "b"), "runId": "r1"}, 7]
    both = MessagesSnapshot(messages=[said("m", "a"), said("r2.m", "b")])
    assert scoped_snapshot(both, {"m": "r1"}, {"m": "r2.m"}).messages == [
        {**said("m", "a"), "runId": "r1"},
        said("r2.m", "b"),
    ]


def test_a_partial_snapshot_takes_the_place_of_everything():
    page = {"agui-app": {"partial": True, "runs": [{"runId": "r7", "status": "running"}], "nextCursor": "x"}}
    message = Message("n", Role.ASSISTANT, "r7", "b", MessageStatus.STREAMING)
    conversation = fold(earlier(), events_of(snapshot(page_message(message), metadata=page)))
    assert conversation == Conversation((message,), (Run("r7", RunStatus.RUNNING),), "r7")
