"""Tries again to store the payloads that the object store did not take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import RowMapping, delete, func, select, update

from agui_app.errors import StoreUnavailable
from agui_app.storage.database import Database
from agui_app.storage.objects import ObjectStore
from agui_app.storage.payloads import put_payload
from agui_app.storage.tables import MESSAGES, PENDING_PAYLOADS

FIRST_DELAY_S = 1.0
MAX_DELAY_S = 60.0
BATCH = 20  # payloads tried at once; while the store is away the first one that fails ends the round


class PendingPayloads:
    """Payloads that wait in the database, and the task that stores them."""

    def __init__(self, database: Database, objects: ObjectStore, clock: Callable[[], datetime]):
        self._database = database
        self._objects = objects
        self._clock = clock

    async def run(self) -> None:
        """Tries until cancelled."""
        while True:
            try:
                delay_s = FIRST_DELAY_S if await self.store_due() else await self._delay_s()
            except StoreUnavailable:
                delay_s = FIRST_DELAY_S
            await asyncio.sleep(delay_s)

    async def store_due(self) -> int:
        """The number of payloads that were stored now."""
        due = select(PENDING_PAYLOADS).where(PENDING_PAYLOADS.c.next_attempt_at <= self._clock())
        async with self._database.read() as session:
            rows = (await session.execute(due.order_by(PENDING_PAYLOADS.c.pk).limit(BATCH))).mappings().all()
        stored = 0
        for row in rows:
            if not await put_payload(self._objects, row["path"], row["payload"]):
                await self._postpone(row)
                break
            await self._settle(row)
            stored += 1
        return stored

    async def _delay_s(self) -> float:
        async with self._database.read() as session:
            due_at = await session.scalar(select(func.min(PENDING_PAYLOADS.c.next_attempt_at)))
        if due_at is None:
            return FIRST_DELAY_S
        return min(max((due_at - self._clock()).total_seconds(), FIRST_DELAY_S), MAX_DELAY_S)

    async def _postpone(self, row: RowMapping) -> None:
        delay_s = min(FIRST_DELAY_S * 2 ** min(row["attempts"], 16), MAX_DELAY_S)
        async with self._database.write() as session:
            await session.execute(
                update(PENDING_PAYLOADS)
                .where(PENDING_PAYLOADS.c.pk == row["pk"])
                .values(attempts=row["attempts"] + 1, next_attempt_at=self._clock() + timedelta(seconds=delay_s))
            )

    async def _settle(self, row: RowMapping) -> None:
        mine = (MESSAGES.c.thread_pk == row["thread_pk"]) & (MESSAGES.c.id == row["message_id"])
        async with self._database.write() as session:
            gone = await session.execute(
                delete(PENDING_PAYLOADS).where(PENDING_PAYLOADS.c.pk == row["pk"]).returning(PENDING_PAYLOADS.c.pk)
            )
            metadata = await session.scalar(select(MESSAGES.c.metadata).where(mine))
            if gone.scalar_one_or_none() is not None and metadata is not None:
                stored = {**metadata, "storage_bucket": self._objects.bucket, "storage_path": row["path"]}
                stored.pop("storage_missing", None)
                await session.execute(update(MESSAGES).where(mine).values(metadata=stored))
