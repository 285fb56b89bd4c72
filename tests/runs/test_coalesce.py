"""Fewer events that say the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import Event, read_event, write_event
from agui_app.runs.coalesce import coalesce

START = read_event({"type": "RUN_STARTED", "threadId": "t", "runId": "r"})


def content(id: str, delta: str, **more: object) -> Event:
    return read_event({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta, **more})


def args(id: str, delta: str) -> Event:
    return read_event({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta})


def wire(events: list[Event]) -> list[dict[str, object]]:
    return [write_event(event) for event in events]


def test_neighbouring_pieces_of_one_text_become_one_with_the_first_time() -> None:
    pieces = [content("m", "a", timestamp=1), content("m", "b", timestamp=2), content("m", "c")]
    assert wire(coalesce(pieces)) == wire([content("m", "abc", timestamp=1)])


def test_arguments_of_one_call_and_reasoning_are_joined_too() -> None:
    thought = {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m"}
    joined = coalesce(
        [args("c", "{"), args("c", "}"), read_event({**thought, "delta": "a"}), read_event({**thought, "delta": "b"})]
    )
    assert wire(joined) == wire([args("c", "{}"), read_event({**thought, "delta": "ab"})])


def test_pieces_of_different_texts_stay_apart_and_in_order() -> None:
    pieces = [content("m", "a"), content("n", "b"), content("m", "c"), args("m", "d")]
    assert coalesce(pieces) == pieces


def test_pieces_that_carry_more_than_text_stay_as_they_are() -> None:
    pieces = [
        content("m", "a", metadata={"x": 1}),
        content("m", "b"),
        content("m", "c", rawEvent={}),
        content("m", "d", own=1),
    ]
    assert coalesce(pieces) == pieces


def test_pieces_of_different_subagents_stay_apart() -> None:
    pieces = [content("m", "a", subagentRunId="s"), content("m", "b")]
    assert coalesce(pieces) == pieces


IDS = st.sampled_from(["m", "n"])
EVENTS = st.lists(
    st.one_of(
        st.builds(lambda id: read_event({"type": "TEXT_MESSAGE_START", "messageId": id}), IDS),
        st.builds(content, IDS, st.text(max_size=3)),
        st.builds(lambda id: read_event({"type": "TEXT_MESSAGE_END", "messageId": id}), IDS),
        st.builds(lambda id: read_event({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "x"}), IDS),
        st.builds(args, IDS, st.text(max_size=3)),
    ),
    max_size=20,
)


@given(EVENTS)
def test_coalescing_keeps_the_fold(events: list[Event]) -> None:
    assert fold(Conversation(), [START, *coalesce(events)]) == fold(Conversation(), [START, *events])
