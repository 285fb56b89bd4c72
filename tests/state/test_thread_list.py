"""What a change makes of the list of threads."""

from __future__ import annotations

from typing import Any

import pytest

from agui_app.state.thread_list import LIST_LIMIT, Line, changed, drawn, read_line


def row(id: str, minute: int, title: str = "") -> Line:
    return {"id": id, "title": title, "updatedAt": f"2026-03-01T10:{minute:02d}:00Z"}


def change(type_: str, line: Line) -> dict[str, Any]:
    return {"type": type_, "thread": {**line, "lastLine": "hello", "activeRunId": None}}


LIST = [row("c", 3), row("b", 2), row("a", 1)]


@pytest.mark.parametrize(
    ("event", "ids"),
    [
        (change("thread.created", row("d", 4)), ["d", "c", "b", "a"]),
        (change("thread.updated", row("a", 4)), ["a", "c", "b"]),
        (change("thread.updated", row("b", 2, "renamed")), ["c", "b", "a"]),
        (change("thread.updated", row("0", 0)), ["c", "b", "a", "0"]),
        ({"type": "thread.deleted", "thread": {"id": "b"}}, ["c", "a"]),
        ({"type": "thread.deleted", "thread": {"id": "x"}}, ["c", "b", "a"]),
        ({"type": "calendar.changed", "event": {"id": "b"}}, ["c", "b", "a"]),
    ],
)
def test_the_list_is_kept_in_the_order_of_the_last_change(event: dict[str, Any], ids: list[str]) -> None:
    after = changed(LIST, event)
    assert after is not None
    assert [thread["id"] for thread in after] == ids


def test_a_thread_that_changed_has_its_new_title() -> None:
    after = changed(LIST, change("thread.updated", row("b", 2, "renamed")))
    assert after is not None
    assert after[1] == row("b", 2, "renamed")


def test_what_a_search_found_does_not_grow_by_changes() -> None:
    assert changed(LIST, change("thread.created", row("d", 4)), only_known=True) == LIST
    assert changed(LIST, change("thread.updated", row("a", 4)), only_known=True) == [row("a", 4), *LIST[:2]]


def test_after_a_gap_the_list_is_read_anew() -> None:
    assert changed(LIST, {"type": "resync"}) is None


def test_the_list_has_a_limit() -> None:
    many = [row(f"t{index}", 1) for index in range(LIST_LIMIT)]
    after = changed(many, change("thread.created", row("new", 2)))
    assert after is not None
    assert (len(after), after[0]["id"], after[-1]["id"]) == (LIST_LIMIT, "new", f"t{LIST_LIMIT - 2}")


def test_a_line_has_a_text_for_everything() -> None:
    assert read_line({"id": "a", "title": None, "updatedAt": "x", "lastLine": None}) == {
        "id": "a",
        "title": "",
        "updatedAt": "x",
    }


def test_what_is_drawn_stays_the_same_while_the_first_thread_goes_on() -> None:
    after = changed(LIST, change("thread.updated", row("c", 9)))
    assert after is not None
    assert after != LIST
    assert drawn(after) == drawn(LIST)
