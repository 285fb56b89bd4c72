from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from agui_app.api.app import create_api
from agui_app.api.guard import Guard
from agui_app.settings import Settings
from tests.api.asks import access_control, ask, handshake
from tests.api.routes import walk

FRIEND = "https://friend.example"


async def page(_request: Any) -> PlainTextResponse:
    return PlainTextResponse("the page")


async def socket(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.close()


def whole(settings: Settings) -> FastAPI:
    """The API with a page behind it, as Reflex mounts itself: with a CORS layer that allows everybody."""

    def no_services() -> Any:
        raise AssertionError("a refused request reached a route")

    api = create_api(no_services, settings)
    behind = Starlette(routes=[Route("/ping", page), WebSocketRoute("/_event", socket), Mount("/files", app=page_app)])
    api.mount("", behind)
    api.add_middleware(CORSMiddleware, allow_origins=["*"], allow_credentials=True, allow_methods=["*"])
    return api


async def page_app(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("a file")(scope, receive, send)


def configured(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


def guarded(**values: Any) -> Guard:
    settings = configured(**values)
    return Guard(whole(settings), settings)


ROUTES = sorted(set(walk(whole(configured()).routes)))


def test_the_walk_finds_the_routes_of_the_api_and_those_behind_it() -> None:
    assert {
        ("POST", "/api/v1/agent/runs"),
        ("GET", "/api/v1/agent/runs/x/events"),
        ("GET", "/healthz"),
        ("GET", "/api/docs"),
        ("DELETE", "/api/x"),
        ("GET", "/ping"),
        ("WEBSOCKET", "/_event"),
        ("POST", "/files/x"),
    } <= set(ROUTES)


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3001", "http://127.0.0.1:3000"])
async def test_a_foreign_origin_gets_nothing_from_any_route(method: str, path: str, origin: str) -> None:
    app = guarded(allowed_origins=FRIEND)
    if method == "WEBSOCKET":
        assert await handshake(app, path, origin=origin) == ["websocket.close"]
        return
    response = await ask(app, method, path, origin=origin, access_control_request_method="POST")
    assert (response.status_code, access_control(response)) == (403, {})
    assert method == "HEAD" or response.json()["code"] == "foreign_origin"


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("host", ["evil.example", "evil.example:3000", "localhost.evil.example", "localhost@evil", ""])
async def test_a_foreign_host_gets_nothing_from_any_route(method: str, path: str, host: str) -> None:
    app = guarded()
    if method == "WEBSOCKET":
        assert await handshake(app, path, host=host) == ["websocket.close"]
        return
    response = await ask(app, method, path, host=host, origin=f"http://{host}")
    assert (response.status_code, access_control(response)) == (421, {})
    assert method == "HEAD" or response.json()["code"] == "foreign_host"


async def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    for hosts in ([], [b"localhost", b"evil.example"]):
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message, sent: list[Message] = sent) -> None:
            sent.append(message)

        headers = [(b"host", host) for host in hosts]
        scope = {"type": "http", "method": "GET", "path": "/ping", "query_string": b"", "headers": headers}
        await guarded()(scope, receive, send)
        assert sent[0]["status"] == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "LOCALHOST", "127.0.0.1:1", "[::1]", "[::1]:3000"])
async def test_loopback_names_are_ours_on_any_port(host: str) -> None:
    assert (await ask(guarded(), host=host)).text == "the page"


async def test_the_address_that_is_listened_on_is_ours_when_it_is_loopback() -> None:
    assert (await ask(guarded(host="127.0.0.2"), host="127.0.0.2:3000")).status_code == 200
    assert (await ask(guarded(host="10.0.0.1", allow_insecure=True), host="10.0.0.1")).status_code == 421


@pytest.mark.parametrize("entry", ["agui.example", "AGUI.example:8443"])
async def test_a_host_that_the_settings_allow_is_ours(entry: str) -> None:
    assert (await ask(guarded(allowed_hosts=entry), host="agui.example:443")).status_code == 200


