"""A foreign page and a foreign host name get nothing from the real server, whatever they ask for."""

from __future__ import annotations

import asyncio
import base64
import os

import httpx
import pytest

from tests.e2e.server import Server

FOREIGN = "https://evil.example"


@pytest.fixture
def routes(server: Server) -> list[tuple[str, str]]:
    """(method, path) of everything that the server says it has, and of what belongs to the page."""
    spec = httpx.get(f"{server.url}/api/openapi.json").raise_for_status().json()
    told = [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path in spec["paths"]
        for method in spec["paths"][path]
    ]
    return [*told, ("GET", "/"), ("GET", "/t/x"), ("GET", "/favicon.ico"), ("GET", "/ping"), ("WEBSOCKET", "/_event/")]


async def status_of_handshake(server: Server, path: str, **headers: str) -> int:
    """The status that the server answers a WebSocket handshake with."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    given = {
        "Host": f"{host}:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        **headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    writer.write(f"GET {path}?EIO=4&transport=websocket HTTP/1.1\r\n{lines}\r\n".encode())
    try:
        return int((await reader.readline()).split()[1])
    finally:
        writer.close()
        await writer.wait_closed()


async def answers(server: Server, routes: list[tuple[str, str]], **headers: str) -> dict[tuple[str, str], int]:
    """Status of every route when it is asked with `headers`; every body but the problem document is a leak."""
    found: dict[tuple[str, str], int] = {}
    async with httpx.AsyncClient(base_url=server.url) as client:
        for method, path in routes:
            if method == "WEBSOCKET":
                found[method, path] = await status_of_handshake(server, path, **headers)
                continue
            response = await client.request(method, path, headers=headers)
            found[method, path] = response.status_code
            assert not [name for name in response.headers if name.startswith("access-control-")]
            if method != "HEAD":
                assert response.json().keys() == {"type", "title", "status", "detail", "code"}
    return found


async def test_a_foreign_origin_gets_nothing(server: Server, routes: list[tuple[str, str]]) -> None:
    assert len(routes) > 12
    assert set((await answers(server, routes, Origin=FOREIGN)).values()) == {403}


async def test_a_foreign_host_gets_nothing(server: Server, routes: list[tuple[str, str]]) -> None:
    found = await answers(server, routes, Host="evil.example")
    assert {status for (method, _), status in found.items() if method != "WEBSOCKET"} == {421}
    assert {status for (method, _), status in found.items() if method == "WEBSOCKET"} == {403}


async def test_the_page_itself_is_served_and_gets_its_socket(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url) as client:
        assert (await client.get("/t/x", headers={"Origin": server.url})).status_code == 200
    assert await status_of_handshake(server, "/_event/", Origin=server.url) == 101
