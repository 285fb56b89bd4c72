from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agui_app.protocol.sse import SseDecoder, SseFrame, encode_comment, encode_frame


def decoded(*chunks: bytes) -> list[SseFrame]:
    decoder = SseDecoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)]


def data(*chunks: bytes) -> list[str]:
    return [frame.data for frame in decoded(*chunks)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_ends_a_frame_when_its_blank_line_comes(line_end: bytes):
    decoder = SseDecoder()
    made = [[frame.data for frame in decoder.feed(b"data: %d" % n + line_end * 2)] for n in range(5)]
    assert made == [[str(n)] for n in range(5)]


def test_a_line_end_cut_in_two_is_one():
    assert data(b"data: A\r\ndata: B\r", b"\ndata: C\r\n\r\n") == ["A\nB\nC"]


def test_an_empty_read_between_the_halves_of_a_line_end_changes_nothing():
    assert data(b"data: A\r", b"", b"\n\r", b"\n") == ["A"]


def test_the_byte_order_mark_is_dropped_once():
    assert data(b"\xef\xbb", b"\xbfdata: A\n\n\xef\xbb\xbfdata: B\n\n") == ["A"]


@pytest.mark.parametrize("text", ["a\u2028b", "a\x85b", "a\x0bb", "a\x0cb", "a\x1cb"])
def test_other_line_separators_are_text(text: str):
    assert data(f"data: {text}\n\n".encode()) == [text]


def test_characters_survive_one_byte_at_a_time():
    stream = "data: 你好🌍\n\n".encode()
    assert data(*(stream[n : n + 1] for n in range(len(stream)))) == ["你好🌍"]


def test_broken_bytes_become_replacement_characters():
    assert data(b"data: a\xffb\n\n") == ["a\ufffdb"]


def test_fields_are_read_and_unknown_ones_left_alone():
    stream = b": hi\nid: 7\nretry: 5\nevent: x\ndata:one\ndata: two\nodd\nid: 8\x00\n\n"
    assert decoded(stream) == [SseFrame("7", "one\ntwo", "x")]


def test_an_id_stays_until_another_comes():
    assert decoded(b"id: 1\ndata: a\n\nevent: x\n\ndata\n\n") == [SseFrame("1", "a"), SseFrame("1", "")]


def test_a_frame_without_its_blank_line_is_lost():
    assert decoded(b"data: a\n\ndata: b\n") == [SseFrame(None, "a")]


def test_frames_are_written_with_line_feeds_and_no_event():
    assert encode_frame(7, '{"a":"你"}') == 'id: 7\ndata: {"a":"你"}\n\n'.encode()
    assert encode_comment("keep-alive") == b": keep-alive\n\n"


FRAMES = st.lists(
    st.tuples(st.integers(0), st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])))
)


@given(FRAMES, st.sampled_from(["\n", "\r", "\r\n"]), st.lists(st.integers(0, 200), max_size=8))
def test_any_split_of_the_bytes_reads_alike(frames: list[tuple[int, str]], line_end: str, cuts: list[int]):
    stream = b"".join(encode_frame(id, text) for id, text in frames).replace(b"\n", line_end.encode())
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunks = [stream[start:end] for start, end in pairwise(places)]
    assert decoded(*chunks) == [SseFrame(str(id), text) for id, text in frames]
