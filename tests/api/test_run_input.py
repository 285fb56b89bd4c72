from __future__ import annotations

from typing import Any

import pytest

from agui_app.api.run_input import read_cancel, read_run_input
from agui_app.errors import FieldError, InvalidRequest
from agui_app.protocol.ids import is_valid_id

ID_RULE = "an id is 1 to 128 characters of A-Z a-z 0-9 . _ : @ ~ - and neither . nor .."


def says(content: Any = "hello", **more: Any) -> dict[str, Any]:
    return {"id": "m1", "role": "user", "content": content, **more}


def run(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"threadId": "t1", "runId": "r1", "messages": list(messages), **more}


def read(raw: Any) -> dict[str, Any]:
    return read_run_input(raw, "rules")


def refused(raw: Any) -> tuple[FieldError, ...]:
    with pytest.raises(InvalidRequest) as caught:
        read(raw)
    return caught.value.errors


def pointers(raw: Any) -> list[str]:
    return [field.pointer for field in refused(raw)]


WHOLE = run(
    {"id": "s", "role": "system", "content": "be brief", "vendor": [1]},
    {"id": "d", "role": "developer", "content": "x"},
    says(
        [{"type": "text", "text": "look"}, {"type": "image", "source": {"type": "url", "value": "u"}}, {"type": "odd"}]
    ),
    {
        "id": "a",
        "role": "assistant",
        "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"id": "t", "role": "tool", "toolCallId": "c1", "content": "done"},
    {"id": "g", "role": "reasoning", "content": "hm"},
    {"id": "y", "role": "activity", "activityType": "schedule", "content": {"title": "x"}},
    {"id": "b", "role": "assistant", "content": None},
    parentRunId="r0",
    state={"n": 1},
    tools=[{"name": "f", "description": "d", "parameters": {"type": "object"}}],
    context=[{"description": "d", "value": "v"}],
    forwardedProps={"timezone": "Asia/Shanghai", "agent": "rules", "replaceFrom": "m0", "vendor": [1]},
    resume=[{"interruptId": "i", "status": "resolved", "payload": 1}],
    unknown={"kept": True},
)


def test_a_body_with_everything_in_it_passes_unchanged() -> None:
    assert read(WHOLE) == WHOLE


def test_ids_that_are_left_out_are_made() -> None:
    body = read({"messages": [{"role": "user", "content": "hello"}]})
    assert body == {
        "threadId": body["threadId"],
        "runId": body["runId"],
        "messages": [{"id": body["messages"][0]["id"], "role": "user", "content": "hello"}],
    }
    assert all(is_valid_id(made) for made in (body["threadId"], body["runId"], body["messages"][0]["id"]))
    assert read({"messages": []})["runId"] != body["runId"]


def test_made_ids_follow_from_the_run_so_that_a_request_sent_twice_is_the_same() -> None:
    raw = {"runId": "r" * 128, "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}
    body = read(raw)
    assert body == read(raw)
    assert len({message["id"] for message in body["messages"]}) == 2
    assert is_valid_id(body["threadId"])


def test_a_null_stands_for_an_absent_member() -> None:
    assert read({"threadId": "t", "runId": "r", "messages": None, "state": None, "tools": None}) == {
        "threadId": "t",
        "runId": "r",
        "messages": [],
    }


@pytest.mark.parametrize("id", ["", ".", "..", "a b", "a/b", "ü", "a\n", "x" * 129, "\ufffd"])
def test_an_id_outside_the_rule_is_named_where_it_stands(id: str) -> None:
    call = {"id": id, "function": {"name": "f", "arguments": ""}}
    assert refused({"threadId": id, "runId": id, "messages": []}) == (
        FieldError("/threadId", ID_RULE),
        FieldError("/runId", ID_RULE),
    )
    assert pointers(
        run(
            says(id=id),
            {"id": "a", "role": "assistant", "toolCalls": [call]},
            {"id": "t", "role": "tool", "toolCallId": id},
            says(id="end"),
        )
    ) == ["/messages/0/id", "/messages/1/toolCalls/0/id", "/messages/2/toolCallId"]


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        ([], ""),
        ("text", ""),
        (None, ""),
        ({"messages": {}}, "/messages"),
        (run("hello"), "/messages/0"),  # type: ignore[arg-type]
        (run({"id": "m", "content": "x"}), "/messages/0/role"),
        (run({"id": "m", "role": "wizard", "content": "x"}), "/messages/0/role"),
        (run({"id": "m", "role": ["user"], "content": "x"}), "/messages/0/role"),
        (run({"id": "m", "role": "user"}), "/messages/0/content"),
        (run(says(None)), "/messages/0/content"),
        (run(says(5)), "/messages/0/content"),
        (run(says({"type": "text"})), "/messages/0/content"),
        (run(says(["hello"])), "/messages/0/content/0"),
        (run(says([{"text": "hello"}])), "/messages/0/content/0/type"),
        (run(says([{"type": "text"}])), "/messages/0/content/0"),
        (run(says(id=7)), "/messages/0/id"),
        (run({"id": "t", "role": "tool", "content": "x"}), "/messages/0/toolCallId"),
        (run({"id": "y", "role": "activity", "content": {}}), "/messages/0/activityType"),
        (run({"id": "y", "role": "activity", "activityType": "a", "content": "x"}), "/messages/0/content"),
        (run({"id": "a", "role": "assistant", "toolCalls": [{"id": "c"}]}), "/messages/0/toolCalls/0/function"),
        (run(says(), tools="all"), "/tools"),
        (run(says(), tools=[{"description": "x"}]), "/tools/0/name"),
        (run(says(), context=[{"value": "x"}]), "/context/0/description"),
        (run(says(), forwardedProps=[]), "/forwardedProps"),
        (run(says(), forwardedProps={"agent": "other"}), "/forwardedProps/agent"),
        (run(says(), forwardedProps={"replaceFrom": "a b"}), "/forwardedProps/replaceFrom"),
        (run(says(), forwardedProps={"replaceFrom": 5}), "/forwardedProps/replaceFrom"),
        (run(says(), resume=[{"interruptId": "i", "status": "maybe"}]), "/resume/0/status"),
    ],
)
def test_a_wrong_field_is_named_by_its_pointer(raw: Any, pointer: str) -> None:
    assert pointers(raw) == [pointer]


