"""Waiting for a database that is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agui_app.errors import StoreUnavailable

RETRY_FIRST_S = 0.05
RETRY_MAX_S = 2.0

T = TypeVar("T")

_log = logging.getLogger(__name__)


async def patiently(work: Callable[[], Awaitable[T]], who: str) -> T:
    """What `work` gives back; while it raises StoreUnavailable it is tried again, with back-off and without end.

    `who` waits, for the log.
    """
    delay_s = RETRY_FIRST_S
    while True:
        try:
            return await work()
        except StoreUnavailable as error:
            _log.warning("%s waits for the database: %s", who, error)
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, RETRY_MAX_S)
