"""Clients and readers of a server that dies, and what each wrote down of what it was told."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import httpx

from agui_app.client import AguiClient, ServerEvent
from agui_app.errors import NotFound
from tests.faults.truth import API, TERMINAL, Shown, frames

RETRY_S = 0.02
CANCELS = 0.1  # of the runs are cancelled by their client

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A run that the server said it has."""

    run_id: str
    message_id: str
    text: str


@dataclass
class Ledger:
    """One thread: what its client was acknowledged, and what its readers were shown."""

    thread: str
    http: httpx.AsyncClient
    acknowledged: list[Acknowledged] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    """By the reader that resumes by hand, across every life of the server."""
    followed: list[ServerEvent] = field(default_factory=list)
    """By our own client, likewise."""
    ended: int = 0
    """Runs whose terminal event was shown."""
    posted: asyncio.Event = field(default_factory=asyncio.Event)
    """A request is on its way."""
    may_post: asyncio.Event = field(default_factory=asyncio.Event)

    async def drive(self, rng: random.Random) -> None:
        """Starts a run, and another when it has ended. A request without an answer is sent again as it was."""
        while True:
            number = len(self.acknowledged)
            text = _wish(rng)
            run_id, message_id = f"{self.thread}.r{number}", f"{self.thread}.u{number}"
            message = {"id": message_id, "role": "user", "content": text}
            await self._post({"threadId": self.thread, "runId": run_id, "messages": [message]})
            self.acknowledged.append(Acknowledged(run_id, message_id, text))
            cancels = rng.random() < CANCELS
            while self.ended <= number:
                if cancels and rng.random() < 0.1:
                    await self._ask(f"/runs/{self.thread}/cancel", {"runId": run_id})
                await asyncio.sleep(RETRY_S / 4)

    async def _post(self, body: Obj) -> None:
        while True:
            await self.may_post.wait()
            self.posted.set()
            response = await self._ask("/runs", body)
            if response is not None and response.status_code == 202:
                return
            # A run that was just shown to have ended may be active for a moment, and a server that stops says so.
            assert response is None or response.status_code in (409, 503), response.text
            await asyncio.sleep(RETRY_S)

    async def _ask(self, path: str, body: Obj) -> httpx.Response | None:
        try:
            return await self.http.post(API + path, json=body)
        except httpx.TransportError:
            return None

    async def read(self) -> None:
        """Reads the thread and, when the connection ends, resumes after the last id that it was shown."""
        while True:
            after = self.shown[-1].id if self.shown else "0"
            try:
                async with aclosing(frames(self.http, self.thread, after=after)) as reading:
                    async for frame in reading:
                        self.shown.append(frame)
                        self.ended += frame.event["type"] in TERMINAL
            except (httpx.TransportError, httpx.HTTPStatusError):  # it is down, or the thread is not yet
                pass
            await asyncio.sleep(RETRY_S)

    async def follow(self, url: str) -> None:
        """Reads it with our own client, which resumes by itself."""

        async def soon(_: float) -> None:
            await asyncio.sleep(RETRY_S)

        async with AguiClient(url, sleep=soon) as client:
            while True:
                after = self.followed[-1].id if self.followed else "0"
                try:
                    async with aclosing(client.follow(self.thread, after=after)) as following:
                        async for event in following:
                            self.followed.append(event)
                except NotFound:  # not yet
                    await asyncio.sleep(RETRY_S)


def _wish(rng: random.Random) -> str:
    word = rng.choice(("talk", "talk", "book", "card", "mixed", "many"))
    most = {"talk": 80, "book": 3, "card": 3, "mixed": 30, "many": 30}[word]
    return f"{word} {rng.randint(1, most)} {rng.randrange(1_000_000)}"
