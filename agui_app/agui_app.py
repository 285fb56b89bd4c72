"""The composition root: one application of page, socket and API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import reflex as rx
from starlette.types import ASGIApp

from agui_app.api.app import create_api
from agui_app.api.guard import Guard
from agui_app.client import IN_PROCESS_URL, AguiClient, AsgiTransport
from agui_app.pages.chat import add_chat
from agui_app.services import Services, open_services
from agui_app.settings import settings
from agui_app.state import followers
from agui_app.state.backend import use_client

PING_EVERY_S = 10  # the socket; Reflex waits for two minutes before it takes a silent one for dead
PONG_WITHIN_S = 15

_services: list[Services] = []


def current_services() -> Services:
    """The services of the running application.

    Raises: IndexError: before the application has started.
    """
    return _services[-1]


api = create_api(current_services, settings())


@asynccontextmanager
async def serve_services() -> AsyncGenerator[None]:
    """Open the services for as long as the application runs, and give the page its client."""
    url = settings().api_url
    async with open_services(settings()) as services:
        _services.append(services)
        client = AguiClient(url) if url else AguiClient(IN_PROCESS_URL, transport=AsgiTransport(api))
        use_client(client)
        try:
            yield
        finally:
            followers.stop_all()
            await client.aclose()
            _services.remove(services)


class AguiApp(rx.App):
    """The Reflex application behind the guard: page, static files, socket and API alike."""

    def __post_init__(self) -> None:
        """Let a tab that closes take its follower with it, and a dead socket be noticed; the page itself says so."""
        super().__post_init__()
        self.app_wraps = {place: wrap for place, wrap in self.app_wraps.items() if place[1] != "Overlay"}
        if self.sio is not None:
            transport = cast(Any, self.sio).eio
            transport.ping_interval, transport.ping_timeout = PING_EVERY_S, PONG_WITHIN_S
        namespace = self.event_namespace
        if namespace is None:
            return
        disconnect = cast(Callable[[str], Any], namespace.on_disconnect)  # pyright: ignore[reportUnknownMemberType]
        followers.use_presence(lambda tab: tab in namespace.token_to_sid)

        def on_disconnect(sid: str) -> Any:
            tab = namespace.sid_to_token.get(sid)
            forgetting = disconnect(sid)
            if tab and forgetting:
                followers.leave(tab)
                forgetting.add_done_callback(partial(leave_if_closed, tab))
            return forgetting

        def leave_if_closed(tab: str, _: object) -> None:
            if tab not in namespace.token_to_sid:
                followers.leave(tab)  # what started while the socket was on its way out

        namespace.on_disconnect = on_disconnect

    def __call__(self) -> ASGIApp:
        """The ASGI application."""
        return Guard(super().__call__(), settings())


app = AguiApp(api_transformer=api)
app.register_lifespan_task(serve_services)  # pyright: ignore[reportUnknownMemberType]
add_chat(app)
