"""Hands committed frames to the readers in this process. It never waits for one of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """One logged event."""

    id: int
    """Strictly increasing in its thread; decimal text on the wire, opaque to clients."""
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


class Hub:
    """The readers of every thread."""

    def __init__(self, limit: int):
        self._limit = limit
        self._readers: dict[tuple[str, str], set[Reader]] = {}
        self._closed = False

    @contextmanager
    def reader(self, owner_id: str, thread_id: str) -> Generator[Reader, None, None]:
        """A reader that gets every frame published from now on."""
        key = (owner_id, thread_id)
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

    def publish(self, owner_id: str, thread_id: str, frames: Sequence[Frame]) -> None:
        """Call it after the commit, in the order of the ids."""
        for reader in self._readers.get((owner_id, thread_id), ()):
            if not reader.closed:
                reader.give(frames)

    def cut_off(self, owner_id: str, thread_id: str) -> None:
        """The readers of a thread end, after what they were given: more has been committed than was published."""
        for reader in self._readers.get((owner_id, thread_id), ()):
            reader.close()

    def close(self) -> None:
        """Every reader ends, after what it was given; new ones end at once."""
        self._closed = True
        for readers in self._readers.values():
            for reader in readers:
                reader.close()

    def __len__(self) -> int:
        """The number of readers."""
        return sum(len(readers) for readers in self._readers.values())
