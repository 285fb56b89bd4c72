"""Chunks, THINKING_* and broken pairs, as streams of raw events and what is logged of them."""

from __future__ import annotations

from typing import Any

import pytest

from agui_app.protocol.events import TextMessageContentEvent, UnknownEvent, write_event
from agui_app.protocol.normalise import Normaliser

Obj = dict[str, Any]


def logged(*raws: object, close: bool = True) -> list[Obj]:
    normaliser = Normaliser()
    events = [event for raw in raws for event in normaliser.feed(raw)]
    return [write_event(event) for event in [*events, *(normaliser.close() if close else [])]]


def text_chunk(id: str | None = None, delta: str | None = None, **more: Any) -> Obj:
    return {"type": "TEXT_MESSAGE_CHUNK", "messageId": id, "delta": delta, **more}


def call_chunk(id: str | None = None, delta: str | None = None, **more: Any) -> Obj:
    return {"type": "TOOL_CALL_CHUNK", "toolCallId": id, "delta": delta, **more}


def start(id: str, **more: Any) -> Obj:
    return {"type": "TEXT_MESSAGE_START", "messageId": id, **more}


def content(id: str, delta: str, **more: Any) -> Obj:
    return {"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta, **more}


def end(id: str, **more: Any) -> Obj:
    return {"type": "TEXT_MESSAGE_END", "messageId": id, **more}


def call(id: str, kind: str, **more: Any) -> Obj:
    return {"type": f"TOOL_CALL_{kind}", "toolCallId": id, **more}


STEP = {"type": "STEP_STARTED", "stepName": "s"}
RAW = {"type": "RAW", "event": 1}

CHUNKS = {
    "chunks of one message": (
        [text_chunk("m", "he", role="assistant", timestamp=5, name="n"), text_chunk(delta="llo"), text_chunk("m", "!")],
        [
            start("m", role="assistant", timestamp=5, name="n"),
            content("m", "he", timestamp=5),
            content("m", "llo"),
            content("m", "!"),
            end("m"),
        ],
    ),
    "another id begins another message": (
        [text_chunk("m", "a"), text_chunk("n", "b")],
        [start("m"), content("m", "a"), end("m"), start("n"), content("n", "b"), end("n")],
    ),
    "a call chunk closes the message": (
        [text_chunk("m", "a"), call_chunk("c", "{", toolCallName="f", parentMessageId="m"), call_chunk("c", "}")],
        [
            start("m"),
            content("m", "a"),
            end("m"),
            call("c", "START", toolCallName="f", parentMessageId="m"),
            call("c", "ARGS", delta="{"),
            call("c", "ARGS", delta="}"),
            call("c", "END"),
        ],
    ),
    "another event of the lane closes it": (
        [text_chunk("m", "a"), STEP],
        [start("m"), content("m", "a"), end("m"), STEP],
    ),
    "an event that belongs to nothing does not": (
        [text_chunk("m", "a"), RAW, text_chunk(delta="b")],
        [start("m"), content("m", "a"), RAW, content("m", "b"), end("m")],
    ),
    "a chunk without a delta opens": ([text_chunk("m", metadata={"k": 1})], [start("m", metadata={"k": 1}), end("m")]),
    "a chunk without a delta continues with its metadata": (
        [text_chunk("m", "a"), text_chunk("m", metadata={"k": 1})],
        [start("m"), content("m", "a"), content("m", "", metadata={"k": 1}), end("m")],
    ),
    "unknown keys stay with the text": (
        [text_chunk("m", "a", odd=1)],
        [start("m"), content("m", "a", odd=1), end("m")],
    ),
    "a lane for each subagent": (
        [
            text_chunk("m", "a"),
            text_chunk("n", "x", subagentRunId="s"),
            text_chunk(delta="b"),
            text_chunk(delta="y", subagentRunId="s"),
            text_chunk("n", "z"),
            {"type": "STEP_STARTED", "stepName": "s", "subagentRunId": "s"},
            text_chunk(delta="c"),
        ],
        [
            start("m"),
            content("m", "a"),
            start("n", subagentRunId="s"),
            content("n", "x", subagentRunId="s"),
            content("m", "b"),
            content("n", "y", subagentRunId="s"),
            content("n", "z", subagentRunId="s"),
            end("n", subagentRunId="s"),
            {"type": "STEP_STARTED", "stepName": "s", "subagentRunId": "s"},
            content("m", "c"),
            end("m"),
        ],
    ),
    "a lone subagent's text is what an unnamed chunk continues": (
        [text_chunk("n", "x", subagentRunId="s"), text_chunk(delta="y")],
        [
            start("n", subagentRunId="s"),
            content("n", "x", subagentRunId="s"),
            content("n", "y", subagentRunId="s"),
            end("n", subagentRunId="s"),
        ],
    ),
    "the end of the run closes every lane": (
        [text_chunk("m", "a"), text_chunk("n", "x", subagentRunId="s"), {"type": "RUN_ERROR", "message": "no"}],
        [
            start("m"),
            content("m", "a"),
            start("n", subagentRunId="s"),
            content("n", "x", subagentRunId="s"),
            end("m"),
            end("n", subagentRunId="s"),
            {"type": "RUN_ERROR", "message": "no"},
        ],
    ),
    "a first chunk that names nothing passes": (
        [text_chunk(delta="a"), call_chunk("c", "{}")],
        [{"type": "TEXT_MESSAGE_CHUNK", "delta": "a"}, {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "delta": "{}"}],
    ),
    "reasoning chunks": (
        [{"type": "REASONING_MESSAGE_CHUNK", "message_id": "z", "delta": "why"}],
        [
            {"type": "REASONING_MESSAGE_START", "messageId": "z", "role": "reasoning"},
            {"type": "REASONING_MESSAGE_CONTENT", "messageId": "z", "delta": "why"},
            {"type": "REASONING_MESSAGE_END", "messageId": "z"},
        ],
    ),
}


@pytest.mark.parametrize(("raws", "events"), CHUNKS.values(), ids=CHUNKS)
def test_chunks_stand_for_starts_contents_and_ends(raws: list[Obj], events: list[Obj]):
    assert logged(*raws) == events


def test_thinking_is_reasoning():
    raws = [
        {"type": "THINKING_START", "title": "t"},
        {"type": "THINKING_TEXT_MESSAGE_START"},
        {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "a"},
        {"type": "THINKING_TEXT_MESSAGE_END"},
        {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "b"},
        {"type": "THINKING_TEXT_MESSAGE_END"},
        {"type": "THINKING_END"},
    ]
    events = logged(*raws)
    span, first, second = events[0]["messageId"], events[1]["messageId"], events[4]["messageId"]
    assert len({span, first, second}) == 3
    assert events == [
        {"type": "REASONING_START", "title": "t", "messageId": span},
        {"type": "REASONING_MESSAGE_START", "messageId": first, "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": first, "delta": "a"},
        {"type": "REASONING_MESSAGE_END", "messageId": first},
        {"type": "REASONING_MESSAGE_START", "messageId": second, "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": second, "delta": "b"},
        {"type": "REASONING_MESSAGE_END", "messageId": second},
        {"type": "REASONING_END", "messageId": span},
    ]


def test_an_end_of_thinking_that_never_began_is_kept_as_it_is():
    raws = [{"type": "THINKING_END"}, {"type": "THINKING_TEXT_MESSAGE_END"}]
    assert logged(*raws) == raws


def args(id: str, delta: str) -> Obj:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta}


