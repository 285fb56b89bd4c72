"""Work for the object store that waits in a table until it is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, RowMapping, Table, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.storage.database import Database

FIRST_DELAY_S = 1.0
MAX_DELAY_S = 60.0
BATCH = 20  # rows tried at once; while the store is away the first one that fails ends the round


class Backlog:
    """Rows with `pk, path, attempts, next_attempt_at`: tried in their order, ever less often while they fail."""

    def __init__(
        self,
        database: Database,
        table: Table,
        clock: Callable[[], datetime],
        attempt: Callable[[RowMapping], Awaitable[bool]],
        settle: Callable[[AsyncSession, RowMapping], Awaitable[None]] | None = None,
    ):
        """`attempt`: whether the work of a row is done. `settle`: what else its transaction writes then."""
        self._database = database
        self._table = table
        self._clock = clock
        self._attempt = attempt
        self._settle = settle

    async def do_due(self) -> int:
        """The number of rows that were done now. Raises StoreUnavailable."""
        columns = self._table.c
        due = select(self._table).where(columns.next_attempt_at <= self._clock()).order_by(columns.pk).limit(BATCH)
        async with self._database.read() as session:
            rows = (await session.execute(due)).mappings().all()
        done = 0
        for row in rows:
            if not await self._attempt(row):
                await self._postpone(row)
                break
            await self._remove(row)
            done += 1
        return done

    async def _postpone(self, row: RowMapping) -> None:
        delay_s = min(FIRST_DELAY_S * 2 ** min(row["attempts"], 16), MAX_DELAY_S)
        async with self._database.write() as session:
            await session.execute(
                update(self._table)
                .where(self._is(row))
                .values(attempts=row["attempts"] + 1, next_attempt_at=self._clock() + timedelta(seconds=delay_s))
            )

    async def _remove(self, row: RowMapping) -> None:
        async with self._database.write() as session:
            gone = await session.execute(delete(self._table).where(self._is(row)).returning(self._table.c.pk))
            if gone.scalar_one_or_none() is not None and self._settle is not None:
                await self._settle(session, row)

    def _is(self, row: RowMapping) -> ColumnElement[bool]:
        """That very row: its key may be another's by now, when it was deleted meanwhile."""
        return (self._table.c.pk == row["pk"]) & (self._table.c.path == row["path"])
