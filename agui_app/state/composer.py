"""The composer: sends what the reader typed, stops the run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import reflex as rx

from agui_app.errors import AguiError
from agui_app.protocol.ids import new_id
from agui_app.state import followers
from agui_app.state.backend import client
from agui_app.state.threads import Threads
from agui_app.state.transcript import THREAD_PATH, Transcript

MESSAGE_FIELD = "message"
ZONE_FIELD = "timezone"
LOCALE_FIELD = "locale"

Body = dict[str, Any]
"""A `RunAgentInput`, as `POST /runs` takes it."""


class Composer(rx.State):
    """What a reader does to a run. It has no vars: the text stays in the browser until it is sent."""

    _unsent: dict[str, Body] = {}
    """Message id -> the request that failed. Sent again as it was: the server knows the run by its id."""

    @rx.event(background=True)
    async def send(self, form: dict[str, Any]) -> AsyncIterator[Any]:
        """Start a run with the text of the form. Its row is shown at once and stays, marked, when sending fails."""
        text = str(form.get(MESSAGE_FIELD, ""))
        if not text.strip():
            return
        async with self:
            transcript = await self.get_state(Transcript)
            if transcript.running:
                return
            body = run_body(transcript.thread_id or new_id("thread"), text, form)
        async for event in self._start(body):
            yield event

    async def _start(self, body: Body) -> AsyncIterator[Any]:
        """Start the run of `body`; its row is shown at once and stays, marked, when that fails."""
        message = body["messages"][0]
        async with self:
            transcript = await self.get_state(Transcript)
            transcript.wait_for(message["id"], message["content"])
            tab, path = self.router.session.client_token, self.router.url.path
        try:
            await client().start_run(body)
        except AguiError as error:
            async with self:
                self._unsent = {**self._unsent, message["id"]: body}
                (await self.get_state(Transcript)).mark_unsent(message["id"], error.detail)
            return
        if followers.followed(tab) != body["threadId"]:
            here = path.startswith(THREAD_PATH)
            yield Transcript.open_thread if here else rx.redirect(f"{THREAD_PATH}{body['threadId']}", replace=True)
        yield Threads.refresh

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
            async with self:
                (await self.get_state(Transcript)).problem = error.detail

    @rx.event(background=True)
    async def send_again(self, message_id: str) -> AsyncIterator[Any]:
        """Send a message whose sending failed once more."""
        async with self:
            body = dict(self._unsent).get(message_id)
        if body:
            async for event in self._start(body):
                yield event


def run_body(thread_id: str, text: str, form: Mapping[str, Any]) -> Body:
    """The request that starts a run with `text`; zone and language of the reader travel with it."""
    props = {field: str(form[field]) for field in (ZONE_FIELD, LOCALE_FIELD) if form.get(field)}
    return {
        "threadId": thread_id,
        "runId": new_id("run"),
        "messages": [{"id": new_id("msg"), "role": "user", "content": text}],
        "forwardedProps": props,
    }
