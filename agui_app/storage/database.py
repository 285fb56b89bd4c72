"""The database: read snapshots that never wait for the writer, and one write transaction at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine

from agui_app.errors import StoreUnavailable

T = TypeVar("T")

BUSY_TIMEOUT_MS = 2_000  # another process may hold the file for a moment; longer is "away" (503)
READERS = 8  # connections for reading, each a thread under SQLite
POOL_TIMEOUT_S = 5
CLOSE_BOUND_S = 2.0  # for readers that are in the middle of a look when the server stops

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
            self._direct = _direct_engine(url)
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="agui-write")
        else:
            self._writes = create_async_engine(url, json_serializer=_compact, pool_timeout=POOL_TIMEOUT_S)
            self._reads = self._writes.execution_options(isolation_level="REPEATABLE READ")
        self._turn = asyncio.Lock()
        self._orphans: set[asyncio.Task[None]] = set()
        self._users = 0
        self._unused = asyncio.Event()
        self._unused.set()
        self._closed = False

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

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """What `work` gives back, which is one write transaction. Raises StoreUnavailable.

        `work` runs in a thread: on SQLite that is one hop, where a session takes four for every statement, which is
        most of what a small commit costs.
        """
        if not self._sqlite:
            async with self.write() as session:
                return await (await session.connection()).run_sync(work)
        async with _store_errors(), self._turn:
            self._refuse_when_closed()
            return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, self._begin, work))

    def _begin(self, work: Callable[[Connection], T]) -> T:
        with self._direct.begin() as connection:
            return work(connection)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("The server is stopping")

    @asynccontextmanager
    async def _session(self, engine: AsyncEngine) -> AsyncGenerator[AsyncSession, None]:
        self._refuse_when_closed()
        self._users += 1
        self._unused.clear()
        try:
            connection = await self._connect(engine)
            try:
                async with AsyncSession(connection, expire_on_commit=False) as session, session.begin():
                    yield session
            finally:
                await asyncio.shield(connection.close())
        finally:
            self._users -= 1
            if not self._users:
                self._unused.set()

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
        """Every connection is given back, after those who use one, within CLOSE_BOUND_S."""
        self._closed = True
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_BOUND_S):
                await self._unused.wait()
        await asyncio.gather(*self._orphans)
        await self._writes.dispose()
        await self._reads.dispose()
        if self._sqlite:
            await asyncio.to_thread(self._thread.shutdown)
            self._direct.dispose()


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
    own_transactions(engine.sync_engine, begin, pragmas)
    return engine


def _direct_engine(url: str) -> Engine:
    """The writer's own connection to the same file, without the detour over a thread for every step."""
    direct = make_url(url).set(drivername="sqlite")
    engine = create_engine(
        direct, json_serializer=_compact, pool_size=1, max_overflow=0, connect_args={"check_same_thread": False}
    )
    own_transactions(engine, "BEGIN IMMEDIATE", _PRAGMAS)
    return engine


def own_transactions(engine: Engine, begin: str, pragmas: tuple[str, ...]) -> None:
    """The driver would begin transactions on its own terms; they are ours."""

    def connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    def begun(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
