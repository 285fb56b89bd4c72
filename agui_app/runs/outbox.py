"""Gathers a run's events for one flush window, so that a stream of tokens becomes a stream of frames."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agui_app.conversation.model import Message
from agui_app.protocol.events import Event
from agui_app.runs.batch import Effect

MAX_WAITING = 500  # events that an agent may be ahead of the database
HEARTBEAT_S = 5.0  # seconds of silence after which the recorder is asked whether a heartbeat is due


@dataclass(frozen=True, slots=True)
class Entry:
    """An event, and what it does to the database besides the rows of its run."""

    event: Event
    effect: Effect | None = None
    revised: tuple[Message, ...] = ()
    """Messages of earlier runs that it changes."""


Flush = Callable[[Sequence[Entry]], Awaitable[None]]
"""Commits entries; with none it is a sign of life. What it raises belongs to whoever drains the outbox."""


class Outbox:
    """Flushes at once when the last flush is longer ago than the window, else at the window's end."""

    def __init__(self, flush: Flush, interval_s: float):
        self._flush = flush
        self._interval_s = interval_s
        self._entries: list[Entry] = []
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self._failure: Exception | None = None
        self._closed = False

    def add(self, entry: Entry) -> None:
        """The entry goes with the next flush."""
        self._entries.append(entry)
        self._settled.clear()
        self._news.set()

    @property
    def is_full(self) -> bool:
        """An agent is so far ahead of the database that it has to wait."""
        return len(self._entries) >= MAX_WAITING

    async def drain(self) -> None:
        """Back when everything is flushed. Raises what the last flush raised, once."""
        self._hurry.set()
        await self._settled.wait()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """`run` ends after the flush that is under way."""
        self._closed = True
        self._news.set()
        self._hurry.set()

    async def run(self) -> None:
        """Flushes until closed."""
        loop = asyncio.get_running_loop()
        flushed_at = loop.time() - self._interval_s
        while not self._closed:
            await _within(self._news, HEARTBEAT_S)
            if self._entries:
                await _within(self._hurry, flushed_at + self._interval_s - loop.time())
            flushed_at = loop.time()
            await self._flush_all()

    async def _flush_all(self) -> None:
        entries, self._entries = self._entries, []
        self._news.clear()
        self._hurry.clear()
        if self._failure is None:  # after a failure nothing is written, so that the log has no hole
            try:
                await self._flush(entries)
            except Exception as error:  # drain hands it on
                self._failure = error
        if not self._entries:
            self._settled.set()


async def _within(event: asyncio.Event, seconds: float) -> None:
    """Back when the event is set, or time is up."""
    if seconds <= 0 or event.is_set():
        return
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
