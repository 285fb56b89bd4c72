"""The list of threads: follows what changes, searches, renames, deletes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import reflex as rx

from agui_app.errors import AguiError, NotFound
from agui_app.state import followers
from agui_app.state.assign import assign
from agui_app.state.backend import client
from agui_app.state.thread_list import LIST_LIMIT, Line, ThreadRow, changed, drawn, read_line
from agui_app.state.transcript import Standing, Transcript, thread_of

AGAIN_AFTER_S = 5


class Threads(rx.State):
    """The newest threads, for the navigation."""

    threads: list[ThreadRow] = []
    """Newest first; drawn by the navigation."""
    found: list[ThreadRow] = []
    """What the search found; drawn by the navigation in place of `threads` while there is a `query`."""
    query: str = ""
    """What is searched for; read by the navigation."""
    renaming: str = ""
    """The thread whose title is being edited; drawn by its row."""
    deleting: ThreadRow = {}
    """The thread that is asked about before it is deleted; drawn by the dialog."""
    problem: str = ""
    """What could not be done to a thread; drawn above the list."""
    shown: bool = False
    """The navigation is open on a narrow screen; drawn by the shell."""

    _lines: list[Line] = []
    """What `threads` is drawn from."""
    _found_lines: list[Line] = []
    """What `found` is drawn from."""

    @rx.event(background=True)
    async def follow(self) -> None:
        """Read the list and keep it true until the tab closes."""
        async with self:
            tab = self.router.session.client_token
        if followers.follows_changes(tab):
            return
        with followers.following(tab, followers.CHANGES):
            while True:
                try:
                    await self._follow()
                except AguiError:
                    await anyio.sleep(AGAIN_AFTER_S)  # the list stays as it is; the transcript says what is wrong

    async def _follow(self) -> None:
        async with aclosing(client().changes()) as changes:
            async for change in changes:
                await self._take(change.event)

    async def _take(self, change: dict[str, Any]) -> None:
        async with self:
            lines = changed(_plain(self._lines), change)
            found = changed(_plain(self._found_lines), change, only_known=True)
            if lines is not None and found is not None:
                self._show(lines)
                self._show_found(found)
            if change.get("type") == "thread.deleted":
                await self._leave(change["thread"]["id"])
        if lines is None:
            await self._read()

    async def _leave(self, thread_id: str) -> None:
        """Say that the open thread is gone, when it is this one and the reader did not delete it here."""
        transcript = await self.get_state(Transcript)
        if transcript.thread_id == thread_id:
            followers.stop(self.router.session.client_token)
            transcript.show_nothing(thread_id)
            standing = await self.get_state(Standing)
            standing.gone = True

    async def _read(self) -> None:
        """Read the list anew, and what is searched for."""
        async with self:
            query = self.query
        lines = [read_line(line) for line in (await client().threads(limit=LIST_LIMIT))["threads"]]
        async with self:
            self._show(lines)
        if query:
            await self._search(query)

    async def _search(self, query: str) -> None:
        lines = [read_line(line) for line in (await client().threads(limit=LIST_LIMIT, q=query))["threads"]]
        async with self:
            if self.query == query:
                self._show_found(lines)

    @rx.event(background=True)
    async def search(self, text: str) -> None:
        """Show only threads that hold the text."""
        query = text.strip()
        async with self:
            assign(self, query=query, problem="")
        if not query:
            return
        try:
            await self._search(query)
        except AguiError as error:
            await self._tell(error)

    @rx.event
    def edit(self, thread_id: str) -> None:
        """Edit the title of a thread; of none: stop editing."""
        assign(self, renaming=thread_id, problem="")

    @rx.event(background=True)
    async def rename(self, thread_id: str, title: str) -> None:
        """Give a thread another title."""
        async with self:
            self.renaming = ""
            self._show(_titled(_plain(self._lines), thread_id, title))
            self._show_found(_titled(_plain(self._found_lines), thread_id, title))
        try:
            await client().rename_thread(thread_id, title)
        except AguiError as error:
            await self._tell(error)
            await self._read()

    @rx.event
    def ask(self, row: ThreadRow) -> None:
        """Ask whether to delete a thread; with no row: do not ask any more."""
        assign(self, deleting=dict(row), problem="")

    @rx.event(background=True)
    async def delete(self) -> AsyncIterator[Any]:
        """Delete the thread that was asked about; the page of a deleted thread becomes that of the newest."""
        async with self:
            thread_id = str(self.deleting.get("id", ""))
            self.deleting = {}
            is_open = (await self.get_state(Transcript)).thread_id == thread_id
            at_root = not thread_of(self.router.url.path)
            if is_open:
                followers.stop(self.router.session.client_token)
        try:
            await client().delete_thread(thread_id)
        except NotFound:
            pass  # another tab was first
        except AguiError as error:
            await self._tell(error)
            if is_open:
                yield Transcript.open_newest if at_root else Transcript.open_thread
            return
        if is_open:
            yield Transcript.open_newest if at_root else rx.redirect("/")

    @rx.event
    def toggle(self) -> None:
        """Open or close the navigation on a narrow screen."""
        self.shown = not self.shown

    @rx.event
    def close(self) -> None:
        """Close the navigation on a narrow screen."""
        self.shown = False

    async def _tell(self, error: AguiError) -> None:
        async with self:
            self.problem = error.detail

    def _show(self, lines: list[Line]) -> None:
        self._lines = lines
        assign(self, threads=drawn(lines))

    def _show_found(self, lines: list[Line]) -> None:
        self._found_lines = lines
        assign(self, found=drawn(lines))


def _plain(lines: list[Line]) -> list[Line]:
    """The lines as values of their own: what is read from a state is a proxy."""
    return [dict(line) for line in lines]


def _titled(lines: list[Line], thread_id: str, title: str) -> list[Line]:
    return [{**line, "title": title} if line["id"] == thread_id else line for line in lines]