@pytest.mark.parametrize("blank", ["", " \n\t", "\u3000\u2003", [], [{"type": "text", "text": "  "}]])
def test_a_last_user_message_of_white_space_says_nothing(blank: Any) -> None:
    assert refused(run(says("before", id="m0"), says(blank))) == (
        FieldError("/messages/1/content", "says nothing: only white space"),
    )


def test_an_image_without_text_says_something() -> None:
    body = run(says([{"type": "text", "text": " "}, {"type": "image"}]))
    assert read(body) == body


def test_several_wrong_fields_are_all_named_and_the_detail_names_three() -> None:
    with pytest.raises(InvalidRequest) as caught:
        read({"threadId": 1, "runId": 2, "messages": 3, "tools": 4})
    assert [field.pointer for field in caught.value.errors] == ["/threadId", "/runId", "/messages", "/tools"]
    assert caught.value.detail == (
        "/threadId: Input should be a valid string; /runId: Input should be a valid string; "
        "/messages: Input should be a valid list"
    )


def test_a_cancel_may_name_a_run_or_say_nothing() -> None:
    assert [read_cancel(raw) for raw in (None, {}, {"runId": None}, {"runId": "r1", "why": "x"})] == [
        None,
        None,
        None,
        "r1",
    ]


@pytest.mark.parametrize(("raw", "pointer"), [([], ""), ({"runId": "a b"}, "/runId")])
def test_a_cancel_with_a_wrong_body_is_refused(raw: Any, pointer: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_cancel(raw)
    assert [field.pointer for field in caught.value.errors] == [pointer]
