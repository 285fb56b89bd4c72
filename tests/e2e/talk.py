"""What the browser tests do again and again: find things by role and name, read the rows, talk to the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx
from playwright.async_api import Locator, Page, WebSocket, expect

from tests.e2e.server import Server

SCRIPTED = "tests.e2e.agents:ScriptedAgent"

READ_ROWS = """log => [...log.querySelectorAll('[data-item-id]')].map(row => ({
    kind: row.dataset.itemKind, id: row.dataset.itemId, status: row.dataset.status, role: row.dataset.role ?? null,
    card: row.querySelector('[data-card-type]')?.dataset.cardType ?? null,
    text: [...row.querySelectorAll('[data-run-status] button')]
        .reduce((text, button) => text.replace(button.innerText, ''), row.innerText).trim()}))"""


def log(page: Page) -> Locator:
    return page.get_by_role("log", name="Conversation")


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


def item(page: Page, kind: str, **data: str) -> Locator:
    """Rows of a kind; `role="user"` and the like narrow it."""
    more = "".join(f'[data-{name}="{value}"]' for name, value in data.items())
    return log(page).locator(f'[data-item-kind="{kind}"]{more}')


async def rows(page: Page) -> list[dict[str, Any]]:
    """Every row of the log, in order."""
    return await log(page).evaluate(READ_ROWS)


async def say(page: Page, text: str) -> None:
    """Type and press Enter, as a reader does."""
    await composer(page).click()
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")
    await expect(item(page, "message", role="user").filter(has_text=text).last).to_be_visible()


async def settled(page: Page) -> None:
    """Wait until the server has every message and no run is active."""
    await expect(log(page).locator('[data-pending="true"]')).to_have_count(0)
    await expect(page.get_by_role("button", name="Send")).to_be_visible()
    await expect(log(page).locator('[data-status="streaming"]')).to_have_count(0)


def provoked(errors: list[str], complaint: str) -> None:
    """Takes what the test provoked out of the complaints of the page. There must be some."""
    left = [error for error in errors if complaint not in error]
    assert len(left) < len(errors), f"the page did not complain of {complaint!r}"
    errors[:] = left


def tolerated(errors: list[str], complaint: str) -> None:
    """Takes what the test may provoke, as a matter of time, out of the complaints of the page."""
    errors[:] = [error for error in errors if complaint not in error]


async def stages(page: Page) -> dict[str, str]:
    """Stage -> state, as the progress list shows it."""
    found = page.get_by_role("list", name="Progress").locator("[data-stage]")
    return await found.evaluate_all("all => Object.fromEntries(all.map(li => [li.dataset.stage, li.dataset.state]))")


def seed(server: Server, thread_id: str, count: int) -> None:
    """A thread of `count` short messages by turns, and one more turn after them."""
    roles = ("user", "assistant")
    messages = [{"id": f"seed{n}", "role": roles[n % 2], "content": f"seeded message {n}"} for n in range(count)]
    body = {"threadId": thread_id, "messages": [*messages, {"id": "last", "role": "user", "content": "hello there"}]}
    with httpx.Client(base_url=server.api, timeout=60) as http:
        started = http.post("/runs", json=body).raise_for_status().json()
        with http.stream("GET", f"/runs/{thread_id}/events", params={"runId": started["runId"]}) as events:
            for _ in events.iter_lines():
                pass


def run_bytes(server: Server, thread_id: str, run_id: str) -> int:
    """Bytes of the SSE body of a run, from its first event to its last."""
    with httpx.Client(base_url=server.api, timeout=60) as http:
        return len(http.get(f"/runs/{thread_id}/events", params={"runId": run_id}).raise_for_status().content)


@dataclass
class Wire:
    """What the page's socket carried to the browser."""

    frames: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("websocket", self._on_socket)

    def _on_socket(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: self.frames.append(str(payload)))

    def bytes(self) -> int:
        return sum(len(frame.encode()) for frame in self.frames)
