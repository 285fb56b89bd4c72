"""Payloads that wait for the object store."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update

from agui_app.errors import StoreUnavailable
from agui_app.storage import payloads as payloads_module
from agui_app.storage import pending as module
from agui_app.storage.database import Database
from agui_app.storage.pending import PendingPayloads
from agui_app.storage.tables import DISCARDED_PAYLOADS, MESSAGES, PENDING_PAYLOADS
from tests.storage.conftest import T0, Seed

METADATA = {"tool_call_id": "c", "storage_bucket": None, "storage_path": None, "storage_missing": True}


class Store:
    bucket = "b"

    def __init__(self) -> None:
        self.works = True
        self.stored: dict[str, Any] = {}

    async def put_json(self, path: str, payload: dict[str, Any]) -> None:
        if not self.works:
            raise OSError("away")
        self.stored[path] = payload

    async def get_json(self, path: str) -> dict[str, Any]:
        return self.stored[path]

    async def delete(self, path: str) -> None:
        if not self.works:
            raise OSError("away")
        self.stored.pop(path, None)

    async def check(self) -> None:
        return None


class House:
    def __init__(self, database: Database):
        self.database, self.store, self.now = database, Store(), T0
        self.pending = PendingPayloads(database, self.store, self.clock)

    def clock(self) -> datetime:
        return self.now

    async def wait(self, thread_pk: int, *ids: str) -> None:
        async with self.database.write() as session:
            await session.execute(update(MESSAGES).values(metadata=METADATA))
            for id in ids:
                await session.execute(
                    insert(PENDING_PAYLOADS).values(
                        owner_id="local",
                        thread_pk=thread_pk,
                        message_id=id,
                        path=f"{id}.json",
                        payload={"of": id},
                        attempts=0,
                        next_attempt_at=T0,
                        created_at=T0,
                    )
                )

    async def discard(self, *paths: str) -> None:
        rows = [{"owner_id": "local", "path": path, "attempts": 0, "next_attempt_at": self.now} for path in paths]
        async with self.database.write() as session:
            await session.execute(insert(DISCARDED_PAYLOADS), rows)

    async def discarded(self) -> list[tuple[str, datetime]]:
        columns = (DISCARDED_PAYLOADS.c.path, DISCARDED_PAYLOADS.c.next_attempt_at)
        async with self.database.read() as session:
            return [tuple(row) for row in await session.execute(select(*columns).order_by(DISCARDED_PAYLOADS.c.pk))]

    async def waiting(self) -> list[tuple[str, int, datetime]]:
        columns = (PENDING_PAYLOADS.c.message_id, PENDING_PAYLOADS.c.attempts, PENDING_PAYLOADS.c.next_attempt_at)
        async with self.database.read() as session:
            return [tuple(row) for row in await session.execute(select(*columns).order_by(PENDING_PAYLOADS.c.pk))]

    async def metadata(self) -> dict[str, Any]:
        async with self.database.read() as session:
            return dict((await session.execute(select(MESSAGES.c.id, MESSAGES.c.metadata))).all())


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


async def test_a_payload_that_is_stored_is_known_to_its_message(house: House, seed: Seed) -> None:
    await house.wait(await seed("t"), "assistant0")
    assert await house.pending.store_due() == 1
    assert house.store.stored == {"assistant0.json": {"of": "assistant0"}}
    assert await house.waiting() == []
    assert await house.metadata() == {
        "user0": METADATA,
        "assistant0": {"tool_call_id": "c", "storage_bucket": "b", "storage_path": "assistant0.json"},
    }


async def test_a_store_that_is_away_is_asked_ever_less_often(house: House, seed: Seed) -> None:
    await house.wait(await seed("t"), "user0", "assistant0")
    house.store.works = False
    assert await house.pending.store_due() == 0
    assert await house.waiting() == [("user0", 1, T0 + timedelta(seconds=1)), ("assistant0", 0, T0)]
    for seconds in (2, 4, 8, 16, 32, 60, 60):
        house.now += timedelta(seconds=100)
        await house.pending.store_due()
        assert (await house.waiting())[0][2] == house.now + timedelta(seconds=seconds)
    house.store.works = True
    house.now += timedelta(seconds=100)
    assert (await house.pending.store_due(), await house.waiting()) == (2, [])


async def test_a_message_that_is_gone_meanwhile_is_no_trouble(house: House, seed: Seed) -> None:
    await house.wait(await seed("t"), "nobody")
    assert (await house.pending.store_due(), await house.waiting()) == (1, [])


async def test_a_store_that_hangs_is_away(house: House, seed: Seed, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(path: str, payload: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(payloads_module, "PUT_BOUND_S", 0.01)
    monkeypatch.setattr(house.store, "put_json", hang)
    await house.wait(await seed("t"), "user0")
    assert await house.pending.store_due() == 0


async def test_the_task_goes_on_through_troubles_and_looks_again_after_a_pause(
    house: House, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.wait(await seed("t"), "user0")
    paused: list[float] = []
    store_due, troubles = house.pending.store_due, [True]

    async def troubled() -> int:
        if troubles:
            troubles.pop()
            raise StoreUnavailable("away")
        return await store_due()

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        house.store.works = len(paused) > 2
        house.now += timedelta(seconds=seconds)
        if len(paused) == 6:
            raise asyncio.CancelledError

    monkeypatch.setattr(house.pending, "store_due", troubled)
    monkeypatch.setattr(module.asyncio, "sleep", pause)
    with pytest.raises(asyncio.CancelledError):
        await house.pending.run()
    assert (paused, await house.waiting(), await house.discarded()) == ([1.0] * 6, [], [])
    assert house.store.stored == {"user0.json": {"of": "user0"}}


async def test_a_payload_that_nothing_refers_to_is_deleted(house: House) -> None:
    house.store.stored = {"a.json": {}, "b.json": {}}
    await house.discard("a.json", "never-stored.json")
    assert await house.pending.discard_due() == 2
    assert (house.store.stored, await house.discarded()) == ({"b.json": {}}, [])


async def test_a_payload_that_cannot_be_deleted_waits_with_back_off(house: House) -> None:
    house.store.stored, house.store.works = {"a.json": {}}, False
    await house.discard("a.json")
    for seconds in (1, 2, 4):
        assert await house.pending.discard_due() == 0
        assert await house.discarded() == [("a.json", house.now + timedelta(seconds=seconds))]
        house.now += timedelta(seconds=100)
    house.store.works = True
    assert (await house.pending.discard_due(), house.store.stored, await house.discarded()) == (1, {}, [])


async def test_a_payload_whose_message_went_while_it_was_stored_is_deleted(house: House, seed: Seed) -> None:
    await house.wait(await seed("t"), "nobody")
    await house.pending.store_due()
    assert set(house.store.stored) == {"nobody.json"}
    await house.pending.discard_due()
    assert (house.store.stored, await house.waiting(), await house.discarded()) == ({}, [], [])


async def test_a_row_that_went_while_its_payload_was_stored_settles_no_other_row(house: House, seed: Seed) -> None:
    """SQLite gives the key of a deleted row to the next one."""
    thread_pk = await seed("t")
    await house.wait(thread_pk, "user0")
    put_json = house.store.put_json

    async def replaced_meanwhile(path: str, payload: dict[str, Any]) -> None:
        await put_json(path, payload)
        async with house.database.write() as session:
            await session.execute(delete(PENDING_PAYLOADS))
        await house.wait(thread_pk, "assistant0")

    house.store.put_json = replaced_meanwhile
    await house.pending.store_due()
    assert [row[0] for row in await house.waiting()] == ["assistant0"]
    assert (await house.metadata())["assistant0"] == METADATA
