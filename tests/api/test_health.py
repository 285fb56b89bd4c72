from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest

from agui_app.api.app import create_api
from agui_app.client import AsgiTransport
from agui_app.errors import StoreUnavailable
from agui_app.services import Services


class Away:
    """An object store that fails its check so."""

    bucket = "away"

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    async def check(self) -> None:
        if self._error is None:
            await asyncio.Event().wait()
        else:
            raise self._error


async def ready(services: Services) -> tuple[int, Any]:
    transport = AsgiTransport(create_api(lambda: services, services.settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        response = await http.get("/readyz")
    return response.status_code, response.json().get("code", response.json()["status"])


async def test_a_server_with_its_stores_is_ready(services: Services) -> None:
    assert await ready(services) == (200, "ok")


@pytest.mark.parametrize("error", [StoreUnavailable("away"), OSError("full"), None])
async def test_a_server_whose_store_is_away_or_silent_is_not_ready(
    services: Services, error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agui_app.api.health.CHECK_TIMEOUT_S", 0.01)
    away: Any = Away(error)
    assert await ready(replace(services, objects=away)) == (503, "store_unavailable")
