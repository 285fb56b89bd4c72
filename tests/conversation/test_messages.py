from __future__ import annotations

from typing import Any

from agui_app.conversation.messages import read_standard, standard_messages, text_of_content
from agui_app.conversation.model import Conversation, Message, Role, ToolResult
from agui_app.conversation.reducer import fold
from tests.conversation.streams import call, events_of, finished, folded, result, run_of, text

Obj = dict[str, Any]


def written_call(id: str, arguments: str = "{}") -> Obj:
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def test_calls_go_back_into_the_message_that_they_name_with_their_results_after_it():
    conversation = folded(
        *text("m", "a"),
        *call("c", parentMessageId="m"),
        *call("d", parentMessageId="m"),
        result("d", "D"),
        result("c", "C"),
        *text("n", "b"),
    )
    assert standard_messages(conversation) == [
        {"id": "m", "role": "assistant", "content": "a", "toolCalls": [written_call("c"), written_call("d")]},
        {"id": "tm-c", "role": "tool", "toolCallId": "c", "content": "C"},
        {"id": "tm-d", "role": "tool", "toolCallId": "d", "content": "D"},
        {"id": "n", "role": "assistant", "content": "b"},
    ]


def test_calls_that_name_a_message_that_nobody_sent_share_one():
    conversation = folded(*call("c", parentMessageId="p"), *call("d", parentMessageId="p"))
    assert standard_messages(conversation) == [
        {"id": "p", "role": "assistant", "toolCalls": [written_call("c"), written_call("d")]}
    ]


def test_calls_without_a_parent_are_messages_of_their_own():
    conversation = folded(*call("c"), result("c"), *call("d"))
    assert standard_messages(conversation) == [
        {"id": "r1.c", "role": "assistant", "toolCalls": [written_call("c")]},
        {"id": "tm-c", "role": "tool", "toolCallId": "c", "content": "ok"},
        {"id": "r1.d", "role": "assistant", "toolCalls": [written_call("d")]},
    ]


def test_calls_of_two_runs_stay_apart():
    first = fold(folded(*call("c", parentMessageId="p")), events_of(finished()))
    both = fold(first, run_of(*call("c", parentMessageId="p"), result("c"), run_id="r2"))
    assert [message["id"] for message in standard_messages(both)] == ["p", "r2.c", "tm-c"]


def test_messages_of_every_role():
    parts = [{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "url", "value": "/a"}}]
    messages = [
        {"id": "s", "role": "system", "content": "be kind"},
        {"id": "d", "role": "developer", "content": "be brief", "name": "n"},
        {"id": "u", "role": "user", "content": "hi", "metadata": {"k": 1}},
        {"id": "v", "role": "user", "content": parts},
        {"id": "z", "role": "reasoning", "content": "why", "encryptedValue": "e"},
        {"id": "p", "role": "activity", "activityType": "PLAN", "content": {"s": 1}},
        {"id": "m", "role": "assistant", "content": "a", "subagentRunId": "s"},
    ]
    run = {"type": "RUN_STARTED", "threadId": "t", "runId": "r1", "input": {"messages": messages}}
    conversation = fold(Conversation(), events_of(run))
    assert standard_messages(conversation) == messages


def test_encrypted_values_go_with_their_calls():
    sealed = {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "c", "encryptedValue": "e"}
    made = standard_messages(folded(*call("c"), sealed))
    assert made == [{"id": "r1.c", "role": "assistant", "toolCalls": [{**written_call("c"), "encryptedValue": "e"}]}]


def test_results_go_back_as_they_came_with_their_error_as_text():
    parts = [{"type": "text", "text": "t"}]
    given = folded(
        *call("c"), result("c", parts), result("x", "X", error="no"), result("y", "Y", error={"message": "no"})
    )
    assert [(each["content"], each.get("error")) for each in standard_messages(given) if each["role"] == "tool"] == [
        (parts, None),
        ("X", "no"),
        ("Y", "Y"),
    ]


def test_a_result_from_history_gives_its_summary():
    message = Message("tm", Role.TOOL, "r1", "line", tool=ToolResult("c", "f"))
    assert standard_messages([message, Message("n", Role.TOOL, "r1", "bare")]) == [
        {"id": "tm", "role": "tool", "toolCallId": "c", "content": "line"},
        {"id": "n", "role": "tool", "toolCallId": "", "content": "bare"},
    ]


def test_what_has_no_standard_form_is_left_out():
    started = {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "helper"}
    assert standard_messages(folded(started, *text("m"))) == []


def test_text_parts_make_the_text():
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image"},
        {"type": "text", "text": 7},
        {"type": "text", "text": "b"},
        7,
    ]
    assert [text_of_content(content) for content in ("a", parts, None, {})] == ["a", "a\nb", "", ""]


def test_what_is_no_message_is_not_read():
    assert [
        read_standard(value) for value in (7, {}, {"id": "m"}, {"id": "m", "role": "subagent"}, {"id": "m", "role": []})
    ] == [None] * 5
