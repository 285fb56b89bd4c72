"""The application as it is served: page, socket and API behind the guard."""

from __future__ import annotations

import importlib

import pytest
from starlette.types import ASGIApp

from agui_app.api.guard import Guard
from tests.api.asks import access_control, ask, handshake
from tests.api.routes import walk


@pytest.fixture(scope="module")
def whole() -> Guard:
    """The composed application; the page's files are left out, which a build makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("__REFLEX_SKIP_COMPILE", "true")
        served: ASGIApp = importlib.import_module("agui_app.agui_app").app()
    assert isinstance(served, Guard)
    return served


def routes(whole: Guard) -> set[tuple[str, str]]:
    inside: object = whole._app
    return set(walk(getattr(inside, "routes", [])))


def test_the_walk_finds_page_socket_and_api(whole: Guard) -> None:
    assert {
        ("GET", "/ping"),
        ("WEBSOCKET", "/_event/x"),
        ("POST", "/api/v1/agent/runs"),
        ("GET", "/healthz"),
        ("GET", "/api/docs"),
    } <= routes(whole)


async def test_a_foreign_origin_gets_nothing_from_any_route_nor_from_the_socket(whole: Guard) -> None:
    for method, path in sorted(routes(whole)):
        for origin in ("https://evil.example", "null", "http://localhost:3001"):
            if method == "WEBSOCKET":
                assert await handshake(whole, path, origin=origin) == ["websocket.close"], path
            else:
                response = await ask(whole, method, path, origin=origin, access_control_request_method="POST")
                assert (response.status_code, access_control(response)) == (403, {}), (method, path)


async def test_a_foreign_host_gets_nothing_from_any_route_nor_from_the_socket(whole: Guard) -> None:
    for method, path in sorted(routes(whole)):
        if method == "WEBSOCKET":
            assert await handshake(whole, path, host="evil.example") == ["websocket.close"], path
        else:
            response = await ask(whole, method, path, host="evil.example")
            assert (response.status_code, access_control(response)) == (421, {}), (method, path)


async def test_the_own_page_gets_answers_that_no_other_page_may_read(whole: Guard) -> None:
    response = await ask(whole, path="/ping", origin="http://localhost:3000")
    assert (response.json(), access_control(response)) == ("pong", {})
    response = await ask(whole, path="/api/none", origin="http://localhost:3000")
    assert (response.status_code, access_control(response)) == (404, {})
