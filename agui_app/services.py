"""The parts of the server, built from the settings; opened and closed by the app's lifespan."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from agui_app.agents.base import Agent
from agui_app.agents.build import build_agent
from agui_app.errors import SettingsError, StoreUnavailable
from agui_app.runs.parts import Parts
from agui_app.runs.recover import recover_runs
from agui_app.runs.service import Runs
from agui_app.runs.writer import Writer
from agui_app.settings import Settings
from agui_app.storage.changes import Changes
from agui_app.storage.database import Database
from agui_app.storage.events import EventLog
from agui_app.storage.history import History
from agui_app.storage.hub import Hub
from agui_app.storage.migrate import migrate
from agui_app.storage.objects import FolderStore, ObjectStore
from agui_app.storage.pending import PendingPayloads
from agui_app.storage.retention import purge_forever
from agui_app.storage.threads import Threads
from agui_app.tools.catalog import TOOLS
from agui_app.tools.registry import Registry

READER_LIMIT = 2_000  # frames that a reader may be behind, about a minute of one stream, before it is cut off
CLOSE_BOUND_S = 2.0  # for what waits to be written when the server stops

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    database: Database
    objects: ObjectStore
    events: EventLog
    history: History
    threads: Threads
    changes: Changes
    runs: Runs
    tools: Registry
    agent: Agent
    clock: Callable[[], datetime]
    """The present moment, aware, UTC."""


@dataclass(frozen=True, slots=True)
class Overrides:
    """Parts that a test brings along."""

    agent: Agent | None = None
    tools: Registry | None = None
    objects: ObjectStore | None = None
    clock: Callable[[], datetime] | None = None


class _Tasks:
    """The tasks of the server, in one group."""

    def __init__(self, group: asyncio.TaskGroup):
        self._group = group
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = self._group.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()


@asynccontextmanager
async def open_services(settings: Settings, overrides: Overrides | None = None) -> AsyncGenerator[Services, None]:
    """The services, ready: migrated, recovered, writing. Closes all in order.

    Raises: SettingsError: a database or folder that cannot be used.
    """
    given = overrides or Overrides()
    agent = given.agent or build_agent(settings)
    objects = given.objects or FolderStore(settings.payload_dir)
    await _prepare(settings, objects)
    database = Database(settings.resolved_database_url)
    hub = Hub(READER_LIMIT)
    clock = given.clock or _now
    changes = Changes(
        database, first_id=time.time_ns() // 1_000, reader_limit=READER_LIMIT, keepalive_s=settings.keepalive_s
    )
    writer = Writer(database, hub, clock, changes.tell)
    try:
        async with _task_group() as group:
            tasks = _Tasks(group)
            parts = Parts(settings, database, objects, writer, given.tools or TOOLS, agent, clock, tasks.spawn)
            runs = Runs(parts)
            writing = tasks.spawn(writer.run())
            tasks.spawn(changes.run())
            try:
                await recover_runs(parts)
                tasks.spawn(PendingPayloads(database, objects, clock).run())
                tasks.spawn(purge_forever(database, clock, settings.event_retention))
                yield Services(
                    settings=settings,
                    database=database,
                    objects=objects,
                    events=EventLog(database, hub, keepalive_s=settings.keepalive_s),
                    history=History(database, objects),
                    threads=Threads(database, changes.tell),
                    changes=changes,
                    runs=runs,
                    tools=parts.tools,
                    agent=agent,
                    clock=clock,
                )
            finally:
                await runs.shutdown()
                writer.close()
                await asyncio.wait({writing}, timeout=CLOSE_BOUND_S)
                hub.close()
                changes.close()
                tasks.cancel()
    finally:
        await database.close()


@asynccontextmanager
async def _task_group() -> AsyncGenerator[asyncio.TaskGroup, None]:
    """A task group that an exception of its block leaves as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as errors:
        if len(errors.exceptions) == 1:
            raise errors.exceptions[0] from errors
        raise


async def _prepare(settings: Settings, objects: ObjectStore) -> None:
    """The folder, the tables and the payload store can be used. Raises SettingsError."""
    if not settings.database_url:
        await asyncio.to_thread(_make_folder, settings.data_dir)
        await migrate(settings.resolved_database_url)
    try:
        await objects.check()
    except StoreUnavailable as error:
        raise SettingsError(f"AGUI_DATA_DIR={str(settings.data_dir)!r}: {error.detail}") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"AGUI_DATA_DIR={str(folder)!r}: cannot be made: {error.strerror}") from error


def _now() -> datetime:
    return datetime.now(UTC)
