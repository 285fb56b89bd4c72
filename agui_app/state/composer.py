"""What a reader does to a run: see the one that a message started, stop it, have the newest turn answered again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import reflex as rx

from agui_app.errors import AguiError, RunActive
from agui_app.protocol.ids import new_id
from agui_app.state import followers
from agui_app.state.backend import client
from agui_app.state.transcript import THREAD_PATH, Transcript, thread_of

Body = dict[str, Any]
"""A `RunAgentInput`, as `POST /runs` takes it."""


class Composer(rx.State):
    """It has no vars: a text stays in the browser until the server has it, which `assets/outbox.js` sees to."""

    @rx.event(background=True)
    async def sent(self, thread_id: str) -> AsyncIterator[Any]:
        """Follow the thread that has taken a message, unless the tab does already."""
        async with self:
            tab, path = self.router.session.client_token, self.router.url.path
            open_thread = (await self.get_state(Transcript)).thread_id
        if followers.followed(tab) == thread_id:
            return
        if thread_of(path) == thread_id:
            yield Transcript.open_thread
        elif not thread_of(path) and not open_thread:
            yield rx.redirect(f"{THREAD_PATH}{thread_id}", replace=True)

    @rx.event
    def new_thread(self) -> Any:
        """Go to a thread that has no message yet."""
        return rx.redirect(f"{THREAD_PATH}{new_id('thread')}")

    @rx.event(background=True)
    async def stop(self) -> None:
        """Cancel the active run of the open thread; what was said is kept."""
        async with self:
            thread_id = (await self.get_state(Transcript)).thread_id
        try:
            await client().cancel(thread_id)
        except AguiError as error:
            await self._tell(error)

    @rx.event(background=True)
    async def retry(self, message_id: str, timezone: str, locale: str) -> None:
        """Let the newest turn, which begins with that message, be answered again."""
        async with self:
            transcript = await self.get_state(Transcript)
            if transcript.running:
                return
            thread_id = transcript.thread_id
        try:
            await client().start_run(retry_body(thread_id, message_id, timezone, locale))
        except RunActive:
            return  # the second of two clicks: the run of the first is active
        except AguiError as error:
            await self._tell(error)

    async def _tell(self, error: AguiError) -> None:
        async with self:
            (await self.get_state(Transcript)).problem = error.detail


def retry_body(thread_id: str, message_id: str, timezone: str, locale: str) -> Body:
    """The request that replaces everything after a message by a new answer."""
    return {
        "threadId": thread_id,
        "runId": new_id("run"),
        "messages": [],
        "forwardedProps": {"replaceFrom": message_id, "timezone": timezone, "locale": locale},
    }
