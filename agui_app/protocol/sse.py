"""Server-sent events as bytes, both ways (WHATWG HTML, section 9.2)."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class SseFrame:
    """One event of a stream."""

    id: str | None
    """The position after this event: the newest `id` of the stream so far; None before the first."""
    data: str
    event: str | None = None


SseEvent = SseFrame


def encode_frame(id: int | str, data: str) -> bytes:
    """One event; `data` is one line."""
    return f"id: {id}\ndata: {data}\n\n".encode()


def encode_comment(text: str = "") -> bytes:
    """A line that readers skip: it shows that the stream is alive."""
    return f": {text}\n\n".encode()


class SseDecoder:
    """Reads a stream from its bytes, however they are cut.

    Lines end with LF, CR or CRLF and nothing else. An event that the end of the stream cuts off is lost.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        self._at_start = True
        self._after_cr = False
        self._data: list[str] = []
        self._event: str | None = None

    def feed(self, chunk: bytes) -> list[SseFrame]:
        """The events that `chunk` completes."""
        return [frame for line in self._lines(self._decoded(chunk)) if (frame := self._take(line))]

    def _decoded(self, chunk: bytes) -> str:
        text = self._text.decode(chunk)
        if self._at_start and text:
            self._at_start = False
            text = text.removeprefix(_BOM)
        return text

    def _lines(self, text: str) -> Iterator[str]:
        """The lines that `text` ends; a CR ends its line at once, and an LF that follows it is a part of it."""
        if self._after_cr and text:
            self._after_cr = False
            text = text.removeprefix("\n")
        self._after_cr = text.endswith("\r") or self._after_cr
        *ended, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for piece in ended:
            self._line.append(piece)
            yield "".join(self._line)
            self._line.clear()
        self._line.append(rest)

    def _take(self, line: str) -> SseFrame | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                self._data.append(value)
            case "event":
                self._event = value
            case "id" if "\0" not in value:
                self.last_id = value
            case _:
                pass
        return None

    def _dispatch(self) -> SseFrame | None:
        data, event = self._data, self._event
        self._data, self._event = [], None
        return SseFrame(self.last_id, "\n".join(data), event or None) if data else None
