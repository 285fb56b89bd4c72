"""What leaves the window when a run replaces messages."""

from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.history import from_page, page_run
from agui_app.conversation.model import Conversation, Message, Role, Run, RunStatus
from agui_app.conversation.reducer import fold
from agui_app.conversation.replacing import replaces_note
from tests.conversation.streams import as_page, call, events_of, finished, result, text, through_history

Obj = dict[str, Any]


def start(run_id: str, *said: str, replaces: Any = None) -> Obj:
    """RUN_STARTED with messages of the reader, and a note of what it replaces."""
    messages = [{"id": id, "role": "user", "content": f"says {id}"} for id in said]
    noted = {} if replaces is None else {"metadata": {"agui-app": {"replaces": replaces}}}
    return {"type": "RUN_STARTED", "threadId": "t1", "runId": run_id, "input": {"messages": messages}, **noted}


def turn(run_id: str, *said: str, replaces: Any = None, answer: str = "") -> list[Obj]:
    """A whole run."""
    return [start(run_id, *said, replaces=replaces), *text(answer or f"a-{run_id}", "hi"), finished(run_id=run_id)]


def shown(conversation: Conversation) -> tuple[list[str], list[tuple[str, str | None]]]:
    """Ids of the messages, and the runs with who superseded them."""
    return (
        [message.id for message in conversation.messages],
        [(run.run_id, run.superseded_by) for run in conversation.runs],
    )


THREE = [*turn("r1", "u1"), *turn("r2", "u2"), *turn("r3", "u3")]
FAILED = [start("rx"), {"type": "RUN_ERROR", "message": "no model", "code": "x"}]

CASES: dict[str, tuple[list[Obj], tuple[list[str], list[tuple[str, str | None]]]]] = {
    "an edit takes the message and all after it away": (
        [*THREE, start("r4", "u4", replaces={"from": "u2"})],
        (["u1", "a-r1", "u4"], [("r1", None), ("r4", None)]),
    ),
    "a retry keeps the message that is answered anew": (
        [*THREE, start("r4", replaces={"after": "u2"})],
        (["u1", "a-r1", "u2"], [("r1", None), ("r2", "r4"), ("r4", None)]),
    ),
    "an answer that is taken away leaves what its run was given": (
        [*THREE, start("r4", replaces={"from": "a-r2"})],
        (["u1", "a-r1", "u2"], [("r1", None), ("r2", "r4"), ("r4", None)]),
    ),
    "a retry of a retry": (
        [*turn("r1", "u1"), *turn("r2", replaces={"after": "u1"}), start("r3", replaces={"after": "u1"})],
        (["u1"], [("r1", "r2"), ("r3", None)]),
    ),
    "an edit of an edit": (
        [*turn("r1", "u1"), *turn("r2", "u2", replaces={"from": "u1"}), start("r3", "u3", replaces={"from": "u2"})],
        (["u3"], [("r3", None)]),
    ),
    "a later run that said nothing leaves": (
        [*turn("r1", "u1"), *FAILED, start("r3", replaces={"from": "a-r1"})],
        (["u1"], [("r1", "r3"), ("r3", None)]),
    ),
    "a run that said nothing before the cut stays": (
        [*FAILED, *turn("r1", "u1"), start("r3", "u3", replaces={"from": "u1"})],
        (["u3"], [("rx", None), ("r3", None)]),
    ),
    "a message may come back by its id, said by another run": (
        [*turn("r1", "u1", answer="m"), *turn("r2", replaces={"after": "u1"}, answer="m")],
        (["u1", "m"], [("r1", "r2"), ("r2", None)]),
    ),
    "a run that is known replaces nothing": (
        [*THREE, start("r2", replaces={"from": "u1"})],
        (["u1", "a-r1", "u2", "a-r2", "u3", "a-r3"], [("r1", None), ("r2", None), ("r3", None)]),
    ),
}


@pytest.mark.parametrize(("stream", "expected"), CASES.values(), ids=CASES)
def test_what_a_run_replaces_has_left(stream: list[Obj], expected: Any) -> None:
    events = events_of(*stream)
    assert shown(fold(Conversation(), events)) == expected
    for cut in range(len(events) + 1):
        assert shown(fold(through_history(fold(Conversation(), events[:cut])), events[cut:])) == expected


@pytest.mark.parametrize("note", [None, 7, [], {}, {"from": 7}, {"from": None}, {"before": "u1"}])
def test_a_note_that_names_no_message_replaces_nothing(note: Any) -> None:
    before = fold(Conversation(), events_of(*THREE))
    assert fold(before, events_of(start("r4", replaces=note))).messages == before.messages


@pytest.mark.parametrize("key", ["from", "after"])
@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_a_window_that_does_not_reach_back_to_the_message_came_all_after_it(key: str, size: int) -> None:
    whole = as_page(fold(Conversation(), events_of(*THREE)))
    messages = whole["messages"][len(whole["messages"]) - size :]
    runs = [run for run in whole["runs"] if run["runId"] in {message["runId"] for message in messages}]
    window = from_page({**whole, "messages": messages, "runs": runs})
    assert shown(fold(window, events_of(start("r4", "u4", replaces={key: "u1"})))) == (["u4"], [("r4", None)])


def test_a_run_that_never_got_its_end_is_interrupted_before_it_is_replaced() -> None:
    open_run = [start("r1", "u1"), *text("m", "half", end=False)]
    conversation = fold(Conversation(), events_of(*open_run, start("r2", replaces={"after": "u1"})))
    assert [(run.run_id, run.status, run.superseded_by) for run in conversation.runs] == [
        ("r1", RunStatus.INTERRUPTED, "r2"),
        ("r2", RunStatus.RUNNING, None),
    ]
    assert conversation.active_run_id == "r2"


def test_calls_leave_with_their_results() -> None:
    called = [start("r1", "u1"), *call("c"), result("c"), *text("m", "done"), finished()]
    kept = fold(Conversation(), events_of(*called, start("r2", replaces={"from": "m"})))
    assert [message.role for message in kept.messages] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    gone = fold(Conversation(), events_of(*called, start("r2", replaces={"from": kept.messages[1].id})))
    assert [message.role for message in gone.messages] == [Role.USER]


def test_messages_of_runs_that_the_window_does_not_know_leave_too() -> None:
    drawn = Conversation((Message("u", Role.USER), Message("v", Role.USER)), (Run("r0", RunStatus.FINISHED),))
    assert shown(fold(drawn, events_of(start("r1", replaces={"from": "v"})))) == (["u"], [("r0", None), ("r1", None)])


def test_a_page_says_who_superseded_a_run_only_where_one_did() -> None:
    assert "supersededBy" not in page_run(Run("r1"))
    assert page_run(Run("r1", superseded_by="r2"))["supersededBy"] == "r2"
    assert from_page({"runs": [page_run(Run("r1", RunStatus.FINISHED, superseded_by="r2"))]}).runs == (
        Run("r1", RunStatus.FINISHED, superseded_by="r2"),
    )


def test_a_note_says_whether_the_message_stays() -> None:
    assert replaces_note("u1", kept=True) == {"replaces": {"after": "u1"}}
    assert replaces_note("u1", kept=False) == {"replaces": {"from": "u1"}}
