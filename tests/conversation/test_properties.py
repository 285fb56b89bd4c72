"""What holds for every stream that anybody can think of."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agui_app.conversation.closing import closing_events
from agui_app.conversation.history import from_page
from agui_app.conversation.items import rows
from agui_app.conversation.messages import standard_messages
from agui_app.conversation.model import CallStatus, Conversation, MessageStatus, StepState
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import (
    Event,
    MessagesSnapshotEvent,
    ReasoningMessageContentEvent,
    RunErrorEvent,
    RunStartedEvent,
    TextMessageContentEvent,
    ToolCallArgsEvent,
    dump_event,
    parse_event,
)
from agui_app.protocol.order import Order
from tests.conversation.strategies import JSON, STREAMS
from tests.conversation.streams import as_page, normalised, through_history

Obj = dict[str, Any]


def shown(conversation: Conversation) -> tuple[Any, Any]:
    return rows(conversation), conversation.runs


@settings(max_examples=300)
@given(STREAMS)
def test_no_stream_raises_and_all_of_it_can_be_stored(stream: list[Obj]):
    conversation = fold(Conversation(), normalised(stream))
    page = as_page(conversation)
    written = json.dumps([page, standard_messages(conversation)], ensure_ascii=False, allow_nan=False)
    assert "\\u0000" not in written
    assert written.encode("utf-8")
    assert len({message.id for message in conversation.messages}) == len(conversation.messages)
    assert len({item.id for item in rows(conversation)}) == len(rows(conversation))


@settings(max_examples=100)
@given(st.lists(JSON | st.binary(max_size=5) | st.just(object()), max_size=5))
def test_what_is_no_event_changes_nothing(values: list[object]):
    assert fold(Conversation(), normalised(values)) == Conversation()


@given(STREAMS, st.integers(0, 30))
def test_a_fold_goes_on_from_any_fold(stream: list[Obj], cut: int):
    events = normalised(stream)
    assert fold(fold(Conversation(), events[:cut]), events[cut:]) == fold(Conversation(), events)


@given(STREAMS)
def test_the_log_keeps_every_event(stream: list[Obj]):
    events = normalised(stream)
    assert [parse_event(dump_event(event)) for event in events] == events


@settings(max_examples=150)
@given(STREAMS, st.integers(0, 30))
def test_a_page_at_any_position_and_the_rest_make_the_whole(stream: list[Obj], cut: int):
    events = normalised(stream)
    resumed = fold(through_history(fold(Conversation(), events[:cut])), events[cut:])
    assert shown(resumed) == shown(fold(Conversation(), events))


@given(STREAMS, st.integers(1, 3))
def test_any_page_renders_by_itself(stream: list[Obj], limit: int):
    conversation = fold(Conversation(), normalised(stream))
    page = as_page(conversation)
    parts = [page["messages"][start : start + limit] for start in range(0, len(page["messages"]), limit)]
    cut = [item for part in parts for item in rows(from_page({**page, "messages": part}))]
    assert tuple(cut) == rows(conversation)


def merged(events: list[Event]) -> list[Event]:
    """Neighbouring deltas of one text as one."""
    made: list[Event] = []
    for event in events:
        before = made[-1] if made else None
        if (
            isinstance(event, TextMessageContentEvent | ReasoningMessageContentEvent | ToolCallArgsEvent)
            and type(before) is type(event)
            and before.model_copy(update={"delta": ""}) == event.model_copy(update={"delta": ""})
        ):
            made[-1] = event.model_copy(update={"delta": before.delta + event.delta})
        else:
            made.append(event)
    return made


@given(STREAMS)
def test_fewer_longer_deltas_make_the_same(stream: list[Obj]):
    events = normalised(stream)
    assert fold(Conversation(), merged(events)) == fold(Conversation(), events)


@given(STREAMS)
def test_what_the_order_drops_would_have_changed_nothing(stream: list[Obj]):
    """In one run; without messages that come whole, and without texts of messages that calls made."""
    _, *rest = normalised(stream)
    start = RunStartedEvent(thread_id="t1", run_id="r1")
    order, conversation = Order(), fold(Conversation(), [start])
    order.check(start)
    for event in rest:
        carriers = {message.id for message in conversation.messages if message.call is not None}
        if isinstance(event, RunStartedEvent | MessagesSnapshotEvent) or getattr(event, "message_id", "") in carriers:
            continue
        verdict = order.check(event)
        after = fold(conversation, [event])
        assert verdict.event is not None or shown(after) == shown(conversation)
        conversation = after


@settings(max_examples=150)
@given(STREAMS, st.booleans(), st.booleans())
def test_after_its_closing_events_a_run_has_nothing_open(stream: list[Obj], stopped: bool, well: bool):
    conversation = fold(Conversation(), normalised(stream))
    ends = closing_events(conversation, stopped=stopped, error="cut", finished=well)
    closed = fold(conversation, ends)
    run_id = conversation.active_run_id
    own = [message for message in closed.messages if run_id is not None and message.run_id == run_id]
    assert [message for message in own if message.status is MessageStatus.STREAMING] == []
    assert [message.call for message in own if message.call and message.call.status is CallStatus.PENDING] == []
    assert [
        step for run in closed.runs if run.run_id == run_id for step in run.steps if step.state is StepState.ACTIVE
    ] == []
    assert closed.open_reasoning == () or run_id is None
    assert closing_events(closed, stopped=stopped, error="cut", finished=well) == []
    if not well:
        ended = fold(closed, [RunErrorEvent(message="cut", code="interrupted")])
        assert rows(ended) == rows(closed)
