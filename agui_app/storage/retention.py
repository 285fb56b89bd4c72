"""Takes the events of finished runs out of the log when they are old."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import delete, exists, func, select

from agui_app.errors import StoreUnavailable
from agui_app.storage.database import Database
from agui_app.storage.tables import EVENTS, RUNS

MAX_PAUSE_S = 600.0
THREADS_AT_ONCE = 50  # so that no writer waits long

_log = logging.getLogger(__name__)


async def purge_events(database: Database, before: datetime) -> int:
    """The number of threads that lost events: those of runs that finished before `before`.

    Runs of a thread follow one another, so what is purged is always the beginning of its log.
    """
    finished = RUNS.c.finished_at < before
    old = (
        select(RUNS.c.thread_pk)
        .where(finished, exists().where(EVENTS.c.run_pk == RUNS.c.pk))
        .group_by(RUNS.c.thread_pk)
        .limit(THREADS_AT_ONCE)
    )
    async with database.read() as session:
        threads = (await session.execute(old)).scalars().all()
    for thread_pk in threads:
        # Asked anew: since the look the thread may have been deleted, and its key given to another.
        upto = select(func.max(RUNS.c.last_event_id)).where(RUNS.c.thread_pk == thread_pk, finished).scalar_subquery()
        async with database.write() as session:
            await session.execute(delete(EVENTS).where(EVENTS.c.thread_pk == thread_pk, EVENTS.c.id <= upto))
    return len(threads)


async def purge_forever(database: Database, clock: Callable[[], datetime], retention_s: float) -> None:
    """Purges until cancelled."""
    while True:
        try:
            purged = await purge_events(database, clock() - timedelta(seconds=retention_s))
        except StoreUnavailable as error:
            _log.warning("old events were not purged: %s", error)
            purged = 0
        await asyncio.sleep(1.0 if purged == THREADS_AT_ONCE else min(retention_s / 4, MAX_PAUSE_S))
