from __future__ import annotations

import httpx

from agui_app.services import Services


async def test_the_tools_are_listed_with_the_schemas_of_their_arguments(
    http: httpx.AsyncClient, services: Services
) -> None:
    tools = (await http.get("/api/v1/agent/tools")).json()
    assert tools == [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in services.tools.values()
    ]
    assert {"create_calendar_event", "calendar_read"} <= {tool["name"] for tool in tools}
