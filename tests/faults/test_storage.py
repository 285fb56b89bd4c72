"""A payload store that fails again and again: the runs go on, and in the end everything is stored."""

from __future__ import annotations

import asyncio
import random

from sqlalchemy import select

from agui_app.services import Overrides, open_services
from agui_app.settings import Settings
from agui_app.storage.objects import FolderStore
from agui_app.storage.tables import MESSAGES, PENDING_PAYLOADS
from tests.faults.agents import FaultAgent
from tests.faults.conftest import Report
from tests.faults.scale import choose, rng
from tests.faults.truth import breaches
from tests.runs.house import Clock, House, Obj, body, user

RUNS = choose(short=60, soak=1_002)
SIDE_BY_SIDE = 6
RUNS_OF_A_THREAD = 10  # each of them reads the thread anew
PROBABILITY = 0.3
HANGS = choose(short=1, soak=5)  # writes that never come back
STORED_WITHIN_S = 600  # a bound on hangs
FAULTS = (OSError, PermissionError, TimeoutError, FileNotFoundError)


class Unreliable(FolderStore):
    """A folder whose every read and write fails with PROBABILITY until it is told to work."""

    def __init__(self, settings: Settings, random_: random.Random):
        super().__init__(settings.payload_dir, "unreliable")
        self.random = random_
        self.works = False
        self.writes = self.reads = self.failed = self.hung = 0

    async def put_json(self, path: str, payload: Obj) -> None:
        if not self.works and self.hung < HANGS:
            self.hung += 1
            await asyncio.Event().wait()
        self.writes += 1
        before = self._fails(PROBABILITY)
        if before and self.random.random() < 0.5:
            raise before
        await super().put_json(path, payload)
        if before:
            raise before  # it is there, and the caller is told otherwise

    async def get_json(self, path: str) -> Obj:
        self.reads += 1
        if fault := self._fails(PROBABILITY):
            raise fault
        if not self.works:
            await asyncio.sleep(self.random.choice((0, 0, 0, 0.05)))
        return await super().get_json(path)

    def _fails(self, probability: float) -> OSError | None:
        if self.works or self.random.random() >= probability:
            return None
        self.failed += 1
        return self.random.choice(FAULTS)(28, "No space left on device")


async def test_runs_over_a_failing_store_end_well_and_every_payload_is_stored_in_the_end(
    settings: Settings, report: Report
) -> None:
    random_, clock = rng("storage"), Clock()
    objects = Unreliable(settings, random_)
    changed = settings.model_copy(update={"flush_interval_s": 0.005})
    async with open_services(changed, Overrides(agent=FaultAgent(), objects=objects, clock=clock)) as services:
        house = House(services, None)
        missing = await asyncio.gather(
            *(_play(house, f"p{number}", random.Random(random_.random()), clock) for number in range(SIDE_BY_SIDE))
        )
        assert sum(missing) > RUNS * PROBABILITY / 3, "hardly anything failed: the test proves nothing"
        operations = objects.writes + objects.reads

        objects.works = True
        async with asyncio.timeout(STORED_WITHIN_S):
            while await house.rows(PENDING_PAYLOADS):
                clock.advance(3600)
                await asyncio.sleep(0.1)

        calls = 0
        for thread in await house.threads():
            answers = [message for message in await _transcript(house, thread["id"]) if message["role"] == "tool"]
            assert [_without_card(message) for message in answers] == [None] * len(answers)
            calls += len(answers)
        stored = {row["metadata"]["storage_path"] for row in await house.messages() if row["role"] == "tool"}
        lying = {str(file.relative_to(objects.root)) for file in objects.root.rglob("*.json")}
        assert (len(stored), stored) == (calls, lying)
        assert list(objects.root.rglob(".*.part")) == []
    report(
        f"storage: {RUNS} runs with {calls} calls, {objects.failed} of {operations} operations failed, "
        f"{objects.hung} hung; "
        f"{sum(missing)} payloads were not stored at first; all runs ended well, all {calls} payloads stored in the end"
    )


async def _play(house: House, player: str, random_: random.Random, clock: Clock) -> int:
    """A player's share of the runs; the number of payloads that were missing right after their run."""
    missing = 0
    for number in range(RUNS // SIDE_BY_SIDE):
        thread = f"{player}.t{number // RUNS_OF_A_THREAD}"
        run = f"{thread}.r{number}"
        wish = f"{random_.choice(('card', 'book'))} {random_.randint(1, 3)}"
        events = await house.play(body(user(wish, f"{thread}.u{number}"), thread=thread, run=run))
        assert (breaches(events), events[-1]["outcome"]) == ([], {"type": "success"})
        shown = [event["ui"] for event in events if event["type"] == "TOOL_CALL_RESULT"]
        assert {ui["cardType"] for ui in shown} == {"calendar_card.v1"}, "a card is not live"
        clock.advance(random_.uniform(0, 2))
        missing += await _assert_told(house, thread, run)
    return missing


async def _assert_told(house: House, thread: str, run: str) -> int:
    """`storage_missing` stands exactly at the payloads that wait; the page has the summary of each."""
    async with house.services.database.read() as session:
        found = select(MESSAGES).where(MESSAGES.c.run_id == run, MESSAGES.c.role == "tool")
        rows = (await session.execute(found)).mappings().all()
        waiting = set((await session.execute(select(PENDING_PAYLOADS.c.message_id))).scalars())
    told = {row["id"]: row["metadata"] for row in rows}
    assert {id for id, metadata in told.items() if metadata.get("storage_missing")} == waiting & set(told)
    assert {id for id, metadata in told.items() if metadata["storage_path"] is None} == waiting & set(told)
    page = await house.page(thread)
    for message in page["messages"]:
        if message["id"] in told:
            assert message["content"]
            assert (message["ui"] is None) == message.get("payloadMissing", False)
    return len(waiting & set(told))


async def _transcript(house: House, thread: str) -> list[Obj]:
    page = await house.page(thread, limit=200)
    messages = page["messages"]
    while page["hasMore"]:
        page = await house.page(thread, page["nextCursor"], limit=200)
        messages = [*page["messages"], *messages]
    return messages


def _without_card(message: Obj) -> Obj | None:
    """The message, when it is not as it should be in the end."""
    stored = message["metadata"].get("storage_bucket") == "unreliable" and "storage_missing" not in message["metadata"]
    whole = stored and not message.get("payloadMissing") and (message["ui"] or {}).get("cardType")
    return None if whole == "calendar_card.v1" else message
