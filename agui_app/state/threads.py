"""The list of threads."""

from __future__ import annotations

from typing import Any

import reflex as rx

from agui_app.errors import AguiError
from agui_app.state.backend import client

LIST_LIMIT = 50

ThreadRow = dict[str, Any]
"""id, title, updatedAt."""


class Threads(rx.State):
    """The newest threads, for the navigation."""

    threads: list[ThreadRow] = []
    """Newest first; drawn by the navigation."""
    shown: bool = False
    """The navigation is open on a narrow screen; drawn by the shell."""

    @rx.event(background=True)
    async def refresh(self) -> None:
        """Read the list anew."""
        try:
            found = (await client().threads(limit=LIST_LIMIT))["threads"]
        except AguiError:
            return  # the list stays as it was; the transcript says what is wrong
        rows = [{key: thread.get(key) or "" for key in ("id", "title", "updatedAt")} for thread in found]
        async with self:
            if self.threads != rows:
                self.threads = rows

    @rx.event
    def toggle(self) -> None:
        """Open or close the navigation on a narrow screen."""
        self.shown = not self.shown

    @rx.event
    def close(self) -> None:
        """Close the navigation on a narrow screen."""
        self.shown = False
