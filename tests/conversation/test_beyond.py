"""A reader of the newest messages, however few, has what one of everything has: as far as his window goes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agui_app.conversation.beyond import noted
from agui_app.conversation.history import from_page
from agui_app.conversation.items import rows
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold, reduce
from agui_app.protocol.events import Event, MessagesSnapshotEvent, our_metadata
from tests.conversation.beyond import BEYOND, START, look, plan, result, start
from tests.conversation.strategies import STREAMS
from tests.conversation.streams import as_page, finished, normalised, run_of, text

Obj = dict[str, Any]


def told(raws: list[Obj]) -> list[Event]:
    """The events of a run as they are logged."""
    conversation, events, took_rows_away = Conversation(), list[Event](), False
    for event in normalised(raws):
        events.append(noted(conversation, event, always=took_rows_away))
        took_rows_away |= isinstance(event, MessagesSnapshotEvent)
        conversation = reduce(conversation, events[-1])
    return events


def window(conversation: Conversation, limit: int) -> Conversation:
    """What a page of the newest `limit` messages gives a reader."""
    page = as_page(conversation)
    return from_page({**page, "messages": page["messages"][-limit:]})


def check(raws: list[Obj], limit: int, cut: int) -> None:
    events = told(raws)
    whole = rows(fold(Conversation(), events))
    seen = rows(fold(window(fold(Conversation(), events[:cut]), limit), events[cut:]))
    assert seen == whole[len(whole) - len(seen) :]


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("name", BEYOND)
def test_a_window_has_the_newest_rows_of_the_whole(name: str, limit: int):
    for cut in range(1, len(told(BEYOND[name])) + 1):
        check(BEYOND[name], limit, cut)


@settings(max_examples=300)
@given(STREAMS, st.integers(1, 3), st.integers(1, 30))
def test_whatever_is_said_a_window_has_the_newest_rows_of_the_whole(stream: list[Obj], limit: int, cut: int):
    first, *rest = stream
    check([first, *(raw for raw in rest if raw.get("type") != "RUN_STARTED")], limit, cut)


@pytest.mark.parametrize("name", BEYOND)
def test_the_notes_change_nothing_for_who_has_everything(name: str):
    assert rows(fold(Conversation(), told(BEYOND[name]))) == rows(fold(Conversation(), normalised(BEYOND[name])))


def notes(*raws: Obj) -> Obj:
    return our_metadata(told([START, *raws])[-1])


def test_an_event_about_the_newest_row_or_a_new_one_says_nothing():
    assert notes(*look("c1"), result("c1")) == {}
    assert notes(*look("c1"), result("nobody")) == {}
    assert notes(plan("one"), plan("two")) == {}
    assert notes(*text("m1", "a"), start("c1", "m1")) == {}
    assert notes(*text("m1", "a"), *text("m2", "b")) == {}


def test_an_event_about_a_row_that_others_follow_names_it():
    assert notes(*look("c1"), *text("m1", "a"), result("c1")) == {"about": "r.c1"}
    assert notes(plan("one"), *text("m1", "a"), plan("two")) == {"about": "plan"}


def test_a_call_that_cannot_stand_on_its_message_names_the_one_it_stands_on():
    assert notes(*text("m1", "a"), *text("m2", "b"), start("c1", "m1")) == {"row": "r.c1"}


def test_what_comes_when_no_run_is_active_is_left_as_it_is():
    events = run_of(finished())
    ended = fold(Conversation(), events)
    assert [noted(ended, event) for event in events] == events
