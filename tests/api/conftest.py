"""The API over real services in the test's own folder, with an agent that the test conducts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from agui_app.agents.base import AgentInput
from agui_app.api.app import create_api
from agui_app.client import AguiClient, AsgiTransport
from agui_app.protocol.events import Event, read_event
from agui_app.services import Overrides, Services, open_services
from agui_app.settings import Settings

BASE_URL = "http://localhost:3000"


class Conducted:
    """An agent that says "one ", waits for `go_on`, and says "two"."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.stopped = False

    def wait(self) -> None:
        self.go_on.clear()

    async def run(self, input: AgentInput) -> AsyncIterator[Event]:
        message_id = f"{input.run_id}.answer"
        for raw in self._events(message_id):
            if raw["type"] == "wait":
                try:
                    await self.go_on.wait()
                except asyncio.CancelledError:
                    self.stopped = True
                    raise
            else:
                yield read_event(raw)

    def _events(self, id: str) -> list[dict[str, Any]]:
        return [
            {"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": "one "},
            {"type": "wait"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": "two"},
            {"type": "TEXT_MESSAGE_END", "messageId": id},
        ]


@pytest.fixture
def agent() -> Conducted:
    """An agent that answers without waiting; `agent.wait()` makes it wait."""
    conducted = Conducted()
    conducted.go_on.set()
    return conducted


@pytest.fixture
async def services(settings: Settings, agent: Conducted) -> AsyncIterator[Services]:
    async with open_services(settings, Overrides(agent=agent)) as opened:
        yield opened


def over(services: Services) -> httpx.AsyncClient:
    """A client of the API over these services."""
    api = create_api(lambda: services, services.settings)
    return httpx.AsyncClient(transport=AsgiTransport(api), base_url=BASE_URL)


@pytest.fixture
async def http(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with over(services) as client:
        yield client


@pytest.fixture
async def client(services: Services) -> AsyncIterator[AguiClient]:
    api = create_api(lambda: services, services.settings)
    async with AguiClient(BASE_URL, AsgiTransport(api)) as opened:
        yield opened
