"""Runs whose worker died, or is taken for dead: several servers over one database."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from agui_app.agents.base import AgentInput
from agui_app.errors import StoreUnavailable
from agui_app.runs import outbox, pipeline, recover, writer
from agui_app.runs.parts import Parts
from agui_app.runs.recover import DEAD_AFTER, recover_runs
from agui_app.settings import Settings
from agui_app.storage import database as database_module
from agui_app.storage.database import Database
from agui_app.storage.events import Frame
from agui_app.storage.migrate import migrate
from agui_app.storage.tables import RUNS
from tests.runs.house import Clock, House, Obj, Open, Scripted, Waits, body, text, user

DEAD_S = DEAD_AFTER.total_seconds()


class Talker:
    """An agent that says half a word, and the rest when it is told to."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.stopped = False

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        start, half, rest, end = text("ha", "lf")
        try:
            for event in (start, half):
                yield event
            await self.go_on.wait()
            for event in (rest, end):
                yield event
            await asyncio.Event().wait()
        finally:
            self.stopped = True


@pytest.fixture
async def shared(settings: Settings) -> str:
    """The URL of a database that several workers use."""
    settings.data_dir.mkdir()
    url = f"sqlite+aiosqlite:///{settings.data_dir / 'shared.db'}"
    await migrate(url)
    return url


@pytest.fixture
def quick_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recover, "SWEEP_INTERVAL_S", 0.01)


async def started(house: House, until: Waits) -> None:
    """A run whose agent has said half a word."""
    await house.start(body(user()))
    await until(lambda: said(house, "TEXT_MESSAGE_CONTENT"))


async def said(house: House, type: str) -> bool:
    return any(event["type"] == type for event in await house.log())


async def follow(house: House, seen: list[str]) -> None:
    """Reads the thread to the end of the stream."""
    async for frame in house.services.events.follow("local", "t", after=0):
        if isinstance(frame, Frame):
            seen.append(json.loads(frame.data)["type"])


async def is_over(house: House) -> bool:
    return (await house.page())["activeRunId"] is None


def parts_of(house: House) -> Parts:
    return house.services.runs._parts


ENDED = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_ERROR"]


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_run_whose_heartbeat_is_30_s_old_is_ended_by_another_worker(
    open_house: Open, shared: str, clock: Clock, until: Waits
) -> None:
    async with open_house(Talker(), database_url=shared) as dead:
        await started(dead, until)
        async with open_house(database_url=shared) as other:
            clock.advance(DEAD_S)
            await until(lambda: is_over(other))
            log = await other.log()
            assert [event["type"] for event in log] == ENDED
            assert (log[-1]["code"], log[-1]["message"]) == ("interrupted", "The server was stopped")
            assert [(one["content"], one["status"]) for one in (await other.page())["messages"]] == [
                ("hello", "complete"),
                ("ha", "interrupted"),
            ]
            assert await other.play(body(user("next", "u2"), run="r2"))


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_worker_that_comes_back_to_life_writes_nothing_into_a_run_that_was_ended(
    open_house: Open, shared: str, clock: Clock, until: Waits
) -> None:
    agent = Talker()
    async with open_house(agent, database_url=shared) as frozen:
        await started(frozen, until)
        seen: list[str] = []
        reading = asyncio.ensure_future(follow(frozen, seen))
        await until(lambda: len(seen) == 3)
        async with open_house(database_url=shared) as other:
            clock.advance(DEAD_S)
            await until(lambda: is_over(other))
            rows = await other.messages()
            agent.go_on.set()
            await until(lambda: agent.stopped)
            async with asyncio.timeout(10):
                await reading
            assert seen == ENDED[:3]  # cut off; who comes again reads what the other worker wrote
            assert [event["type"] for event in await frozen.events()] == ENDED
            assert [event["type"] for event in await other.log()] == ENDED
            assert await other.messages() == rows
            await until(lambda: not frozen.services.runs.carried())
        assert await frozen.services.runs.cancel("local", "t", None) == {"status": "idle"}


