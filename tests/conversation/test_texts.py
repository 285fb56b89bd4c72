from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.items import rows
from agui_app.conversation.model import Message, MessageStatus, Role
from agui_app.conversation.reducer import fold
from tests.conversation.streams import events_of, finished, folded, run_of, text

Obj = dict[str, Any]
INTERRUPTED = {"metadata": {"agui-app": {"interrupted": True}}}
AT = {"timestamp": 1_772_280_000_000}


def said(text: str, status: MessageStatus = MessageStatus.COMPLETE, id: str = "m", **more: Any) -> Message:
    return Message(id, Role.ASSISTANT, "r1", text, status, **more)


def reasoning(kind: str, **more: Any) -> Obj:
    return {"type": f"REASONING_MESSAGE_{kind}", "messageId": "z", **more}


TEXTS: dict[str, tuple[list[Obj], tuple[Message, ...]]] = {
    "a message": (text("m", "a", "b"), (said("ab"),)),
    "a message that goes on": (text("m", "a", end=False), (said("a", MessageStatus.STREAMING),)),
    "its time, name, metadata and subagent": (
        [
            *text("m", "a", end=False, name="n", subagentRunId="s", metadata={"k": 1, "j": 1}, **AT),
            {"type": "TEXT_MESSAGE_END", "messageId": "m", "metadata": {"k": 2, "agui-app": {"x": 1}}},
        ],
        (
            said(
                "a",
                created_at="2026-02-28T12:00:00.000Z",
                name="n",
                metadata={"k": 2, "j": 1},
                subagent_run_id="s",
            ),
        ),
    ),
    "an end that we wrote": (
        [*text("m", "a", end=False), {"type": "TEXT_MESSAGE_END", "messageId": "m", **INTERRUPTED}],
        (said("a", MessageStatus.INTERRUPTED),),
    ),
    "an end that comes again": (
        [*text("m", "a"), {"type": "TEXT_MESSAGE_END", "messageId": "m", **INTERRUPTED}],
        (said("a"),),
    ),
    "text after the end is kept": ([*text("m", "a"), *text("m", "b")], (said("ab"),)),
    "text without a start": ([{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a"}], ()),
    "an end without a start": ([{"type": "TEXT_MESSAGE_END", "messageId": "m"}], ()),
    "a reasoning is no text": (
        [*text("m", end=False), {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": "a"}],
        (said("", MessageStatus.STREAMING),),
    ),
    "reasoning": (
        [reasoning("START", role="reasoning"), reasoning("CONTENT", delta="why"), reasoning("END")],
        (Message("z", Role.REASONING, "r1", "why"),),
    ),
    "what a user streams": (
        [*text("u", "hi", role="user"), {"type": "TEXT_MESSAGE_CONTENT", "messageId": "u", "delta": "!"}],
        (Message("u", Role.USER, "r1", "hi"),),
    ),
}


@pytest.mark.parametrize(("stream", "messages"), TEXTS.values(), ids=TEXTS)
def test_texts_are_folded(stream: list[Obj], messages: tuple[Message, ...]):
    assert folded(*stream).messages == messages


def test_a_message_of_an_earlier_run_is_left_alone():
    first = fold(folded(*text("m", "a")), events_of(finished()))
    second = fold(first, run_of(*text("m", "b"), run_id="r2"))
    assert second.messages == (said("a"),)


def test_without_a_run_nothing_is_said():
    first = fold(folded(*text("m", "a")), events_of(finished()))
    assert fold(first, events_of(*text("n", "b"))) is first


def test_reasoning_spans_are_remembered_and_drawn_nowhere():
    def span(kind: str, id: str) -> Obj:
        return {"type": f"REASONING_{kind}", "messageId": id}

    open_spans = folded(span("START", "x"), span("START", "y"), span("START", "x"), span("END", "x"), span("END", "q"))
    assert (open_spans.open_reasoning, open_spans.messages) == (("y",), ())
    assert fold(open_spans, events_of(finished())).open_reasoning == ()


def test_empty_messages_make_no_row():
    assert rows(folded(*text("m"), *text("n", ""), *text("s", "secret", role="system"))) == ()
