"""What runs are carried out with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from agui_app.agents.base import Agent
from agui_app.runs.writer import Writer
from agui_app.settings import Settings
from agui_app.storage.database import Database
from agui_app.storage.objects import ObjectStore
from agui_app.tools.registry import Registry

T = TypeVar("T")


class Spawn(Protocol):
    """Starts a task in the group that owns all of them. The coroutine must not raise."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> asyncio.Task[T]: ...


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    database: Database
    objects: ObjectStore
    writer: Writer
    tools: Registry
    agent: Agent
    clock: Callable[[], datetime]
    """The present moment, aware, UTC."""
    spawn: Spawn
