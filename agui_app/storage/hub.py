"""Hands committed frames to the readers in this process. It never waits for one of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream."""

    id: int
    """Strictly increasing in its stream; decimal text on the wire, opaque to clients."""
    run_id: str | None
    data: str
    """One-line JSON of the event."""
    last: bool = False
    """It is the terminal event of its run."""


class Reader:
    """The frames that one reader has not taken yet."""

    def __init__(self, limit: int):
        self._limit = limit
        self._frames: deque[Frame] = deque()
        self._news = asyncio.Event()
        self.closed = False
        """No frame comes any more: cut off for being slow, or the server stops."""

    def give(self, frames: Sequence[Frame]) -> bool:
        """Whether the reader keeps up; one that does not is closed and loses what it had."""
        if len(self._frames) + len(frames) > self._limit:
            self._frames.clear()
            self.close()
            return False
        self._frames.extend(frames)
        self._news.set()
        return True

    def close(self) -> None:
        self.closed = True
        self._news.set()

    async def take(self, timeout_s: float) -> list[Frame]:
        """What came since; empty after `timeout_s` of nothing, or at once when closed."""
        if not self._frames and not self.closed:
            try:
                async with asyncio.timeout(timeout_s):
                    await self._news.wait()
            except TimeoutError:
                return []
        frames = list(self._frames)
        self._frames.clear()
        if not self.closed:
            self._news.clear()
        return frames


async def live(reader: Reader, position: int, keepalive_s: float) -> AsyncGenerator[Frame | None, None]:
    """What the reader is given beyond `position`; None when nothing came for `keepalive_s`. It ends with the reader."""
    while True:
        ended = reader.closed  # before the taking: what it was given comes first
        frames = await reader.take(keepalive_s)
        for frame in frames:
            if frame.id > position:  # what the reader already has from elsewhere
                position = frame.id
                yield frame
        if ended:
            return
        if not frames and not reader.closed:
            yield None


class Hub:
    """The readers of every topic: of each thread, or of an owner's changes."""

    def __init__(self, limit: int):
        self._limit = limit
        self._readers: dict[tuple[str, str], set[Reader]] = {}
        self._closed = False

    @contextmanager
    def reader(self, owner_id: str, topic: str) -> Generator[Reader, None, None]:
        """A reader that gets every frame published from now on."""
        key = (owner_id, topic)
        reader = Reader(self._limit)
        if self._closed:
            reader.close()
        self._readers.setdefault(key, set()).add(reader)
        try:
            yield reader
        finally:
            readers = self._readers.get(key, set())
            readers.discard(reader)
            if not readers:
                self._readers.pop(key, None)

    def publish(self, owner_id: str, topic: str, frames: Sequence[Frame]) -> None:
        """Call it after the commit, in the order of the ids."""
        for reader in self._readers.get((owner_id, topic), ()):
            if not reader.closed:
                reader.give(frames)

    def end(self, owner_id: str, topic: str) -> None:
        """The readers of a topic that is no more end, after what they were given."""
        for reader in self._readers.get((owner_id, topic), ()):
            reader.close()

    def cut_off(self) -> None:
        """Every reader ends, after what it was given; it may come again."""
        for readers in self._readers.values():
            for reader in readers:
                reader.close()

    def close(self) -> None:
        """Every reader ends, after what it was given; new ones end at once."""
        self._closed = True
        self.cut_off()

    def __len__(self) -> int:
        """The number of readers."""
        return sum(len(readers) for readers in self._readers.values())
