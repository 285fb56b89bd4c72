"""Services that a test opens, a clock that it sets, and waiting without sleeping blindly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agui_app.services import Overrides, open_services
from agui_app.settings import Settings
from tests.runs.house import ECHO_SCHEMA, Clock, House, Open, Scripted, Waits, echo, refuse, tool


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_house(settings: Settings, clock: Clock) -> Open:
    """Opens services around an agent, over the same data folder each time."""

    @asynccontextmanager
    async def open_house(
        agent: Any = None, *, tools: Any = None, objects: Any = None, **changes: Any
    ) -> AsyncIterator[House]:
        agent = agent or Scripted()
        registry = {
            "echo": tool("echo", echo, ECHO_SCHEMA),
            "refuse": tool("refuse", refuse),
            **{one.name: one for one in tools or ()},
        }
        changed = settings.model_copy(update={"flush_interval_s": 0.005, "timezone": "Europe/Berlin", **changes})
        overrides = Overrides(agent=agent, tools=registry, objects=objects, clock=clock)
        async with open_services(changed, overrides) as services:
            yield House(services, agent)

    return open_house


@pytest.fixture
def until() -> Waits:
    """Waits until something is so, and gives it; ten seconds at most."""

    async def until(seen: Callable[[], Any]) -> Any:
        async with asyncio.timeout(10):
            while True:
                value = seen()
                if asyncio.iscoroutine(value):
                    value = await value
                if value:
                    return value
                await asyncio.sleep(0.002)

    return until
