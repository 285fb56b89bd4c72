"""The blocks of a growing text."""

from hypothesis import given
from hypothesis import strategies as st

from agui_app.state.live_text import BLOCKS, EMPTY, LARGE_BLOCKS, SMALL_CHARS, grow


def sent(chunks: list[str]) -> tuple[int, str]:
    """Characters that the pushes carry, and the text that is shown at the end."""
    blocks, text, total = EMPTY, "", 0
    for chunk in chunks:
        text += chunk
        grown = grow(blocks, text)
        total += sum(len(new) for old, new in zip(blocks, grown, strict=True) if old != new)
        blocks = grown
    return total, "".join(blocks)


@given(st.lists(st.text(max_size=400), max_size=120))
def test_the_blocks_joined_are_the_text(chunks: list[str]) -> None:
    assert sent(chunks)[1] == "".join(chunks)


def test_a_text_that_comes_at_once_is_sent_once() -> None:
    assert sent(["x" * 18_000]) == (18_000, "x" * 18_000)


def test_a_text_in_large_pieces_is_sent_once() -> None:
    assert sent(["x" * 3_000] * 6) == (18_000, "x" * 18_000)


def test_what_a_push_carries_does_not_depend_on_the_length_of_the_text() -> None:
    short, long = sent(["x" * 13] * 200)[0] / 200, sent(["x" * 13] * 2_000)[0] / 2_000
    assert long < short * 1.3 < SMALL_CHARS


def test_a_text_that_is_another_one_starts_anew() -> None:
    assert grow(grow(EMPTY, "abc"), "xyz") == grow(EMPTY, "xyz")


def test_a_text_that_did_not_grow_changes_nothing() -> None:
    blocks = grow(EMPTY, "abc")
    assert grow(blocks, "abc") is blocks


def test_small_blocks_are_merged_when_they_are_full() -> None:
    blocks, text = EMPTY, ""
    for _ in range(BLOCKS - LARGE_BLOCKS + 1):
        text += "x" * SMALL_CHARS
        blocks = grow(blocks, text)
    assert [len(block) for block in blocks if block] == [SMALL_CHARS * (BLOCKS - LARGE_BLOCKS), SMALL_CHARS]