async def test_an_allowed_address_of_version_six_needs_no_brackets() -> None:
    assert (await ask(guarded(allowed_hosts="fd00::1"), host="[fd00::1]:3000")).status_code == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:3000", "http://localhost:3000"),
        ("localhost:3000", "HTTP://LocalHost:3000"),
        ("agui.example", "https://agui.example"),
        ("agui.example", "http://agui.example:80"),
        ("agui.example:443", "https://agui.example"),
        ("[::1]:3000", "http://[::1]:3000"),
    ],
)
async def test_the_own_page_may_call_whatever_the_scheme_outside_is(host: str, origin: str) -> None:
    app = guarded(allowed_hosts="agui.example")
    response = await ask(app, "POST", "/files/x", host=host, origin=origin)
    assert (response.status_code, access_control(response)) == (200, {})
    assert await handshake(app, host=host, origin=origin) == ["websocket.accept", "websocket.close"]


@pytest.mark.parametrize("origin", ["https://agui.example:444", "ftp://agui.example", "https://agui.example.evil", ""])
async def test_an_origin_that_only_resembles_the_own_one_is_foreign(origin: str) -> None:
    response = await ask(guarded(allowed_hosts="agui.example"), host="agui.example", origin=origin)
    assert response.status_code == 403


async def test_an_allowed_origin_reads_the_api_and_the_answer_names_it() -> None:
    response = await ask(guarded(allowed_origins=FRIEND), path="/api/none", origin=FRIEND)
    assert response.status_code == 404
    assert response.headers["vary"] == "Origin"
    assert access_control(response) == {
        "access-control-allow-origin": FRIEND,
        "access-control-expose-headers": "ETag, Location, Retry-After",
    }


async def test_an_allowed_origin_gets_no_cors_headers_outside_the_api() -> None:
    response = await ask(guarded(allowed_origins=FRIEND), origin=FRIEND)
    assert (response.text, access_control(response)) == ("the page", {})


async def test_an_allowed_origin_may_open_the_socket() -> None:
    app = guarded(allowed_origins=FRIEND)
    assert await handshake(app, origin=FRIEND) == ["websocket.accept", "websocket.close"]


async def test_a_preflight_of_an_allowed_origin_is_answered() -> None:
    response = await ask(
        guarded(allowed_origins=f"{FRIEND}/"),
        "OPTIONS",
        "/api/v1/agent/runs",
        origin=FRIEND,
        access_control_request_method="POST",
    )
    assert (response.status_code, response.headers["vary"]) == (204, "Origin")
    assert access_control(response) == {
        "access-control-allow-origin": FRIEND,
        "access-control-allow-methods": "GET, POST, PATCH, DELETE",
        "access-control-allow-headers": "Accept, Cache-Control, Content-Type, If-Match, Last-Event-ID",
        "access-control-expose-headers": "ETag, Location, Retry-After",
        "access-control-max-age": "600",
    }


async def test_what_an_answer_varies_by_already_is_kept() -> None:
    settings = configured(allowed_origins=FRIEND)

    async def varies(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("x", headers={"vary": "Accept"})(scope, receive, send)

    assert (await ask(Guard(varies, settings), path="/api/x", origin=FRIEND)).headers["vary"] == "Accept, Origin"


async def test_an_entry_that_is_no_host_name_allows_nothing() -> None:
    assert (await ask(guarded(allowed_hosts="a b"), host="evil.example")).status_code == 421


async def test_answers_vary_by_origin_once_other_origins_are_allowed() -> None:
    assert (await ask(guarded(allowed_origins=FRIEND), path="/api/none")).headers["vary"] == "Origin"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_an_unsafe_request_from_another_site_needs_no_origin_to_be_refused(site: str) -> None:
    assert (await ask(guarded(), "POST", "/files/x", sec_fetch_site=site)).status_code == 403
    assert (await ask(guarded(), "GET", "/files/x", sec_fetch_site=site)).status_code == 200
    assert await handshake(guarded(), sec_fetch_site=site) == ["websocket.close"]


async def test_a_program_that_sends_no_origin_may_call() -> None:
    assert (await ask(guarded(), "POST", "/files/x")).status_code == 200
    assert (await ask(guarded(), "POST", "/files/x", sec_fetch_site="same-origin")).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "evil.example"])
async def test_every_answer_carries_the_safety_headers(host: str) -> None:
    headers = (await ask(guarded(), host=host)).headers
    assert {name: headers[name] for name in ("x-content-type-options", "referrer-policy", "x-frame-options")} == {
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "x-frame-options": "DENY",
    }


async def test_the_lifespan_passes() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def never() -> Message:
        raise AssertionError

    async def nothing(message: Message) -> None:
        raise AssertionError(message)

    await Guard(app, configured())({"type": "lifespan"}, never, nothing)
    assert seen == ["lifespan"]
