"""`kill -9` at random moments: what was acknowledged and what was shown is there after it, once."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.faults.conftest import Report
from tests.faults.ledger import Ledger
from tests.faults.scale import choose, rng
from tests.faults.server import POLL_S, SETTLE_WITHIN_S, Lives
from tests.faults.truth import Shown, assert_history_is_the_fold, breaches, log_of, page, runs_of, transcript

HOUSES = 2  # servers that die side by side, each with its own data
KILLS = choose(short=4, soak=60)  # of each of them
DELAY_S = 0.4  # at most, from the first request of a life to its end
STARTS_KILLED = 0.3  # of the lives are ended before they are ready, too
THREADS = 3
LIVES_OF_A_THREAD = 4  # then new ones begin

Obj = dict[str, Any]


@dataclass
class Figures:
    """What one house came to."""

    kills: int = 0
    starts_killed: int = 0
    runs: int = 0
    interrupted: int = 0
    frames: int = 0
    shown: int = 0
    bookings: int = 0
    started_in_s: list[float] = field(default_factory=list)


async def test_kills_lose_nothing_that_was_acknowledged_or_shown_double_nothing_and_leave_no_run_open(
    lives: Callable[..., Lives], report: Report
) -> None:
    houses = [lives(f"house{number}") for number in range(HOUSES)]
    found = await asyncio.gather(*(_one_house(house, rng(house.folder.name)) for house in houses))
    total = Figures(**{name: sum((getattr(one, name) for one in found), type(value)()) for name, value in _fields()})
    assert total.kills == HOUSES * KILLS
    assert total.interrupted > 0, "no kill hit a run: the test proves nothing"
    report(
        f"kill -9: {total.kills} while runs streamed, {total.starts_killed} more while a server started; "
        f"{total.runs} runs acknowledged, {total.interrupted} interrupted, {total.frames} events logged, "
        f"{total.shown} frames shown to readers, {total.bookings} calendar events; lost 0, doubled 0, open 0; "
        f"a start with recovery took {min(total.started_in_s):.1f} to {max(total.started_in_s):.1f} s"
    )


def _fields() -> list[tuple[str, Any]]:
    return list(vars(Figures()).items())


async def _one_house(house: Lives, rng: random.Random) -> Figures:
    figures = Figures()
    await house.start()
    timeout = httpx.Timeout(SETTLE_WITHIN_S)
    async with httpx.AsyncClient(
        base_url=house.url, timeout=timeout, limits=httpx.Limits(max_connections=None)
    ) as http:
        while figures.kills < KILLS:
            epoch = [Ledger(f"k{figures.kills}.t{number}", http) for number in range(THREADS)]
            async with _at_work(epoch, house.url, rng):
                for _ in range(min(LIVES_OF_A_THREAD, KILLS - figures.kills)):
                    await _live_and_die(house, epoch, figures, rng)
                    for ledger in epoch:
                        await _assert_whole(http, ledger)
            await _count(http, house, epoch, figures)
    return figures


@asynccontextmanager
async def _at_work(epoch: Sequence[Ledger], url: str, rng: random.Random) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(work)
            for ledger in epoch
            for work in (ledger.drive(random.Random(rng.random())), ledger.read(), ledger.follow(url))
        ]
        yield
        for task in tasks:
            task.cancel()


async def _live_and_die(house: Lives, epoch: Sequence[Ledger], figures: Figures, rng: random.Random) -> None:
    """Requests and runs for a moment, the kill, and the next start, perhaps killed as well."""
    for ledger in epoch:
        ledger.posted.clear()
        ledger.may_post.set()
    async with asyncio.timeout(SETTLE_WITHIN_S):
        await rng.choice(epoch).posted.wait()
        if rng.random() < 0.7:  # else the kill meets the first request
            before = sum(len(ledger.shown) for ledger in epoch)
            while sum(len(ledger.shown) for ledger in epoch) == before:
                await asyncio.sleep(POLL_S)
    await asyncio.sleep(rng.uniform(0, DELAY_S))
    for ledger in epoch:
        ledger.may_post.clear()
    await house.kill()
    figures.kills += 1
    if rng.random() < STARTS_KILLED:
        house.spawn()
        usual = figures.started_in_s[-1] if figures.started_in_s else 4.0
        await asyncio.sleep(rng.uniform(0.6, 1.0) * usual)  # before that it only imports
        await house.kill()
        figures.starts_killed += 1
    began = time.monotonic()
    await house.start()
    figures.started_in_s.append(time.monotonic() - began)


async def _assert_whole(http: httpx.AsyncClient, ledger: Ledger) -> None:
    """The thread, right after the start: no run is open, and everything that anybody was told is there once."""
    if (await http.get(f"/api/v1/agent/runs/{ledger.thread}/history")).status_code == 404:
        assert (ledger.acknowledged, ledger.shown) == ([], []), "the thread is gone"
        return
    newest = await page(http, ledger.thread)
    assert (newest["activeRunId"], [run for run in newest["runs"] if run["status"] == "running"]) == (None, [])
    log = await log_of(http, ledger.thread)
    assert [found for run in runs_of(log) if (found := breaches(run))] == []
    assert [
        run[-1] for run in runs_of(log) if run[-1]["type"] == "RUN_ERROR" and run[-1]["code"] != "interrupted"
    ] == []
    history = await transcript(http, ledger.thread)
    assert_history_is_the_fold(history, log)
    said = {message.id: message.text for message in history.messages}
    kept = [(one.run_id, one.text) for one in ledger.acknowledged]
    runs = {run.run_id for run in history.runs}
    assert kept == [(one.run_id, said.get(one.message_id)) for one in ledger.acknowledged if one.run_id in runs]
    assert not any(message.tool.payload_missing for message in history.messages if message.tool)
    await _readers_have(ledger, log)


async def _readers_have(ledger: Ledger, log: Sequence[Shown]) -> None:
    """Each reader has seen the log, every frame once, with the id and the bytes that it has there."""
    async with asyncio.timeout(SETTLE_WITHIN_S):
        while len(ledger.shown) < len(log) or len(ledger.followed) < len(log):
            await asyncio.sleep(POLL_S)
    assert ledger.shown == list(log)
    assert [(event.id, event.event) for event in ledger.followed] == [(frame.id, frame.event) for frame in log]


async def _count(http: httpx.AsyncClient, house: Lives, epoch: Sequence[Ledger], figures: Figures) -> None:
    for ledger in epoch:
        log = await log_of(http, ledger.thread) if ledger.acknowledged else []
        runs = runs_of(log)
        figures.runs += len(ledger.acknowledged)
        figures.interrupted += sum(run[-1].get("code") == "interrupted" for run in runs)
        figures.frames += len(log)
        figures.shown += len(ledger.shown) + len(ledger.followed)
        booked = Counter(_booked(event) for run in runs for event in run if _booked(event))
        assert _calendar(house, ledger.thread) == booked, "an event without its report, or a report without its event"
        figures.bookings += booked.total()


def _booked(event: Obj) -> str:
    """The calendar event that a result tells of."""
    if event["type"] != "TOOL_CALL_RESULT" or event.get("toolName") != "create_calendar_event" or event.get("error"):
        return ""
    return event["result"]["eventId"]


def _calendar(house: Lives, thread: str) -> Counter[str]:
    with closing(sqlite3.connect(f"file:{house.data_dir / 'agui.db'}?mode=ro", uri=True)) as database:
        title = f"Event of {thread}.%"
        return Counter(id for (id,) in database.execute("SELECT id FROM calendar_events WHERE title LIKE ?", (title,)))
