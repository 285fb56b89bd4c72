"""What a follower makes of a page and of what comes after it."""

from __future__ import annotations

from typing import Any

from agui_app.client import ServerEvent
from agui_app.conversation.history import page_message, page_run
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import reduce
from agui_app.protocol.events import read_event
from agui_app.state.transcript import Past, advance, first_run, open_window, outdates, thread_of

SAID = {"id": "u", "role": "user", "content": "hi"}
HELLO = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r1", "input": {"messages": [SAID]}},
    {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "hel"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "lo"},
    {"type": "TEXT_MESSAGE_END", "messageId": "m"},
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r1"},
]  # fmt: skip


def page_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The history page after `events`."""
    conversation = Conversation()
    for event in events:
        conversation = reduce(conversation, read_event(event))
    return {
        "threadId": "t",
        "messages": [page_message(message) for message in conversation.messages],
        "runs": [page_run(run) for run in conversation.runs],
        "hasMore": False,
        "nextCursor": None,
        "lastEventId": str(len(events)),
        "activeRunId": conversation.active_run_id,
    }


def received(events: list[dict[str, Any]]) -> list[ServerEvent]:
    return [ServerEvent(str(index), event) for index, event in enumerate(events)]


def drawn(page: dict[str, Any], events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(id, text) of the rows on the page after the events, the growing text included."""
    window, settled = open_window(page)
    for event in received(events):
        window = advance(window, [event])
    assert window.shown is not None
    live = [(row["id"], "".join(window.blocks) if row.get("hot") else row["text"]) for row in window.shown.rows]
    return [*((row["id"], row["text"]) for row in settled), *live]


def test_a_page_at_any_position_and_what_comes_after_it_draw_the_same_rows() -> None:
    for position in range(1, len(HELLO) + 1):
        assert drawn(page_of(HELLO[:position]), HELLO[position:]) == [("u", "hi"), ("m", "hello")]


def test_what_was_there_when_the_page_was_read_settles_and_what_comes_is_live() -> None:
    window, settled = open_window(page_of(HELLO))
    again = [{**event, "runId": "r2"} if "runId" in event else event for event in HELLO[:1]]
    window = advance(
        window, received([{**again[0], "input": {"messages": [{"id": "u2", "role": "user", "content": "more"}]}}])
    )
    assert window.shown is not None
    assert [row["id"] for row in settled] == ["u", "m"]
    assert [row["id"] for row in window.shown.rows] == ["u2"]
    assert window.shown.running


def test_rows_of_the_active_run_are_live_from_the_start() -> None:
    window, settled = open_window(page_of(HELLO[:3]))
    assert settled == []
    assert window.shown is not None
    assert (window.shown.hot_id, "".join(window.blocks)) == ("m", "hel")


def test_the_first_run_of_a_page_is_that_of_its_first_message() -> None:
    conversation = Conversation()
    assert first_run(conversation) == ""
    assert first_run(reduce(conversation, read_event(HELLO[0]))) == "r1"


RETRIED = {
    "type": "RUN_STARTED",
    "threadId": "t",
    "runId": "r2",
    "metadata": {"agui-app": {"replaces": {"after": "u"}}},
}


def test_a_run_that_replaces_an_answer_makes_the_page_be_read_anew() -> None:
    (started, replacing) = received([HELLO[0], RETRIED])
    assert not outdates(started)
    assert outdates(replacing)


def test_the_message_that_is_answered_anew_stays_with_its_answer_so_that_a_silent_end_is_marked_at_it() -> None:
    page = page_of([*HELLO, {**RETRIED, "metadata": {}}])
    page["messages"] = page["messages"][:1]
    window, settled = open_window(page)
    failed = {"type": "RUN_ERROR", "message": "no model"}
    window = advance(window, received([failed]))
    assert settled == []
    assert window.shown is not None
    assert [(row["id"], row.get("mark"), row.get("turn")) for row in window.shown.rows] == [("u", "failed", "u")]


def test_the_past_grows_by_whole_pages_and_knows_where_the_next_begins() -> None:
    newest = {**page_of(HELLO), "hasMore": True, "nextCursor": "c1"}
    older = {**page_of([{**event, "runId": "r0"} for event in HELLO]), "nextCursor": None}
    past = Past.before(newest)
    assert past == Past((), "c1", "r1", True)
    grown = past.with_page(older)
    assert [row["id"] for row in grown.rows] == ["u", "m"]
    assert (grown.cursor, grown.first_run, grown.has_more) == ("", "r0", False)


def test_the_address_of_a_page_names_its_thread() -> None:
    assert [thread_of(path) for path in ("/", "/t/a", "/t/a%40b/")] == ["", "a", "a@b"]