async def test_a_worker_that_was_taken_over_stops_its_agent_though_it_is_silent(
    open_house: Open, shared: str, clock: Clock, until: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Talker()
    async with open_house(agent, database_url=shared) as frozen:
        await started(frozen, until)
        async with open_house(database_url=shared) as other:
            clock.advance(DEAD_S)
            assert await recover_runs(parts_of(other), dead_after=DEAD_AFTER) == 1
            # The next sign of life is refused. It would come within HEARTBEAT_S; a flush stands for it here.
            monkeypatch.setattr(outbox, "HEARTBEAT_S", 0.005)
            agent.go_on.set()
            await until(lambda: agent.stopped)
            assert [event["type"] for event in await other.log()] == ENDED


async def test_between_taking_over_and_ending_nothing_of_the_old_worker_is_stored(
    open_house: Open, shared: str, clock: Clock, until: Waits
) -> None:
    agent = Talker()
    async with open_house(agent, database_url=shared) as frozen:
        await started(frozen, until)
        async with frozen.services.database.write() as session:  # what a worker does first that takes a run over
            await session.execute(update(RUNS).values(heartbeat_at=clock.now.replace(year=2027)))
        rows = await frozen.messages()
        agent.go_on.set()
        await until(lambda: agent.stopped)
        await until(lambda: not frozen.services.runs.carried())
        assert [event["type"] for event in await frozen.log()] == ENDED[:3]
        assert await frozen.messages() == rows


async def test_two_workers_that_find_a_dead_run_at_once_end_it_once(
    open_house: Open, shared: str, clock: Clock, until: Waits
) -> None:
    async with open_house(Talker(), database_url=shared) as dead:
        await started(dead, until)
        clock.advance(DEAD_S)
        # The two look at the same moment, before either of them writes.
        ended = await asyncio.gather(*(recover_runs(parts_of(dead), dead_after=DEAD_AFTER) for _ in range(4)))
        assert sorted(ended) == [0, 0, 0, 1]
        assert [event["type"] for event in await dead.log()] == ENDED


async def test_a_worker_that_starts_leaves_the_living_runs_of_others_alone(
    open_house: Open, shared: str, clock: Clock, until: Waits
) -> None:
    agent = Talker()
    async with open_house(agent, database_url=shared) as living:
        await started(living, until)
        clock.advance(DEAD_S - 1)
        async with open_house(database_url=shared):
            pass
        agent.go_on.set()
        await until(lambda: said(living, "TEXT_MESSAGE_END"))
        assert (await living.page())["activeRunId"] == "r"
        clock.advance(DEAD_S + 1)


async def test_a_dead_run_is_ended_at_the_start_of_a_worker(
    open_house: Open, shared: str, clock: Clock, until: Waits
) -> None:
    async with open_house(Talker(), database_url=shared) as dead:
        await started(dead, until)
        clock.advance(DEAD_S)
        async with open_house(database_url=shared) as other:
            assert [run["status"] for run in await other.runs()] == ["interrupted"]


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_run_of_its_own_is_not_ended_by_a_worker_however_old_its_heartbeat(
    open_house: Open, clock: Clock, until: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    look = recover.recover_runs

    async def counted(*args: Any, **named: Any) -> int:
        looks.append(await look(*args, **named))
        return looks[-1]

    monkeypatch.setattr(recover, "recover_runs", counted)
    async with open_house(Talker()) as house:
        await started(house, until)
        clock.advance(DEAD_S * 10)
        begun = len(looks)
        await until(lambda: len(looks) > begun + 2)
        assert (await house.page())["activeRunId"] == "r"
        assert set(looks) == {0}


async def test_a_heartbeat_is_written_every_10_s_while_the_agent_is_silent(
    open_house: Open, clock: Clock, until: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "HEARTBEAT_S", 0.005)
    assert outbox.HEARTBEAT_S < 10 < DEAD_S / 2
    async with open_house(Talker()) as house:
        await started(house, until)
        for _ in range(5):
            clock.advance(10)

            async def beaten() -> bool:
                return (await house.runs())[0]["heartbeat_at"] == clock.now

            await until(beaten)


@pytest.mark.usefixtures("quick_sweeps")
async def test_after_an_outage_the_workers_get_time_for_a_sign_of_life(
    open_house: Open, shared: str, clock: Clock, until: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database was away for everybody: an old heartbeat says nothing in the first look after that."""
    looks: list[str] = []
    look, check = recover.recover_runs, Database.check

    async def looked(*args: Any, **named: Any) -> int:
        looks.append("look")
        if looks == ["look"]:
            raise StoreUnavailable("away")
        return await look(*args, **named)

    async def checked(self: Database) -> None:
        looks.append("check")
        if looks == ["look", "check"]:
            raise StoreUnavailable("still away")
        await check(self)

    async with open_house(database_url=shared):
        monkeypatch.setattr(recover, "recover_runs", looked)
        monkeypatch.setattr(Database, "check", checked)
        await until(lambda: len(looks) > 4)
    assert looks[:5] == ["look", "check", "check", "look", "look"]


async def test_a_run_that_begins_while_the_database_is_away_waits_for_it(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier, fails = pipeline.earlier_messages, [True] * 3

    async def away(*args: Any) -> Any:
        if fails:
            fails.pop()
            raise StoreUnavailable("away")
        return await earlier(*args)

    monkeypatch.setattr(pipeline, "earlier_messages", away)
    async with open_house(Scripted(text("a"))) as house:
        assert (await house.play(body(user())))[-1]["type"] == "RUN_FINISHED"


async def test_a_run_that_could_not_be_ended_is_ended_when_the_database_is_back(
    open_house: Open, monkeypatch: pytest.MonkeyPatch, until: Waits
) -> None:
    """First its events cannot be stored, then nothing can; its readers see its end, and the thread takes new runs."""
    store, transact, away = writer.store_batch, Database.transact, asyncio.Event()
    refused: list[None] = []

    def store_batch(connection: Any, batch: Any, now: Any) -> Any:
        if any("lf" in event for event in batch.events):
            away.set()
            raise RuntimeError("cannot be stored")
        return store(connection, batch, now)

    async def transact_later(self: Database, work: Any) -> Any:
        if away.is_set() and len(refused) < 3:
            refused.append(None)
            raise StoreUnavailable("away")
        return await transact(self, work)

    monkeypatch.setattr(writer, "store_batch", store_batch)
    agent = Talker()
    async with open_house(agent) as house:
        await started(house, until)
        monkeypatch.setattr(Database, "transact", transact_later)
        reading = asyncio.ensure_future(house.events())
        agent.go_on.set()
        await away.wait()
        assert [event["type"] for event in await reading] == ENDED
        assert refused == [None] * 3
        monkeypatch.undo()
        await house.start(body(user("next", "u2"), run="r2"))
        assert (await house.page())["activeRunId"] == "r2"


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_run_that_nobody_could_end_is_ended_by_the_next_look(
    open_house: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch, until: Waits
) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    async def give_up(input: AgentInput) -> AsyncIterator[Any]:
        yield text("half")[0]
        raise ValueError

    ended: list[Obj] = []
    with monkeypatch.context() as broken:
        broken.setattr(pipeline, "earlier_messages", fail)
        broken.setattr(pipeline, "end_somehow", fail)
        async with open_house(Scripted(give_up)) as house:
            await house.start(body(user()))
            await until(lambda: not house.services.runs.carried())
            assert (await house.page())["activeRunId"] == "r"
            reading = asyncio.ensure_future(house.events())
            clock.advance(DEAD_S)
            ended = await reading
    assert ended[-1]["code"] == "interrupted"


@pytest.mark.usefixtures("quick_sweeps")
async def test_looking_for_dead_runs_survives_a_database_that_is_locked(
    open_house: Open, shared: str, clock: Clock, until: Waits, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pragmas = [pragma for pragma in database_module._PRAGMAS if "busy_timeout" not in pragma]
    monkeypatch.setattr(database_module, "_PRAGMAS", (*pragmas, "PRAGMA busy_timeout=1"))
    async with open_house(Talker(), database_url=shared) as dead:
        await started(dead, until)
        async with open_house(database_url=shared) as other:
            lock = sqlite3.connect(shared.removeprefix("sqlite+aiosqlite:///"), isolation_level=None)
            lock.execute("BEGIN EXCLUSIVE")
            clock.advance(DEAD_S)
            locked: list[None] = []
            transact = Database.transact

            async def counted(self: Database, work: Any) -> Any:
                try:
                    return await transact(self, work)
                except StoreUnavailable:
                    locked.append(None)
                    raise

            monkeypatch.setattr(Database, "transact", counted)
            await until(lambda: len(locked) > 1)
            assert not await is_over(other)
            lock.rollback()
            lock.close()
            await until(lambda: is_over(other))
