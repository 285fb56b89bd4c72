"""What the socket may carry to the browser: a budget in bytes, not in seconds."""

from __future__ import annotations

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.e2e.conftest import Servers
from tests.e2e.server import Server
from tests.e2e.talk import SCRIPTED, Wire, item, log, run_bytes, say, seed, settled

EMPTY = "What shall I put in your calendar?"


async def bytes_of_a_turn(page: Page, server: Server, thread_id: str, said: str, shown: str = EMPTY) -> tuple[int, int]:
    """Bytes to the browser from the sending of `said` until its run has ended, and bytes of the run's SSE body."""
    wire = Wire()
    wire.listen(page)
    await page.goto(f"{server.url}/t/{thread_id}")
    await expect(log(page)).to_contain_text(shown)
    before = await item(page, "message", role="assistant").count()
    await settled(page)
    wire.frames.clear()
    await say(page, said)
    await expect(item(page, "message", role="assistant")).to_have_count(before + 1)
    await settled(page)
    carried = wire.bytes()
    newest = httpx.get(f"{server.api}/runs/{thread_id}/history").json()["runs"][-1]
    assert newest["status"] == "finished"
    return carried, run_bytes(server, thread_id, newest["runId"])


@pytest.mark.parametrize("said", ["fast 300", "burst 18000", "slow 30"])
async def test_a_streaming_answer_costs_at_most_twice_its_sse_body(page: Page, servers: Servers, said: str) -> None:
    carried, sse = await bytes_of_a_turn(page, servers(AGUI_AGENT=SCRIPTED), said.replace(" ", "-"), said)
    assert carried <= 2 * sse


async def test_a_long_answer_that_streams_costs_at_most_twice_its_sse_body(page: Page, servers: Servers) -> None:
    carried, sse = await bytes_of_a_turn(page, servers(AGUI_AGENT=SCRIPTED), "stream-long", "stream 18000")
    assert carried <= 2 * sse


async def test_a_message_costs_the_same_in_a_long_thread_as_in_a_short_one(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    seed(server, "seeded-20", 18)
    seed(server, "seeded-2000", 1998)
    short, _ = await bytes_of_a_turn(page, server, "seeded-20", "hello", "seeded message 17")
    long, _ = await bytes_of_a_turn(page, server, "seeded-2000", "hello", "seeded message 1997")
    assert abs(long - short) <= 200  # ids and times differ in length by a few bytes
