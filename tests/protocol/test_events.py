from __future__ import annotations

import json
from typing import Any

import pytest
from ag_ui.core import Event as StandardEvent
from pydantic import TypeAdapter

from agui_app.protocol.events import (
    CLASSES,
    CustomEvent,
    EventType,
    MessagesSnapshot,
    RawEvent,
    ReasoningMessageStartEvent,
    RunErrorEvent,
    RunFinishedEvent,
    RunStarted,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageStartEvent,
    ToolCallErrorEvent,
    ToolCallResult,
    ToolCallStartEvent,
    UnknownEvent,
    dump_event,
    event_type,
    our_metadata,
    parse_event,
    read_event,
    stamp,
    with_our_metadata,
    write_event,
    write_standard_event,
)
from agui_app.protocol.sanitise import MAX_DEPTH

Obj = dict[str, Any]

STANDARD: list[Obj] = [
    {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "name": "n"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x"},
    {"type": "TEXT_MESSAGE_END", "messageId": "m"},
    {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "x"},
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "m"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"},
    {"type": "TOOL_CALL_END", "toolCallId": "c"},
    {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f", "delta": "{}"},
    {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c", "role": "tool", "content": "ok"},
    {"type": "STATE_SNAPSHOT", "snapshot": {"a": None}},
    {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": 1}]},
    {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m", "role": "user", "content": "hi"}]},
    {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "PLAN", "content": {"s": []}, "replace": False},
    {"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "PLAN", "patch": []},
    {"type": "RAW", "event": {"x": 1}, "source": "s"},
    {"type": "CUSTOM", "name": "n", "value": None},
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"},
    {
        "type": "RUN_FINISHED",
        "threadId": "t",
        "runId": "r",
        "outcome": {"type": "success"},
        "usage": [{"inputTokens": 1}],
    },
    {"type": "RUN_ERROR", "message": "no", "code": "x"},
    {"type": "STEP_STARTED", "stepName": "s"},
    {"type": "STEP_FINISHED", "stepName": "s"},
    {"type": "REASONING_START", "messageId": "m"},
    {"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": "x"},
    {"type": "REASONING_MESSAGE_END", "messageId": "m"},
    {"type": "REASONING_MESSAGE_CHUNK", "messageId": "m", "delta": "x"},
    {"type": "REASONING_END", "messageId": "m"},
    {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m", "encryptedValue": "e"},
    {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n"},
    {"type": "SUBAGENT_FINISHED", "subagentRunId": "s"},
    {"type": "SUBAGENT_ERROR", "subagentRunId": "s", "message": "no"},
]


def test_every_type_of_the_protocol_has_a_class():
    assert set(CLASSES) == {kind.value for kind in EventType} | {"TOOL_CALL_ERROR"}
    assert [wire["type"] for wire in STANDARD] == [kind for kind in CLASSES if kind != "TOOL_CALL_ERROR"]


@pytest.mark.parametrize("wire", STANDARD, ids=lambda wire: wire["type"])
def test_an_event_is_written_as_it_was_read(wire: Obj):
    full = {**wire, "timestamp": 5, "metadata": {"k": None}, "extra": {"b": [1]}}
    event = read_event(full)
    assert write_event(event) == full
    assert event_type(event) == wire["type"]
    assert read_event(event) == event
    TypeAdapter(StandardEvent).validate_python(write_standard_event(event))


def test_snake_case_names_are_read_and_camel_case_wins():
    wire = {"type": "TEXT_MESSAGE_CONTENT", "message_id": "snake", "messageId": "camel", "delta": "x"}
    assert write_event(read_event(wire)) == {"type": "TEXT_MESSAGE_CONTENT", "messageId": "camel", "delta": "x"}
    assert read_event({"type": "STEP_STARTED", "step_name": "s"}) == StepStartedEvent(step_name="s")


def test_null_stands_for_an_absent_field():
    wire = {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": None, "name": None, "rawEvent": None}
    assert read_event(wire) == TextMessageStartEvent(message_id="m")
    reasoning = {"type": "REASONING_MESSAGE_START", "messageId": "m", "role": None, "metadata": None}
    assert read_event(reasoning) == ReasoningMessageStartEvent(message_id="m")


@pytest.mark.parametrize(
    ("timestamp", "read"),
    [("2026-02-28T12:00:00Z", 1_772_280_000_000), (1.6, 2), ("soon", None), (True, None), (None, None)],
)
def test_timestamps_that_are_no_integer_are_mended(timestamp: object, read: int | None):
    event = read_event({"type": "STEP_STARTED", "stepName": "s", "timestamp": timestamp})
    assert event == StepStartedEvent(step_name="s", timestamp=read)


def test_an_optional_field_that_cannot_be_read_is_put_aside():
    event = read_event({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "odd"}})
    assert write_event(event) == {
        "type": "RUN_FINISHED",
        "threadId": "t",
        "runId": "r",
        "metadata": {"agui-app": {"unreadable": {"outcome": {"type": "odd"}}}},
    }


def test_a_metadata_that_is_no_object_is_put_aside():
    event = read_event({"type": "STEP_STARTED", "stepName": "s", "metadata": 7})
    assert our_metadata(event) == {"unreadable": {"metadata": 7}}


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "TEXT_MESSAGE_START", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": None},
        {"type": "ACTIVITY_DELTA", "messageId": "m", "activityType": "P", "patch": [{"op": "explode"}]},
        {"type": "RUN_STARTED", "threadId": "t"},
    ],
)
def test_a_known_event_that_still_fails_is_kept_raw_with_the_reason(wire: Obj):
    event = read_event(wire)
    assert isinstance(event, UnknownEvent)
    assert (event.type, event.raw, bool(event.reason)) == (wire["type"], wire, True)
    assert write_event(event) == wire


def test_an_unknown_type_is_kept_raw():
    wire = {"type": "FUTURE_X", "a": "b\x00"}
    event = read_event(wire)
    assert event == UnknownEvent("FUTURE_X", {"type": "FUTURE_X", "a": "b\ufffd"})
    assert (write_event(event), write_standard_event(event)) == ({"type": "FUTURE_X", "a": "b\ufffd"}, None)
    assert read_event(event) is event


@pytest.mark.parametrize("raw", [None, 7, "text", [], {}, {"type": 7}, {"a": 1}])
def test_what_is_no_event_goes_out_as_raw(raw: object):
    event = read_event(raw)
    assert isinstance(event, UnknownEvent)
    assert write_event(event) == {"type": "RAW", "event": raw, "source": "unreadable"}
    assert isinstance(read_event(write_event(event)), RawEvent)


class _Rude:
    def __str__(self) -> str:
        raise RuntimeError


def test_values_that_cannot_be_written_are_given_up():
    deep: list[object] = []
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    assert read_event({"type": "RAW", "event": deep}) == UnknownEvent("", None, "TooDeep")
    assert read_event({"type": "RAW", "event": _Rude()}) == UnknownEvent("", None, "RuntimeError")
    assert isinstance(read_event(RawEvent.model_construct(event=_Rude())), UnknownEvent)


@pytest.mark.parametrize("text", ["not-json", b"\xff", "[" * 5000, "1" * 5000])
def test_a_line_that_is_no_json_is_kept_as_text(text: str | bytes):
    event = parse_event(text)
    assert isinstance(event, UnknownEvent)
    assert event.raw == (text if isinstance(text, str) else "\ufffd")


def test_a_line_of_json_is_read():
    assert parse_event(b'{"type":"STEP_STARTED","stepName":"s"}') == StepStartedEvent(step_name="s")


def test_messages_of_unknown_roles_do_not_spoil_a_snapshot_or_a_start():
    messages = [{"id": "m", "role": "narrator"}, {"id": "n", "role": "user", "content": "hi"}, 7]
    snapshot = read_event({"type": "MESSAGES_SNAPSHOT", "messages": messages})
    assert snapshot == MessagesSnapshot(messages=messages)
    start = read_event({"type": "RUN_STARTED", "runId": "r", "input": {"messages": messages}})
    assert start == RunStarted(thread_id="", run_id="r", input={"messages": messages})


def test_the_end_of_a_run_needs_no_ids():
    assert read_event({"type": "RUN_FINISHED"}) == RunFinishedEvent(thread_id="", run_id="")


RESULT: Obj = {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c"}


def test_a_result_of_our_stream_has_its_extras_at_top_level():
    wire = {**RESULT, "content": "s", "callId": "c", "toolName": "f", "args": {}, "result": None, "stage": "execution"}
    event = read_event(wire)
    assert event == ToolCallResult(
        message_id="m",
        tool_call_id="c",
        content="s",
        call_id="c",
        tool_name="f",
        args={},
        result=None,
        stage="execution",
    )
    assert write_event(event) == wire


def test_null_is_a_result_but_no_error_and_no_card():
    assert write_event(read_event({**RESULT, "content": "s", "result": None, "error": None, "ui": None})) == {
        **RESULT,
        "content": "s",
        "result": None,
    }


def test_extras_in_metadata_are_lifted_and_what_stands_at_top_level_wins():
    metadata = {"ui": {"k": 1}, "toolName": "below", "taskId": "t", "other": 2}
    event = read_event({**RESULT, "content": "s", "toolName": "above", "metadata": metadata})
    assert write_event(event) == {
        **RESULT,
        "content": "s",
        "toolName": "above",
        "ui": {"k": 1},
        "taskId": "t",
        "metadata": {"other": 2},
    }


@pytest.mark.parametrize("metadata", [{}, {"other": 2}, None])
def test_metadata_without_extras_stays(metadata: Obj | None):
    event = read_event({**RESULT, "content": "s", "metadata": metadata})
    assert isinstance(event, ToolCallResult)
    assert event.metadata == metadata


@pytest.mark.parametrize(
    ("older", "content"),
    [
        ({"result": {"ok": True, "m": "好"}}, '{"ok": true, "m": "好"}'),
        ({"result": "text"}, "text"),
        ({"result": 0}, "0"),
        ({"content": None, "result": [1]}, "[1]"),
        ({"content": {"a": 1}}, '{"a": 1}'),
        (
            {"content": [{"type": "text", "text": "t"}, {"type": "odd"}]},
            [{"type": "text", "text": "t"}, {"type": "odd"}],
        ),
        ({"content": [{"a": 1}]}, '[{"a": 1}]'),
        ({}, ""),
    ],
)
def test_a_missing_content_is_mended(older: Obj, content: object):
    event = read_event({**RESULT, **older})
    assert isinstance(event, ToolCallResult)
    assert event.content == content


def test_a_result_needs_only_the_id_of_its_call():
    event = read_event({"type": "TOOL_CALL_RESULT", "callId": "c", "content": "s"})
    assert write_event(event) == {
        "type": "TOOL_CALL_RESULT",
        "messageId": "c.result",
        "toolCallId": "c",
        "callId": "c",
        "content": "s",
    }
    assert isinstance(read_event({"type": "TOOL_CALL_RESULT", "content": "s"}), UnknownEvent)


def test_on_the_standard_endpoint_the_extras_are_metadata():
    wire = {**RESULT, "content": "s", "callId": "c", "toolName": "f", "ui": {"k": 1}, "metadata": {"other": 2}}
    event = read_event(wire)
    standard = write_standard_event(event)
    assert standard == {**RESULT, "content": "s", "metadata": {"other": 2, "toolName": "f", "ui": {"k": 1}}}
    assert read_event(standard) == read_event({key: value for key, value in wire.items() if key != "callId"})
    assert write_standard_event(read_event({**RESULT, "content": "s"})) == {**RESULT, "content": "s"}


def test_a_call_that_was_not_carried_out_has_two_forms():
    own = {"type": "TOOL_CALL_ERROR", "toolCallId": "c", "error": "no", "code": "timeout", "timestamp": 5}
    event = ToolCallErrorEvent(tool_call_id="c", error="no", code="timeout", timestamp=5)
    standard = {
        "type": "CUSTOM",
        "name": "TOOL_CALL_ERROR",
        "value": {"toolCallId": "c", "error": "no", "code": "timeout"},
        "timestamp": 5,
    }
    assert (read_event(own), read_event(standard)) == (event, event)
    assert (write_event(event), write_standard_event(event)) == (own, standard)
    assert event_type(event) == "TOOL_CALL_ERROR"
    odd = {**standard, "value": "no"}
    assert read_event(odd) == CustomEvent(name="TOOL_CALL_ERROR", value="no", timestamp=5)


def test_an_event_is_dumped_on_one_line_of_utf_8():
    line = dump_event(TextMessageContentEvent(message_id="m", delta="你\n\u2028"))
    assert line == '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"你\\n\u2028"}'
    assert json.loads(line)["delta"] == "你\n\u2028"


def test_an_event_without_a_time_is_stamped():
    event = RunErrorEvent(message="no")
    assert stamp(event, 5) == RunErrorEvent(message="no", timestamp=5)
    assert stamp(stamp(event, 5), 6) == RunErrorEvent(message="no", timestamp=5)
    assert stamp(UnknownEvent("X", {}), 5) == UnknownEvent("X", {})


def test_our_notes_go_with_an_event():
    event = with_our_metadata(ToolCallStartEvent(tool_call_id="c", tool_call_name="f", metadata={"k": 1}), a=1)
    assert with_our_metadata(event, b=2).metadata == {"k": 1, "agui-app": {"a": 1, "b": 2}}
    unknown = UnknownEvent("X", {"metadata": {"agui-app": {"a": 1}}})
    assert (with_our_metadata(unknown, a=1), our_metadata(unknown)) == (unknown, {})
    assert our_metadata(RunErrorEvent(message="no", metadata={"agui-app": 7})) == {}
