"""Cursors of pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agui_app.errors import BadCursor
from agui_app.storage.cursors import read_cursor, write_cursor


@given(thread=st.text(), position=st.integers(0, 2**63 - 1))
def test_a_cursor_gives_back_what_it_was_made_of(thread: str, position: int) -> None:
    cursor = write_cursor(thread=thread, position=position)
    assert read_cursor(cursor, thread=str, position=int) == {"thread": thread, "position": position}


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "%%%",
        "é",
        "bm90IGpzb24",
        "W10",
        write_cursor(thread="t"),
        write_cursor(thread="t", position=1, more=2),
        write_cursor(thread=1, position=1),
        write_cursor(thread="t", position="1"),
        write_cursor(thread="t", position=True),
        write_cursor(thread="t", position=-1),
        write_cursor(thread="t", position=2**63),
    ],
)
def test_anything_else_is_a_bad_cursor(cursor: str) -> None:
    with pytest.raises(BadCursor):
        read_cursor(cursor, thread=str, position=int)
