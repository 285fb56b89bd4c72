"""How Reflex builds and serves the page. What a person may set is in `agui_app.settings`."""

from __future__ import annotations

import reflex as rx

from agui_app.settings import settings

config = rx.Config(
    app_name="agui_app",
    frontend_port=settings().port,
    backend_host=settings().host,
    # Reflex's default is `*` with credentials, for the socket and for the API. With none, `agui_app.api.guard`
    # alone decides about origins; a list here would shut out the page's own.
    cors_allowed_origins=(),
    transport="websocket",
    # What a tab shows is in the database: nothing is lost with the process.
    state_manager_mode=rx.constants.StateManagerMode.MEMORY,
    telemetry_enabled=False,
    show_built_with_reflex=False,
    plugins=[rx.plugins.TailwindV4Plugin()],
    disable_plugins=[rx.plugins.SitemapPlugin],
)
