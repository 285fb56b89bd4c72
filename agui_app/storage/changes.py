"""The stream of what changed for an owner: told by whoever commits a change, read, numbered and handed on.

It is kept in memory alone. Who cannot go on where it was is told so (`Resync`) and reads its lists anew.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, assert_never

from agui_app.storage.change import Change, Changed
from agui_app.storage.database import Database
from agui_app.storage.events import Resync
from agui_app.storage.hub import Frame, Hub, Reader, live
from agui_app.storage.patience import patiently
from agui_app.storage.threads import read_lines

KEPT = 1_000  # changes that a reader can resume over: a few hundred bytes each
MAX_TOLD = 1_000  # changes that wait to be read; beyond that every reader reads its lists anew
_TOPIC = "changes"

_log = logging.getLogger(__name__)


class Changes:
    """The changes of every owner in this process, and the task that hands them on."""

    def __init__(self, database: Database, *, first_id: int, reader_limit: int, keepalive_s: float):
        """`first_id`: greater than every id that an earlier process gave, such as the clock's microseconds."""
        self._database = database
        self._hub = Hub(reader_limit)
        self._keepalive_s = keepalive_s
        self._newest = self._floor = first_id
        self._kept: deque[tuple[str, Frame]] = deque()
        self._told: list[tuple[str, Change]] = []
        self._news = asyncio.Event()

    def tell(self, owner_id: str, change: Change) -> None:
        """The change goes to the owner's readers. Call it right after the commit; it neither waits nor fails."""
        if len(self._told) >= MAX_TOLD:
            self._told.clear()
            self._forget()
        self._told.append((owner_id, change))
        self._news.set()

    @contextmanager
    def follow(
        self, owner_id: str, after: int | None
    ) -> Generator[AsyncGenerator[Frame | Resync | None, None], None, None]:
        """The owner's changes after `after`, or from the moment of entering on; None when nothing came for a while.

        It begins with a Resync when there is no going on after `after`. It ends when the reader falls too far behind
        or the server stops.
        """
        with self._hub.reader(owner_id, _TOPIC) as reader:
            if after is None:
                yield self._read(reader, self._newest, ())
            elif self._floor <= after <= self._newest:
                yield self._read(reader, after, [frame for owner, frame in self._kept if owner == owner_id])
            else:
                yield self._read(reader, self._newest, (Resync(self._newest),))

    async def run(self) -> None:
        """Hands changes on until cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            told, self._told = self._told, []
            await self._hand_on(told)

    def close(self) -> None:
        """Every reader ends; new ones end at once."""
        self._hub.close()

    def __len__(self) -> int:
        """The number of readers."""
        return len(self._hub)

    async def _read(
        self, reader: Reader, position: int, first: Iterable[Frame | Resync]
    ) -> AsyncGenerator[Frame | Resync | None, None]:
        for one in first:
            if isinstance(one, Resync) or one.id > position:
                position = one.id
                yield one
        async with aclosing(live(reader, position, self._keepalive_s)) as frames:
            async for frame in frames:
                yield frame

    async def _hand_on(self, told: Sequence[tuple[str, Change]]) -> None:
        lines = await patiently(lambda: self._lines(told), "what changed")
        for owner_id, change in told:
            event = _event(change, lines[owner_id].get(change.id))
            if event is not None:
                self._publish(owner_id, json.dumps(event, ensure_ascii=False, separators=(",", ":")))

    async def _lines(self, told: Sequence[tuple[str, Change]]) -> dict[str, dict[str, dict[str, Any]]]:
        """Owner -> thread -> its line now. It is read after the commits, so the last that is told is how things are."""
        lines: dict[str, dict[str, dict[str, Any]]] = {owner_id: {} for owner_id, _ in told}
        for owner_id in lines:
            ids = {change.id for owner, change in told if owner == owner_id and change.what in _WITH_LINE}
            if ids:
                async with self._database.read() as session:
                    lines[owner_id] = await read_lines(session, owner_id, ids)
        return lines

    def _publish(self, owner_id: str, data: str) -> None:
        self._newest += 1
        frame = Frame(self._newest, None, data)
        self._kept.append((owner_id, frame))
        if len(self._kept) > KEPT:
            _, lost = self._kept.popleft()
            self._floor = lost.id
        self._hub.publish(owner_id, _TOPIC, [frame])

    def _forget(self) -> None:
        """Nobody can go on from here: every reader has to come again and is told so."""
        _log.warning("more than %d changes wait; every reader reads its lists anew", MAX_TOLD)
        self._kept.clear()
        self._newest += 1
        self._floor = self._newest
        self._hub.cut_off()


_WITH_LINE = frozenset({Changed.THREAD_CREATED, Changed.THREAD_UPDATED})


def _event(change: Change, line: dict[str, Any] | None) -> dict[str, Any] | None:
    """The event on the wire; None for a thread that is gone, since its deletion follows."""
    match change.what:
        case Changed.THREAD_CREATED | Changed.THREAD_UPDATED:
            return None if line is None else {"type": change.what, "thread": line}
        case Changed.THREAD_DELETED:
            return {"type": change.what, "thread": {"id": change.id}}
        case Changed.CALENDAR_CHANGED | Changed.CALENDAR_DELETED:
            return {"type": change.what, "event": {"id": change.id}}
        case _:
            assert_never(change.what)
