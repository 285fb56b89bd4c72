"""The transcript: opens a thread, follows its events, scrolls back through its history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import anyio
import reflex as rx

from agui_app.client import ServerEvent, may_pass
from agui_app.conversation.history import from_page
from agui_app.conversation.items import rows
from agui_app.conversation.model import Conversation, Item, Role
from agui_app.conversation.reducer import reduce
from agui_app.errors import AguiError, NotFound
from agui_app.protocol.events import our_metadata, read_event
from agui_app.state import followers
from agui_app.state.assign import assign
from agui_app.state.backend import client
from agui_app.state.live_text import BLOCKS, EMPTY, Blocks, grow
from agui_app.state.rows import Row, View, page_rows, view

PAGE_LIMIT = 50
MAX_PAGE_LIMIT = 200  # the API's
LIVE_ROWS = 24  # with more than this at the end of a run the newest page is read anew: a long-lived tab stays small
BLOCK_NAMES = tuple(f"b{index:02d}" for index in range(BLOCKS))
THREAD_PATH = "/t/"
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)  # between two attempts to read a page; the last one again and again


class Live(rx.State):
    """The text of the row that grows, one var a block (see `live_text.py`); drawn by the hot row alone."""

    __annotations__ = dict.fromkeys(BLOCK_NAMES, str)
    vars().update(dict.fromkeys(BLOCK_NAMES, ""))


class Standing(rx.State):
    """How the page stands to its server."""

    opened: bool = False
    """The newest page of the thread was read, or there is none; drawn by the empty page."""
    cut_off: bool = False
    """The server cannot follow the thread at the moment; drawn by the strip."""
    gone: bool = False
    """The open thread was deleted; drawn in place of the composer."""


@dataclass(frozen=True, slots=True)
class Window:
    """What a follower knows: the conversation, and which of its rows are settled on the page already."""

    conversation: Conversation
    settled: frozenset[str] = frozenset()
    hot_id: str = ""
    blocks: Blocks = EMPTY
    shown: View | None = field(default=None)


def open_window(page: dict[str, Any]) -> tuple[Window, list[Row]]:
    """The window of a history page, and the rows that settle: all but those of the turn that is being answered."""
    conversation = from_page(page)
    settled = frozenset(item.id for item in _settled_items(conversation))
    drawn = [row for row in page_rows(conversation) if row["id"] in settled]
    return advance(Window(conversation, settled), ()), drawn


def _settled_items(conversation: Conversation) -> Sequence[Item]:
    """The items before the active run's; a run that answers anew has none, then those before its turn's message."""
    items, active = rows(conversation), conversation.active_run_id
    if active is None:
        return items
    if all(item.run_id != active for item in items):
        asked = [index for index, item in enumerate(items) if item.role == Role.USER]
        return items[: asked[-1]] if asked else items
    return [item for item in items if item.run_id != active]


def advance(window: Window, events: Sequence[ServerEvent]) -> Window:
    """The window after `events`."""
    conversation = window.conversation
    for received in events:
        conversation = reduce(conversation, read_event(received.event))
    shown = view(conversation, window.hot_id, skip=window.settled)
    blocks = grow(window.blocks, shown.hot_text) if shown.hot_id else window.blocks
    return replace(window, conversation=conversation, hot_id=shown.hot_id, blocks=blocks, shown=shown)


def first_run(page: Conversation) -> str:
    """The run that the first message of a page belongs to."""
    return (page.messages[0].run_id or "") if page.messages else ""


@dataclass(frozen=True, slots=True)
class Past:
    """What is before the newest page of a thread, as far as it was read."""

    rows: tuple[Row, ...]
    cursor: str
    """Of the page before; empty when there is none."""
    first_run: str
    """The run of the first message that was read: when it goes on in the page before, it is marked here."""
    has_more: bool

    @classmethod
    def before(cls, page: dict[str, Any]) -> Past:
        """Nothing yet of what is before `page`."""
        return cls((), page.get("nextCursor") or "", first_run(from_page(page)), bool(page["hasMore"]))

    def with_page(self, page: dict[str, Any]) -> Past:
        """With the page before it."""
        conversation = from_page(page)
        found = page_rows(conversation, newer_run=self.first_run)
        return Past((*found, *self.rows), page.get("nextCursor") or "", first_run(conversation), bool(page["hasMore"]))


class Transcript(rx.State):
    """The rows of the open thread."""

    thread_id: str = ""
    """The open thread; empty at `/` while there is none. Read by the composer and the thread list."""
    older: list[Row] = []
    """Rows that scrolling back brought; drawn by the log."""
    settled: list[Row] = []
    """Rows of the newest page as it was read; drawn by the log."""
    live: list[Row] = []
    """Rows of what came since; drawn by the log."""
    progress: list[Row] = []
    """Steps of the newest run; drawn by the progress list."""
    running: bool = False
    """A run is active; drawn by the composer."""
    retry_from: str = ""
    """The message whose answer ended badly and may be tried again; drawn by the mark of its turn."""
    has_more: bool = False
    """There are older messages; drawn by the log."""
    loading_older: bool = False
    """Older messages are on their way; drawn by the log."""
    problem: str = ""
    """Why the thread cannot be shown; drawn above the log."""
    _cursor: str = ""
    _first_run: str = ""

    @rx.event(background=True)
    async def open_newest(self) -> None:
        """Show the newest thread and follow it; with none yet, show the empty page."""
        async with self:
            tab = self.router.session.client_token
        thread_id = ""
        with followers.following(tab, "") as scope:
            try:
                threads = (await self._ask(lambda: client().threads(limit=1)))["threads"]
                thread_id = str(threads[0]["id"]) if threads else ""
            except AguiError as error:
                async with self:
                    self.problem = error.detail
                return
        if not scope.cancelled_caught:
            await self._open(tab, thread_id)

    @rx.event(background=True)
    async def open_thread(self) -> None:
        """Show the thread of the address and follow it until the tab leaves or closes."""
        async with self:
            tab, thread_id = self.router.session.client_token, thread_of(self.router.url.path)
        await self._open(tab, thread_id)

    async def _open(self, tab: str, thread_id: str) -> None:
        with followers.following(tab, thread_id):
            async with self:
                if self.thread_id != thread_id:
                    self.show_nothing(thread_id)
                await self._stand(gone=False, cut_off=False, opened=not thread_id)
            try:
                if thread_id:
                    await self._follow(thread_id)
            except NotFound:
                async with self:
                    was_there = bool(self.settled or self.live)
                    self.show_nothing(thread_id)
                    await self._stand(gone=was_there, opened=True)
            except AguiError as error:
                async with self:
                    self.problem = error.detail

    async def _follow(self, thread_id: str) -> None:
        """Read the newest page, then every event after it; again when the page can no longer be brought up to date."""
        while True:
            page = await self._ask(lambda: client().history(thread_id, limit=PAGE_LIMIT))
            past = await self._read_past(thread_id, page)
            window, settled = open_window(page)
            with anyio.CancelScope(shield=True):
                async with self:
                    assign(self, settled=settled, problem="", loading_older=False)
                    self._show_past(past)
                    await self._stand(opened=True)
                    await self._show(window, None)
            events = client().follow_batches(thread_id, page["lastEventId"], on_connection=self._connected)
            async with aclosing(events) as batches:
                async for batch in batches:
                    if any(outdates(received) for received in batch):
                        break
                    before, window = window, advance(window, batch)
                    with anyio.CancelScope(shield=True):
                        async with self:
                            await self._show(window, before)
                    if _too_long(window) and not self.older:
                        break
                else:
                    return

    async def _read_past(self, thread_id: str, page: dict[str, Any]) -> Past:
        """What is before a newest page: as many rows as the reader has scrolled back to, read anew."""
        async with self:
            wanted = len(self.older) if self.thread_id == thread_id else 0
        past = Past.before(page)
        while past.has_more and len(past.rows) < wanted:
            limit = min(wanted - len(past.rows), MAX_PAGE_LIMIT)
            before = past.cursor
            past = past.with_page(
                await self._ask(lambda before=before, limit=limit: client().history(thread_id, before, limit))
            )
        return past

    def _show_past(self, past: Past) -> None:
        assign(self, older=list(past.rows), has_more=past.has_more)
        self._cursor, self._first_run = past.cursor, past.first_run

    async def _ask(self, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """What the API answers; asked again, and the reader told, as long as what is wrong may pass.

        Raises: AguiError: a refusal.
        """
        pauses = iter(PAUSES_S)
        while True:
            try:
                answer = await ask()
            except AguiError as error:
                if not may_pass(error):
                    raise
            else:
                await self._connected(True)
                return answer
            await self._connected(False)
            await anyio.sleep(next(pauses, PAUSES_S[-1]))

    async def _connected(self, stands: bool) -> None:
        """Note whether the server can follow the thread."""
        with anyio.CancelScope(shield=True):
            async with self:
                await self._stand(cut_off=not stands)

    async def _stand(self, **values: bool) -> None:
        """Assign in `Standing`."""
        assign(await self.get_state(Standing), **values)

    def show_nothing(self, thread_id: str) -> None:
        """Empty the page of a thread."""
        assign(self, thread_id=thread_id, older=[], settled=[], live=[], progress=[], problem="")
        assign(self, has_more=False, loading_older=False, running=False, retry_from="")
        self._cursor = ""

    async def _show(self, window: Window, before: Window | None) -> None:
        """Assign what differs between `before` and `window`; each var only when it has to be sent."""
        shown, earlier = window.shown, before.shown if before else None
        assert shown is not None
        if earlier is None or shown.rows != earlier.rows:
            assign(self, live=list(shown.rows))
        if earlier is None or shown.progress != earlier.progress:
            assign(self, progress=list(shown.progress))
        assign(self, running=shown.running, retry_from=shown.retry_from)
        if before is None or window.blocks != before.blocks:
            assign(await self.get_state(Live), **dict(zip(BLOCK_NAMES, window.blocks, strict=True)))

    @rx.event(background=True)
    async def load_older(self) -> None:
        """Put the page before the oldest row on top."""
        async with self:
            cursor, thread_id = self._cursor, self.thread_id
            if not cursor or self.loading_older:
                return
            self.loading_older = True
        page: dict[str, Any] | None = None
        try:
            page = await client().history(thread_id, before=cursor, limit=PAGE_LIMIT)
        except AguiError:
            pass  # the next gesture asks again
        finally:
            with anyio.CancelScope(shield=True):
                async with self:
                    if self.thread_id == thread_id and self._cursor == cursor:
                        self.loading_older = False
                        if page is not None:
                            known = tuple(dict(row) for row in self.older)
                            self._show_past(Past(known, cursor, self._first_run, True).with_page(page))


def thread_of(path: str) -> str:
    """The thread that the address of a page names; none at `/`."""
    return unquote(path).removeprefix(THREAD_PATH).strip("/")


def outdates(received: ServerEvent) -> bool:
    """Whether the page has to be read anew: the server does not know our position, or an answer is replaced."""
    return received.page is not None or bool(our_metadata(read_event(received.event)).get("replaces"))


def _too_long(window: Window) -> bool:
    return window.shown is not None and not window.shown.running and len(window.shown.rows) > LIVE_ROWS
