"""Very many readers of one run, some of which take nothing: the run and the others do not notice."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message

from agui_app.api.app import create_api
from agui_app.services import Overrides, open_services
from agui_app.settings import Settings
from tests.faults.agents import FaultAgent
from tests.faults.conftest import Report
from tests.faults.scale import choose
from tests.faults.truth import API
from tests.runs.house import House, body, user

READERS, SLOW = choose(short=(60, 10), soak=(500, 50))
MESSAGES = 900  # three frames each: more than a reader may be behind
WITHIN_S = 600  # a bound on hangs

OPENED_AT_ONCE = 50  # a crowd that comes at the same moment would measure the database
BACK_OFF_S = 0.2

COMMENT = re.compile(rb"^: .*\n\n", re.MULTILINE)
NEWEST_ID = re.compile(rb".*^id: (\d+)$", re.MULTILINE | re.DOTALL)
LAST = re.compile(rb'^data: .*"type":"RUN_FINISHED"', re.MULTILINE)


@dataclass
class Reader:
    """Follows a thread over ASGI to the end of its next run; resumes when the server ends the connection."""

    api: ASGIApp
    thread: str
    after: str
    takes: asyncio.Event = field(default_factory=asyncio.Event)
    """Until it is set, the reader takes nothing after the sign that the stream is open."""
    body: bytearray = field(default_factory=bytearray)
    connections: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> None:
        """Back when the run has ended, as far as this reader knows."""
        while not self.over.is_set():
            self.connections += 1
            if await self._connection() != 200:
                await asyncio.sleep(BACK_OFF_S)

    async def _connection(self) -> int:
        status = 0
        asked = opened = False

        async def receive() -> Message:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await self.over.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            nonlocal status, opened
            if message["type"] == "http.response.start":
                status = message["status"]
                return
            if opened:
                await self.takes.wait()
            opened = True
            if status == 200:
                self.body += message.get("body", b"")
                if LAST.search(message.get("body", b"")):
                    self.over.set()

        await self.api(self._scope(), receive, send)
        return status

    def _scope(self) -> dict[str, Any]:
        found = NEWEST_ID.match(self.body)
        headers = [(b"host", b"localhost"), (b"last-event-id", found.group(1) if found else self.after.encode())]
        path = f"{API}/runs/{self.thread}/events"
        asked = {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers}
        where = {"scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 0), "state": {}}
        return {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", **where, **asked}

    @property
    def frames(self) -> bytes:
        """What it read, without comments."""
        return COMMENT.sub(b"", self.body)


@dataclass(frozen=True)
class Reading:
    """What came of a run with its readers."""

    run_s: float
    frames: int
    connections: int
    slow_connections: int


async def _read_by(house: House, api: ASGIApp, thread: str, *, fast: int, slow: int) -> Reading:
    await house.play(body(user("talk 1", "u0"), thread=thread, run=f"{thread}.before"))
    after = (await house.page(thread))["lastEventId"]
    quick = [Reader(api, thread, after) for _ in range(fast)]
    stuck = [Reader(api, thread, after) for _ in range(slow)]
    for reader in quick:
        reader.takes.set()
    async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as tasks:
        done: list[asyncio.Task[None]] = []
        for number, reader in enumerate((*quick, *stuck), 1):
            done.append(tasks.create_task(reader.read()))
            if number % OPENED_AT_ONCE == 0 or number == fast + slow:
                while len(house.services.events._hub) < number:
                    await asyncio.sleep(0.01)
        await house.start(body(user(f"many {MESSAGES}", "u1"), thread=thread, run=f"{thread}.run"))
        await asyncio.wait(done[:fast])
        log = await house.frames(thread, f"{thread}.run")
        assert log[-1].last, "the run is not over"
        assert [reader.frames for reader in stuck] == [b""] * slow, "the run is over, and they have taken nothing"
        for reader in stuck:
            reader.takes.set()
    whole = "".join(f"id: {frame.id}\ndata: {frame.data}\n\n" for frame in log).encode()
    assert [reader.frames == whole for reader in (*quick, *stuck)] == [True] * (fast + slow)
    return Reading(
        await _duration_s(house, f"{thread}.run"),
        len(log),
        sum(reader.connections for reader in quick),
        sum(reader.connections for reader in stuck),
    )


async def _duration_s(house: House, run: str) -> float:
    [row] = [row for row in await house.runs() if row["id"] == run]
    return (row["finished_at"] - row["started_at"]).total_seconds()


async def test_readers_that_take_nothing_are_cut_off_and_every_reader_gets_every_frame(
    settings: Settings, report: Report
) -> None:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(open_services(settings, Overrides(agent=FaultAgent())))
        house, api = House(services, None), create_api(lambda: services, settings)
        alone = await _read_by(house, api, "r0", fast=1, slow=0)
        without = await _read_by(house, api, "r1", fast=READERS - SLOW, slow=0)
        with_slow = await _read_by(house, api, "r2", fast=READERS - SLOW, slow=SLOW)
        assert len(services.events._hub) == 0
    assert with_slow.slow_connections == 2 * SLOW, "each is cut off once, and resumes"
    report(
        f"readers: a run of {with_slow.frames} events took {alone.run_s:.1f} s with one reader, {without.run_s:.1f} s "
        f"with {READERS - SLOW}, {with_slow.run_s:.1f} s with {SLOW} more that took nothing and were cut off; "
        f"all {READERS} read every frame once, the quick ones over {with_slow.connections} connections"
    )
