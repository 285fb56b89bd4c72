"""The page under faults: whatever is cut, after it settles the rows are those of a fresh load."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from tests.e2e.conftest import Servers
from tests.e2e.faults import Restartable, Wire, wire_to
from tests.e2e.server import Server, running
from tests.e2e.talk import SCRIPTED, composer, item, log, provoked, rows, say, seed, settled, tolerated

LOST = "Connection lost. Reconnecting…"
WATCH_FOR_STRIP = """() => {
    window.strips = [];
    const strip = document.querySelector('[role=status]');
    new MutationObserver(() => strip.innerText && window.strips.push(strip.innerText))
        .observe(strip, {childList: true, subtree: true, characterData: true});
}"""


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def words(count: int) -> str:
    """What `slow count` answers."""
    return " ".join(f"word{index}" for index in range(count))


def answer(page: Page):
    return item(page, "message", role="assistant").last


async def watch_for_strip(page: Page) -> None:
    await expect(page.get_by_role("status")).to_have_text("")
    await page.evaluate(WATCH_FOR_STRIP)


async def equals_a_fresh_load(page: Page) -> None:
    """The rows are, item for item, those of a tab that is opened now."""
    await settled(page)
    shown = await rows(page)
    fresh = await page.context.new_page()
    await fresh.goto(page.url)
    await expect(log(fresh).locator("[data-item-id]")).to_have_count(len(shown))
    await settled(fresh)
    assert await rows(fresh) == shown
    await fresh.close()


async def history(server: Server, thread_id: str) -> list[dict[str, str]]:
    async with httpx.AsyncClient(base_url=server.api) as http:
        return (await http.get(f"/runs/{thread_id}/history")).raise_for_status().json()["messages"]


async def test_three_drops_in_one_run_lose_nothing_and_say_nothing(page: Page, servers: Servers) -> None:
    async with wire_to(servers(AGUI_AGENT=SCRIPTED)) as wire:
        await page.goto(f"{wire.url}/t/three-drops")
        await watch_for_strip(page)
        await say(page, "slow 50")
        for word in ("word5 ", "word15 ", "word25 "):
            await expect(answer(page)).to_contain_text(word)
            wire.cut()
        await settled(page)
        await expect(answer(page)).to_have_text(words(50))
        await equals_a_fresh_load(page)
        assert await page.evaluate("window.strips") == []


async def test_two_tabs_show_the_same_after_a_drop(page: Page, context: BrowserContext, servers: Servers) -> None:
    async with wire_to(servers(AGUI_AGENT=SCRIPTED)) as wire:
        await page.goto(f"{wire.url}/t/two-tabs")
        await say(page, "slow 30")
        other = await context.new_page()
        await other.goto(page.url)
        await expect(answer(other)).to_contain_text("word8 ")
        wire.cut()
        for tab in (page, other):
            await settled(tab)
            await expect(answer(tab)).to_have_text(words(30))
        assert await rows(page) == await rows(other)
        await equals_a_fresh_load(other)


async def test_another_thread_and_back_with_a_drop_in_each(page: Page, servers: Servers) -> None:
    async with wire_to(servers(AGUI_AGENT=SCRIPTED)) as wire:
        await page.goto(f"{wire.url}/t/drop-first")
        await say(page, "first of two")
        await settled(page)
        await page.goto(f"{wire.url}/t/drop-second")
        await say(page, "slow 40")
        await expect(answer(page)).to_contain_text("word3 ")
        await page.get_by_role("navigation").get_by_role("link", name="first of two").click()
        await expect(answer(page)).to_have_text("You said: first of two")
        wire.cut()
        await page.go_back()
        await expect(answer(page)).to_contain_text("word10 ")
        wire.cut()
        await settled(page)
        await expect(answer(page)).to_have_text(words(40))
        await equals_a_fresh_load(page)


async def test_a_reader_who_has_scrolled_back_stays_there_after_a_drop(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    seed(server, "scrolled", 298)
    async with wire_to(server) as wire:
        await page.goto(f"{wire.url}/t/scrolled")
        await expect(answer(page)).to_have_text("You said: hello there")
        for shown in (100, 150):
            await log(page).hover()
            await page.mouse.wheel(0, -100_000)
            await expect(log(page).locator("[data-item-id]")).to_have_count(shown)
        await page.mouse.wheel(0, 300)
        before = await rows(page)
        top = await log(page).evaluate("log => log.scrollTop")
        async with page.expect_websocket() as again:
            wire.cut()
        await (await again.value).wait_for_event("framereceived")
        async with httpx.AsyncClient(base_url=server.api) as http:
            body = {"threadId": "scrolled", "messages": [{"id": "new", "role": "user", "content": "something new"}]}
            (await http.post("/runs", json=body)).raise_for_status()
        await expect(answer(page)).to_have_text("You said: something new")
        await settled(page)
        assert (await rows(page))[:150] == before
        assert abs(await log(page).evaluate("log => log.scrollTop") - top) <= 2


async def test_a_strip_says_that_the_connection_is_lost_and_goes_when_it_is_back(
    page: Page, page_errors: list[str], servers: Servers
) -> None:
    async with wire_to(servers(AGUI_AGENT=SCRIPTED)) as wire:
        await page.goto(f"{wire.url}/t/strip")
        await say(page, "slow 60")
        await expect(answer(page)).to_contain_text("word5 ")
        strip = page.get_by_role("status")
        await expect(strip).to_have_text("")
        wire.close()
        await expect(strip).to_have_text(LOST)
        await expect(page.get_by_text("Cannot connect to server")).to_have_count(0)
        await wire.open()
        await expect(strip).to_have_text("")
        await settled(page)
        await expect(answer(page)).to_have_text(words(60))
        await equals_a_fresh_load(page)
    tolerated(page_errors, "net::ERR_CONNECTION_")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_a_server_that_ends_in_the_middle_of_a_run_and_comes_back_is_found_by_the_page(
    page: Page, page_errors: list[str], stack: ExitStack, tmp_path: Path, how: signal.Signals
) -> None:
    product = Restartable(stack, tmp_path, AGUI_AGENT=SCRIPTED)
    await page.goto(f"{product.server.url}/t/restarted")
    await say(page, "before")
    await settled(page)
    await say(page, "slow 300")
    await expect(answer(page)).to_contain_text("word5 ")
    await composer(page).fill("half typed")
    said = (await answer(page).inner_text()).strip()
    product.end(how)
    await expect(page.get_by_role("status")).to_have_text(LOST)
    await product.start()
    await expect(page.get_by_role("status")).to_have_text("")
    await expect(page.locator('[data-run-status="interrupted"]')).to_have_count(1)
    assert (await answer(page).inner_text()).startswith(said)
    await expect(composer(page)).to_have_value("half typed")
    await equals_a_fresh_load(page)
    await composer(page).press("Enter")
    await expect(answer(page)).to_have_text("You said: half typed")
    await equals_a_fresh_load(page)
    tolerated(page_errors, "net::ERR_CONNECTION_")


async def test_a_message_that_is_sent_without_a_connection_goes_out_once_when_it_is_back(
    page: Page, page_errors: list[str], servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    async with wire_to(server) as wire:
        await page.goto(f"{wire.url}/t/offline")
        await say(page, "first")
        await settled(page)
        wire.close()
        await composer(page).fill("without a connection")
        await composer(page).press("Enter")
        unsent = item(page, "message", pending="true")
        await expect(unsent).to_contain_text("Not sent yet: no connection")
        await expect(unsent.get_by_role("button", name="Try again")).to_be_visible()
        id = await unsent.get_attribute("data-item-id")
        await wire.open()
        await expect(answer(page)).to_have_text("You said: without a connection")
        await equals_a_fresh_load(page)
        stored = [message["id"] for message in await history(server, "offline") if message["role"] == "user"]
        assert len(stored) == 2
        assert stored[1] == id
    tolerated(page_errors, "net::ERR_CONNECTION_")


async def test_a_message_outlives_a_reload_without_a_connection_to_the_api(
    page: Page, page_errors: list[str], servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/reloaded")
    await page.route("**/api/v1/agent/runs", lambda route: route.abort())
    await say(page, "kept")
    await expect(item(page, "message", pending="true")).to_contain_text("Not sent yet")
    await page.reload()
    await expect(item(page, "message", pending="true")).to_contain_text("kept")
    await page.unroute("**/api/v1/agent/runs")
    await expect(answer(page)).to_have_text("You said: kept")
    await equals_a_fresh_load(page)
    provoked(page_errors, "ERR_FAILED")


async def test_a_message_whose_answer_was_lost_is_not_sent_twice(
    page: Page, page_errors: list[str], servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/answer-lost")
    posted: list[str] = []

    async def lose_the_first_answer(route: Route) -> None:
        posted.append(route.request.post_data or "")
        if len(posted) == 1:
            await route.fetch()
            await route.abort()
        else:
            await route.continue_()

    await page.route("**/api/v1/agent/runs", lose_the_first_answer)
    async with page.expect_response("**/api/v1/agent/runs") as answered:
        await say(page, "once")
    assert (await answered.value).status == 202
    await expect(answer(page)).to_have_text("You said: once")
    assert len(posted) == 2
    assert posted[0] == posted[1]
    assert [message["content"] for message in await history(server, "answer-lost")] == ["once", "You said: once"]
    await equals_a_fresh_load(page)
    provoked(page_errors, "ERR_FAILED")


async def test_twenty_thousand_pasted_lines_arrive_once_and_the_page_stays_live(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(f"{server.url}/t/pasted")
    text = "count\n" + "\n".join(f"line {index:05d} " + "x" * 64 for index in range(20_000))
    assert len(text) > 1_400_000
    await page.evaluate("text => navigator.clipboard.writeText(text)", text)
    await composer(page).click()
    await page.keyboard.press("Control+V")
    await page.keyboard.type("!")
    assert await composer(page).input_value() == f"{text}!"
    await page.keyboard.press("Enter")
    await expect(composer(page)).to_have_value("")
    await expect(answer(page)).to_have_text(f"{len(text) + 1} characters")
    await settled(page)
    stored = [message["content"] for message in await history(server, "pasted")]
    assert len(stored) == 2
    assert (stored[0] == f"{text}!", stored[1]) == (True, f"{len(text) + 1} characters")
    await say(page, "still there")
    await expect(answer(page)).to_have_text("You said: still there")
    await settled(page)
    assert [len(row["text"]) for row in await rows(page)] == [len(text) + 1, 18, 11, 21]


async def test_a_server_that_loses_its_api_says_so_and_a_closed_tab_leaves_no_stream_behind(
    page: Page, page_errors: list[str], stack: ExitStack, servers: Servers, tmp_path: Path
) -> None:
    api = stack.enter_context(running(tmp_path / "api", AGUI_AGENT=SCRIPTED))
    async with wire_to(api) as wire:
        front = stack.enter_context(running(tmp_path / "page", AGUI_API_URL=wire.url))
        async with httpx.AsyncClient(base_url=api.api) as http:
            body = {"threadId": "far", "messages": [{"id": "m", "role": "user", "content": "slow 60"}]}
            (await http.post("/runs", json=body)).raise_for_status()
        await page.goto(f"{front.url}/t/far")
        await expect(answer(page)).to_contain_text("word5 ")
        wire.close()
        strip = page.get_by_role("status")
        await expect(strip).to_have_text(LOST)
        await wire.open()
        await expect(strip).to_have_text("")
        await expect(answer(page)).to_have_text(words(60))
        await settled(page)
        assert wire.streams >= 1
        await page.goto("about:blank")
        await nothing_left(wire)


async def nothing_left(wire: Wire) -> None:
    """Wait until the page's server has closed its streams to the API."""
    async with asyncio.timeout(15):
        while wire.streams:
            await asyncio.sleep(0.05)
