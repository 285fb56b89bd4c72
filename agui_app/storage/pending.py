"""Stores the payloads that the object store did not take, and deletes those that nothing refers to any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from sqlalchemy import RowMapping, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.errors import StoreUnavailable
from agui_app.storage.backlog import Backlog
from agui_app.storage.database import Database
from agui_app.storage.objects import ObjectStore
from agui_app.storage.payloads import delete_payload, put_payload
from agui_app.storage.tables import DISCARDED_PAYLOADS, MESSAGES, PENDING_PAYLOADS

PAUSE_S = 1.0  # between two looks at what waits


class PendingPayloads:
    """What waits for the object store, and the one task that does it.

    One task, so that a payload is never deleted while it is being stored.
    """

    def __init__(self, database: Database, objects: ObjectStore, clock: Callable[[], datetime]):
        self._objects = objects
        self._clock = clock
        self._storing = Backlog(database, PENDING_PAYLOADS, clock, self._store, self._settle)
        self._discarding = Backlog(database, DISCARDED_PAYLOADS, clock, self._discard)

    async def run(self) -> None:
        """Tries until cancelled."""
        while True:
            with suppress(StoreUnavailable):
                while await self.store_due() + await self.discard_due():
                    pass
            await asyncio.sleep(PAUSE_S)

    async def store_due(self) -> int:
        """The number of payloads that were stored now. Raises StoreUnavailable."""
        return await self._storing.do_due()

    async def discard_due(self) -> int:
        """The number of payloads that were deleted now. Raises StoreUnavailable."""
        return await self._discarding.do_due()

    async def _store(self, row: RowMapping) -> bool:
        return await put_payload(self._objects, row["path"], row["payload"])

    async def _settle(self, session: AsyncSession, row: RowMapping) -> None:
        mine = (MESSAGES.c.thread_pk == row["thread_pk"]) & (MESSAGES.c.id == row["message_id"])
        metadata = await session.scalar(select(MESSAGES.c.metadata).where(mine))
        if metadata is None:
            discarded = {"owner_id": row["owner_id"], "path": row["path"], "attempts": 0}
            await session.execute(insert(DISCARDED_PAYLOADS).values(**discarded, next_attempt_at=self._clock()))
            return
        stored = {**metadata, "storage_bucket": self._objects.bucket, "storage_path": row["path"]}
        stored.pop("storage_missing", None)
        await session.execute(update(MESSAGES).where(mine).values(metadata=stored))

    async def _discard(self, row: RowMapping) -> bool:
        return await delete_payload(self._objects, row["path"])
