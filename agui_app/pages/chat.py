"""`/` and `/t/{threadId}`: the chat."""

from __future__ import annotations

import reflex as rx

from agui_app.components.shell import shell
from agui_app.state.preferences import Preferences
from agui_app.state.threads import Threads
from agui_app.state.transcript import Transcript

THREAD_ROUTE = "/t/[thread]"


def add_chat(app: rx.App) -> None:
    """Add both routes."""
    app.add_page(
        shell, route="/", title="agui-app", on_load=[Preferences.detect, Transcript.open_newest, Threads.follow]
    )
    app.add_page(
        shell,
        route=THREAD_ROUTE,
        title="agui-app",
        on_load=[Preferences.detect, Transcript.open_thread, Threads.follow],
    )
