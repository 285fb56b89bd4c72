"""The database: read snapshots that never wait for the writer, and one write transaction at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine

from agui_app.errors import StoreUnavailable

BUSY_TIMEOUT_MS = 2_000  # another process may hold the file for a moment; longer is "away" (503)
READERS = 8  # connections for reading, each a thread under SQLite
POOL_TIMEOUT_S = 5

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA foreign_keys=ON",
)


class Database:
    """The engines and the rules of their transactions. Close it with `close`."""

    def __init__(self, url: str):
        self.url = url
        self._sqlite = make_url(url).get_backend_name() == "sqlite"
        if self._sqlite:
            self._reads = _sqlite_engine(url, begin="BEGIN", size=READERS, pragmas=(*_PRAGMAS, "PRAGMA query_only=ON"))
            self._writes = _sqlite_engine(url, begin="BEGIN IMMEDIATE", size=1, pragmas=_PRAGMAS)
        else:
            self._writes = create_async_engine(url, json_serializer=_compact, pool_timeout=POOL_TIMEOUT_S)
            self._reads = self._writes.execution_options(isolation_level="REPEATABLE READ")
        self._turn = asyncio.Lock()
        self._orphans: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession, None]:
        """One read transaction: a snapshot, which waits for no writer. Raises StoreUnavailable."""
        async with _store_errors(), self._session(self._reads) as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncSession, None]:
        """One write transaction, serialised in the process on SQLite; commits on success. Raises StoreUnavailable."""
        turn = self._turn if self._sqlite else nullcontext()
        async with _store_errors(), turn, self._session(self._writes) as session:
            yield session

    @asynccontextmanager
    async def _session(self, engine: AsyncEngine) -> AsyncGenerator[AsyncSession, None]:
        connection = await self._connect(engine)
        try:
            async with AsyncSession(connection, expire_on_commit=False) as session, session.begin():
                yield session
        finally:
            await asyncio.shield(connection.close())

    async def _connect(self, engine: AsyncEngine) -> AsyncConnection:
        """A connection of the pool. One that is opened while its task is cancelled would be lost: it is given back."""
        opening = asyncio.ensure_future(_opened(engine))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            orphan = asyncio.ensure_future(_give_back(opening))
            self._orphans.add(orphan)
            orphan.add_done_callback(self._orphans.discard)
            raise

    async def check(self) -> None:
        """Nothing when the database answers. Raises StoreUnavailable."""
        async with self.read() as session:
            await session.execute(text("SELECT 1"))

    async def close(self) -> None:
        """Every connection is given back."""
        await asyncio.gather(*self._orphans)
        await self._writes.dispose()
        await self._reads.dispose()


async def _opened(engine: AsyncEngine) -> AsyncConnection:
    return await engine.connect()


async def _give_back(opening: asyncio.Task[AsyncConnection]) -> None:
    await asyncio.wait({opening})
    if not opening.cancelled() and opening.exception() is None:
        await opening.result().close()


@asynccontextmanager
async def _store_errors() -> AsyncGenerator[None, None]:
    try:
        yield
    except (IntegrityError, ProgrammingError):
        raise
    except (DBAPIError, PoolTimeout, OSError) as error:
        raise StoreUnavailable("The database did not answer; try again in a moment") from error


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sqlite_engine(url: str, *, begin: str, size: int, pragmas: tuple[str, ...]) -> AsyncEngine:
    engine = create_async_engine(
        url, json_serializer=_compact, pool_size=size, max_overflow=0, pool_timeout=POOL_TIMEOUT_S
    )

    # The driver begins transactions on its own terms; these two hand that over to us.
    def connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    def begun(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", connected)
    event.listen(engine.sync_engine, "begin", begun)
    return engine
