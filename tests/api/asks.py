"""Requests and handshakes as another page, or another name of this server, would make them."""

from __future__ import annotations

import httpx
from starlette.types import ASGIApp, Message

from agui_app.client import AsgiTransport

BASE_URL = "http://localhost:3000"


async def ask(app: ASGIApp, method: str = "GET", path: str = "/ping", **headers: str) -> httpx.Response:
    """The answer to a request to localhost:3000 with these headers (`_` for `-`)."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(transport=AsgiTransport(app), base_url=BASE_URL) as http:
        return await http.request(method, path, headers=named)


async def handshake(app: ASGIApp, path: str = "/_event", **headers: str) -> list[str]:
    """The types of the messages that answer a WebSocket handshake."""
    sent: list[str] = []
    coming: list[Message] = [{"type": "websocket.connect"}]

    async def receive() -> Message:
        return coming.pop(0) if coming else {"type": "websocket.disconnect", "code": 1006}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    named = {"host": "localhost:3000", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": "websocket",
        "path": path,
        "root_path": "",
        "query_string": b"",
        "subprotocols": [],
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }
    await app(scope, receive, send)
    return sent


def access_control(response: httpx.Response) -> dict[str, str]:
    """The headers that let another page read the answer."""
    return {name: value for name, value in response.headers.items() if name.startswith("access-control-")}
