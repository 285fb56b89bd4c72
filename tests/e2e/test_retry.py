"""Retry: the newest turn is answered again, in every tab, and what was there before is gone."""

from __future__ import annotations

import httpx
from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import Servers
from tests.e2e.server import Server
from tests.e2e.talk import SCRIPTED, item, log, rows, say, settled


def retry(page: Page) -> Locator:
    return log(page).get_by_role("button", name="Retry")


async def shown(page: Page) -> list[tuple[str, str]]:
    return [(row["id"], row["text"]) for row in await rows(page)]


async def statuses(server: Server, thread_id: str) -> list[str]:
    async with httpx.AsyncClient(base_url=server.api) as http:
        page = (await http.get(f"/runs/{thread_id}/history")).raise_for_status().json()
    return [run["status"] for run in page["runs"] if not run.get("supersededBy")]


async def test_a_failed_turn_is_answered_again_in_every_tab(
    page: Page, context: BrowserContext, servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/retry-failed")
    await say(page, "before")
    await settled(page)
    kept = await rows(page)
    await say(page, "flaky")
    await expect(page.locator('[data-run-status="failed"]')).to_be_visible()
    settled_in_other, live_in_page = await context.new_page(), page
    await settled_in_other.goto(page.url)
    await expect(retry(settled_in_other)).to_be_visible()
    asked = (await rows(page))[2]
    await retry(live_in_page).focus()
    await page.keyboard.press("Enter")
    for tab in (live_in_page, settled_in_other):
        await expect(item(tab, "message", role="assistant").last).to_have_text("You said: flaky")
        await settled(tab)
        await expect(tab.locator("[data-run-status]")).to_have_count(0)
        assert (await rows(tab))[:3] == [*kept, asked]
        assert len(await rows(tab)) == 4
    assert await rows(live_in_page) == await rows(settled_in_other)
    before = await rows(page)
    await page.reload()
    await expect(item(page, "message", role="assistant").last).to_have_text("You said: flaky")
    assert await rows(page) == before
    assert await statuses(server, "retry-failed") == ["finished", "finished"]


async def test_only_the_newest_turn_offers_a_retry_and_none_while_a_run_is_active(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/retry-newest")
    await say(page, "slow 100")
    await expect(item(page, "message", role="assistant")).to_contain_text("word3 ")
    await page.get_by_role("button", name="Stop").click()
    await expect(retry(page)).to_have_count(1)
    await say(page, "slow 10")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await expect(retry(page)).to_have_count(0)
    await settled(page)
    await expect(page.locator('[data-run-status="cancelled"]')).to_contain_text("Stopped")
    await expect(retry(page)).to_have_count(0)
    await page.reload()
    await expect(page.locator('[data-run-status="cancelled"]')).to_contain_text("Stopped")
    await expect(retry(page)).to_have_count(0)


async def test_a_stopped_turn_is_answered_again_after_a_reload_and_two_clicks_answer_once(
    page: Page, servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/retry-stopped")
    await say(page, "slow 12")
    await expect(item(page, "message", role="assistant")).to_contain_text("word3 ")
    await page.get_by_role("button", name="Stop").click()
    await expect(retry(page)).to_be_visible()
    await page.reload()
    await retry(page).dblclick(delay=5)
    await expect(item(page, "message", role="assistant")).to_contain_text("word11")
    await settled(page)
    assert [text for _, text in await shown(page)] == ["slow 12", " ".join(f"word{index}" for index in range(12))]
    await expect(page.get_by_role("alert")).to_have_count(0)
    assert await statuses(server, "retry-stopped") == ["finished"]


async def test_a_retry_that_is_stopped_before_it_said_anything_can_be_tried_again(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/retry-silent")
    await say(page, "silent once")
    await page.get_by_role("button", name="Stop").click()
    await expect(retry(page)).to_be_visible()
    await retry(page).click()
    await page.get_by_role("button", name="Stop").click()
    await expect(retry(page)).to_be_visible()
    await settled(page)
    before = await rows(page)
    assert [row["text"].partition("\n")[0] for row in before] == ["silent once"]
    await page.reload()
    await expect(retry(page)).to_be_visible()
    assert await rows(page) == before
    await retry(page).click()
    await page.get_by_role("button", name="Stop").click()
    await settled(page)
    assert await shown(page) == [(row["id"], row["text"]) for row in before]
