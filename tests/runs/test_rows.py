"""Which rows are written, and where they stand."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agui_app.conversation.model import CallStatus, Message, MessageStatus, Role, ToolCall, ToolResult
from agui_app.runs.rows import RowChanges, RunRows

USER = Message("u1", Role.USER, "r", "hi")
STREAMING = Message("m1", Role.ASSISTANT, "r", "a", MessageStatus.STREAMING)
CARRIER = Message("r.c1", Role.ASSISTANT, "r", call=ToolCall("c1", "x"))
RESULT = Message("t1", Role.TOOL, "r", "done", tool=ToolResult("c1", "x"))


def apply(rows: RunRows, *messages: Message, final: bool = False) -> RowChanges:
    changes = rows.changes(messages, final=final)
    rows.accept(changes)
    return changes


def test_a_new_message_is_inserted_at_the_next_place() -> None:
    rows = RunRows(7)
    assert apply(rows, USER, STREAMING) == RowChanges((USER, STREAMING), (), (), {"u1": 7, "m1": 8}, 9)


def test_a_text_that_streams_is_written_when_it_begins_and_when_it_settles() -> None:
    rows = RunRows(0)
    apply(rows, STREAMING)
    longer = replace(STREAMING, text="ab")
    assert rows.changes([longer]).updates == ()
    assert rows.changes([longer], final=True).updates == (longer,)
    whole = replace(longer, status=MessageStatus.COMPLETE)
    assert apply(rows, whole).updates == (whole,)
    assert apply(rows, whole, final=True).updates == ()


def test_arguments_are_written_when_they_are_whole() -> None:
    rows = RunRows(0)
    apply(rows, CARRIER)
    assert CARRIER.call is not None
    growing = replace(CARRIER, call=replace(CARRIER.call, args_text="{"))
    assert rows.changes([growing]).updates == ()
    whole = replace(CARRIER, call=replace(CARRIER.call, args_text="{}", status=CallStatus.EXECUTING))
    assert rows.changes([whole]).updates == (whole,)


def test_a_call_keeps_the_place_after_it_for_its_result() -> None:
    rows = RunRows(0)
    apply(rows, CARRIER)
    assert apply(rows, CARRIER, STREAMING).positions == {"r.c1": 0, "m1": 2}
    changes = apply(rows, CARRIER, RESULT, STREAMING)
    assert (changes.inserts, changes.updates, changes.positions) == ((RESULT,), (), {"r.c1": 0, "t1": 1, "m1": 2})


def test_a_call_on_a_text_keeps_the_place_after_that() -> None:
    rows = RunRows(0)
    apply(rows, STREAMING)
    carrier = replace(STREAMING, call=CARRIER.call)
    assert apply(rows, carrier).next_position == 2
    assert apply(rows, carrier, RESULT).positions == {"m1": 0, "t1": 1}


def test_a_result_of_a_call_that_nobody_made_stands_at_the_end() -> None:
    rows = RunRows(0)
    apply(rows, USER)
    assert apply(rows, USER, RESULT).positions == {"u1": 0, "t1": 1}


def test_a_message_that_is_gone_is_deleted() -> None:
    rows = RunRows(0)
    apply(rows, USER, STREAMING)
    assert apply(rows, USER).deletes == ("m1",)
    assert rows.written == {"u1": USER}


def test_messages_in_another_order_get_places_that_rise() -> None:
    rows = RunRows(0)
    first, second, third = (replace(USER, id=id) for id in "abc")
    apply(rows, first, second, third)
    changes = apply(rows, third, first, second)
    assert changes.positions == {"c": 2, "a": 3, "b": 4}
    assert changes.updates == (first, second)


ACTS = st.lists(st.tuples(st.sampled_from(["text", "call", "result", "drop", "swap"]), st.integers(0, 9)), max_size=30)


@given(ACTS)
def test_places_are_always_strictly_rising_and_never_taken_twice(acts: list[tuple[str, int]]) -> None:
    rows, messages = RunRows(5), list[Message]()
    for number, (act, index) in enumerate(acts):
        place = index % len(messages) if messages else 0
        match act:
            case "text":
                messages.append(replace(USER, id=f"m{number}"))
            case "call":
                messages.append(replace(CARRIER, id=f"m{number}"))
            case "result" if messages and messages[place].call and messages[place].role is Role.ASSISTANT:
                messages.insert(place + 1, replace(RESULT, id=f"m{number}"))
            case "drop" if messages:
                messages.pop(place)
            case _:
                messages.reverse()
        before = dict(rows.positions)
        changes = apply(rows, *messages)
        places = [changes.positions[message.id] for message in messages]
        assert places == sorted(set(places))
        assert all(place < changes.next_position for place in places)
        moved = {id for id, place in changes.positions.items() if before.get(id, place) != place}
        assert moved <= {message.id for message in changes.updates}
