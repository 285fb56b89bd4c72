"""Who may call: the outermost wrapper over page, socket and API.

Loopback is not a wall, since every web site that the reader visits can reach it. A request for a host name that is
not ours (DNS rebinding) or from another page's origin gets nothing from any route, whatever its method.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agui_app.api.problems import problem_response
from agui_app.errors import AguiError, ForeignOrigin, MisdirectedRequest
from agui_app.settings import LOOPBACK_HOSTS, Settings, is_loopback

API_PREFIX = "/api/"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?")
_ORIGIN = re.compile(r"(https?)://" + _HOST.pattern)
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_CORS_METHODS = "GET, POST, PATCH, DELETE"
_CORS_REQUEST_HEADERS = "Accept, Cache-Control, Content-Type, If-Match, Last-Event-ID"
_CORS_RESPONSE_HEADERS = "ETag, Location, Retry-After"
_PREFLIGHT_MAX_AGE_S = "600"
_SAFETY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Guard:
    """`app`, for its own page and for the origins and hosts that the settings allow."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        own = (settings.host,) if is_loopback(settings.host) else ()
        self._hosts = frozenset(_host_names((*LOOPBACK_HOSTS, *own, *settings.allowed_hosts)))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in settings.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(refusal, scope, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._serve(scope, headers, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> AguiError | None:
        hosts = headers.getlist("host")
        parsed = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if parsed is None or parsed[1] not in self._hosts:
            return MisdirectedRequest(
                f"this server does not answer to the host {', '.join(hosts)!r}; name it in AGUI_ALLOWED_HOSTS"
            )
        origins = headers.getlist("origin")
        if not origins:
            return _cross_site(scope, headers)
        if len(origins) == 1 and (origins[0].lower() in self._origins or _is_own(origins[0].lower(), parsed)):
            return None
        return ForeignOrigin(
            f"the origin {', '.join(origins)!r} is neither this server's nor named in AGUI_ALLOWED_ORIGINS"
        )

    async def _serve(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        cors = self._cors_headers(scope, headers)
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers and len(cors) > 1:
            await _answer_preflight(cors, send)
            return

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                _set_headers(MutableHeaders(scope=message), cors)
            await send(message)

        await self._app(scope, receive, guarded_send)

    def _cors_headers(self, scope: Scope, headers: Headers) -> dict[str, str]:
        if not self._origins or not str(scope["path"]).startswith(API_PREFIX):
            return {}
        origin = headers.get("origin", "")
        if origin.lower() not in self._origins:
            return {"vary": "Origin"}
        return {
            "vary": "Origin",
            "access-control-allow-origin": origin,
            "access-control-expose-headers": _CORS_RESPONSE_HEADERS,
        }


def _host_names(entries: Iterable[str]) -> Iterable[str]:
    for entry in entries:
        host = f"[{entry}]" if entry.count(":") > 1 and not entry.startswith("[") else entry
        parsed = _HOST.fullmatch(host.lower())
        if parsed:
            yield parsed[1]


def _is_own(origin: str, host: re.Match[str]) -> bool:
    """Whether `origin` is the page of this host; the scheme is left out, as a TLS proxy may stand before us."""
    parsed = _ORIGIN.fullmatch(origin)
    if parsed is None or parsed[2] != host[1]:
        return False
    default = _DEFAULT_PORTS[parsed[1]]
    return (parsed[3] or default) == (host[2] or default)


def _cross_site(scope: Scope, headers: Headers) -> ForeignOrigin | None:
    """A browser that sends no Origin still tells with `Sec-Fetch-Site` that another site made the request."""
    foreign = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    if not foreign or (scope["type"] == "http" and scope["method"] in SAFE_METHODS):
        return None
    return ForeignOrigin("another site's page made this request (Sec-Fetch-Site)")


async def _refuse(error: AguiError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})  # before the handshake is accepted: answered with 403
        return
    response = problem_response(error)
    response.headers.update(_SAFETY_HEADERS)
    await response(scope, receive, send)


async def _answer_preflight(cors: dict[str, str], send: Send) -> None:
    headers = MutableHeaders(
        {
            **cors,
            "access-control-allow-methods": _CORS_METHODS,
            "access-control-allow-headers": _CORS_REQUEST_HEADERS,
            "access-control-max-age": _PREFLIGHT_MAX_AGE_S,
            **_SAFETY_HEADERS,
        }
    )
    await send({"type": "http.response.start", "status": 204, "headers": headers.raw})
    await send({"type": "http.response.body", "body": b""})


def _set_headers(headers: MutableHeaders, cors: dict[str, str]) -> None:
    """Our word on CORS in place of what inner layers said (Reflex allows every origin, with credentials)."""
    for name in {name for name in headers if name.startswith("access-control-")}:
        del headers[name]
    headers.update(_SAFETY_HEADERS)
    for name, value in cors.items():
        if name != "vary":
            headers[name] = value
        elif value.lower() not in headers.get("vary", "").lower():
            headers.add_vary_header(value)