@pytest.mark.parametrize(
    ("raws", "events"),
    [
        ([content("m", "c\ud83d"), content("m", "\ude00d")], [content("m", "c"), content("m", "😀d")]),
        ([content("m", "e\ud83d"), content("m", "f")], [content("m", "e"), content("m", "\ufffdf")]),
        (
            [content("m", "e\ud83d"), content("n", "\ude00")],
            [content("m", "e"), content("n", "\ufffd"), content("m", "\ufffd")],
        ),
        ([content("m", "e\ud83d"), end("m")], [content("m", "e"), content("m", "\ufffd"), end("m")]),
        ([args("c", "\ud83d"), args("c", "\ude00")], [args("c", ""), args("c", "😀")]),
        (
            [text_chunk("m", "\ud83d"), text_chunk(delta="\ude00")],
            [start("m"), content("m", ""), content("m", "😀"), end("m")],
        ),
        ([text_chunk("m", "\ud83d")], [start("m"), content("m", ""), content("m", "\ufffd"), end("m")]),
    ],
)
def test_halves_of_a_pair_in_two_deltas_are_joined_and_lone_ones_replaced(raws: list[Obj], events: list[Obj]):
    assert logged(*raws) == events


def test_events_that_somebody_built_are_read_like_others():
    assert logged(TextMessageContentEvent(message_id="m", delta="a\x00")) == [content("m", "a\ufffd")]
    assert Normaliser().feed(UnknownEvent("X", 1)) == [UnknownEvent("X", 1)]


@pytest.mark.parametrize(
    "raw", [None, 7, "text", [], {}, {"type": []}, {"type": "TEXT_MESSAGE_CHUNK", "messageId": []}]
)
def test_nothing_that_is_fed_raises(raw: object):
    assert len(Normaliser().feed(raw)) == 1
