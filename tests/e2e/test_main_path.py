"""The main job: type a sentence, watch a run, see a card, come back to it."""

from __future__ import annotations

import re
import shutil

import httpx
from playwright.async_api import BrowserContext, Page, expect

from tests.e2e.conftest import Servers
from tests.e2e.server import Server
from tests.e2e.talk import SCRIPTED, composer, item, log, rows, say, seed, settled, stages

DONE = {"intent": "done", "execution": "done", "report": "done"}


async def test_a_sentence_becomes_an_event_with_its_card_and_a_reload_shows_the_same(
    page: Page, server: Server
) -> None:
    await page.goto(f"{server.url}/t/bank")
    await say(page, "remind me to call the bank tomorrow at 3pm")
    await expect(item(page, "message", role="user")).to_have_text("remind me to call the bank tomorrow at 3pm")
    result = item(page, "toolResult", status="completed")
    await expect(result.locator('[data-card-type="calendar_card.v1"]')).to_contain_text("call the bank")
    await expect(result.locator('[data-card-type="calendar_card.v1"]')).to_contain_text("15:00")
    await expect(result.get_by_label("Arguments")).to_contain_text("startAt", use_inner_text=False)
    await settled(page)
    assert await stages(page) == DONE
    before = await rows(page)
    assert [(row["kind"], row["role"], row["card"]) for row in before] == [
        ("message", "user", None),
        ("toolResult", None, "calendar_card.v1"),
        ("message", "assistant", None),
    ]
    await page.reload()
    await expect(item(page, "message", role="assistant")).to_be_visible()
    assert await rows(page) == before
    assert await stages(page) == DONE


async def test_a_chinese_sentence_is_understood(page: Page, server: Server) -> None:
    await page.goto(f"{server.url}/t/chinese")
    await say(page, "明天上午10点提醒我开会")
    card = item(page, "toolResult").locator('[data-card-type="calendar_card.v1"]')
    await expect(card).to_contain_text("开会")
    await expect(card).to_contain_text("10:00")
    await settled(page)


async def test_a_call_that_fails_is_told_by_an_error_card(page: Page, server: Server) -> None:
    await page.goto(f"{server.url}/t/failing")
    await say(page, '#tool:create_calendar_event {"title": "test"}')
    card = item(page, "toolResult", status="error").locator('[data-card-type="error_card.v1"]')
    await expect(card).to_contain_text("startAt")
    await settled(page)


async def test_an_unknown_card_is_drawn_by_the_fallback(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/unknown")
    await say(page, "unknown")
    fallback = item(page, "toolResult").locator('[data-card-type="weather_card.v7"][data-card-fallback="true"]')
    await expect(fallback).to_contain_text("degrees")
    await settled(page)
    before = await rows(page)
    await page.reload()
    await expect(fallback).to_contain_text("21")
    assert await rows(page) == before


async def test_arguments_are_shown_while_they_come(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/arguments")
    await say(page, "card")
    await expect(item(page, "toolCall").get_by_label("Arguments")).to_have_text('{"title": "Product')
    await expect(item(page, "toolResult").locator('[data-card-type="calendar_card.v1"]')).to_contain_text("Room A")
    await settled(page)


async def test_a_reload_in_the_middle_of_a_slow_answer_loses_nothing(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/slow")
    await say(page, "slow 60")
    answer = item(page, "message", role="assistant")
    await expect(answer).to_contain_text("word5 ")
    first = len(await answer.inner_text())
    await expect(answer).to_contain_text("word12 ")
    assert len(await answer.inner_text()) > first
    assert await stages(page) == {"intent": "done", "execution": "pending", "report": "active"}
    await page.reload()
    await expect(answer).to_contain_text("word12 ")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    again = len(await answer.inner_text())
    await expect(answer).to_contain_text("word40 ")
    assert len(await answer.inner_text()) > again
    await settled(page)
    whole = " ".join(f"word{index}" for index in range(60))
    await expect(answer).to_have_count(1)
    assert (await answer.inner_text()).strip() == whole
    assert await stages(page) == {"intent": "done", "execution": "pending", "report": "done"}
    await page.reload()
    await expect(answer).to_contain_text("word59")
    assert [row["text"] for row in await rows(page)] == ["slow 60", whole]


async def test_another_thread_and_back_in_the_middle_of_a_run(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/elsewhere")
    await say(page, "hello")
    await settled(page)
    await page.goto(f"{server.url}/t/away")
    await say(page, "slow 40")
    await expect(item(page, "message", role="assistant")).to_contain_text("word3 ")
    await page.get_by_role("navigation", name="Conversations").get_by_role("link", name="hello", exact=True).click()
    await expect(item(page, "message", role="assistant")).to_have_text("You said: hello")
    await page.go_back()
    await expect(item(page, "message", role="assistant")).to_contain_text("word10 ")
    await settled(page)
    assert [row["text"] for row in await rows(page)] == ["slow 40", " ".join(f"word{n}" for n in range(40))]


async def test_scrolling_back_counts_each_message_once(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    seed(server, "long", 298)
    pages: list[str] = []
    page.on("request", lambda request: pages.append(request.url))
    await page.goto(f"{server.url}/t/long")
    await expect(log(page).get_by_text("You said: hello there")).to_be_visible()
    assert len(await rows(page)) == 50
    for shown in range(100, 301, 50):
        await log(page).hover()
        await page.mouse.wheel(0, -100_000)
        await expect(log(page).locator("[data-item-id]")).to_have_count(shown)
    found = [row["text"] for row in await rows(page)]
    assert found == [*(f"seeded message {n}" for n in range(298)), "hello there", "You said: hello there"]
    await expect(log(page).get_by_text("The beginning of the conversation")).to_be_visible()


async def test_stop_ends_the_run_and_keeps_what_was_said(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/stopped")
    await say(page, "slow 300")
    answer = item(page, "message", role="assistant")
    await expect(answer).to_contain_text("word3 ")
    await page.get_by_role("button", name="Stop").click()
    await expect(answer).to_have_attribute("data-status", "interrupted")
    await settled(page)
    assert await stages(page) == {"intent": "done", "execution": "pending", "report": "stopped"}
    await expect(page.locator('[data-run-status="cancelled"]')).to_contain_text("Stopped")
    said = await rows(page)
    await say(page, "and now")
    await expect(answer.last).to_have_text("You said: and now")
    await settled(page)
    assert (await rows(page))[: len(said)] == said
    run = httpx.get(f"{server.api}/runs/stopped/history").json()["runs"][0]
    assert run["status"] == "cancelled"


async def test_a_second_tab_shows_what_was_typed_in_the_first(
    page: Page, context: BrowserContext, servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/tabs")
    await say(page, "first")
    await settled(page)
    other = await context.new_page()
    await other.goto(page.url)
    await expect(item(other, "message", role="assistant")).to_have_text("You said: first")
    await say(page, "slow 20")
    await expect(item(other, "message", role="user").last).to_have_text("slow 20")
    await expect(item(other, "message", role="assistant").last).to_contain_text("word5 ")
    await settled(page)
    await settled(other)
    assert await rows(other) == await rows(page)


async def test_enter_during_a_run_keeps_the_text_and_shift_enter_breaks_the_line(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/typing")
    await say(page, "slow 25")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await composer(page).click()
    await page.keyboard.type("one")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("two")
    await page.keyboard.press("Enter")
    await expect(composer(page)).to_have_value("one\ntwo")
    await settled(page)
    await expect(composer(page)).to_have_value("one\ntwo")
    await composer(page).press("Enter")
    await expect(item(page, "message", role="user").last).to_have_text("one\ntwo", use_inner_text=True)
    await settled(page)
    await expect(item(page, "message", role="user")).to_have_count(2)


async def test_two_quick_clicks_send_one_message(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/clicks")
    await composer(page).fill("once")
    await page.get_by_role("button", name="Send").dblclick(delay=5)
    await settled(page)
    await expect(item(page, "message", role="user")).to_have_count(1)


async def test_a_payload_that_is_gone_leaves_the_summary(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT="rules", AGUI_RULES_TOKEN_DELAY_S="0")
    await page.goto(f"{server.url}/t/payload")
    await say(page, "remind me to water the plants tomorrow at 9am")
    await expect(item(page, "toolResult").locator("[data-card-type]")).to_be_visible()
    await settled(page)
    shutil.rmtree(server.data_dir / "payloads")
    await page.reload()
    row = item(page, "toolResult", status="completed")
    await expect(row).to_contain_text("Created event: water the plants")
    await expect(row).to_contain_text("The full result is not available")
    await expect(row.locator("[data-card-type]")).to_have_count(0)


async def test_the_root_is_the_newest_thread(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED, AGUI_KEEPALIVE_S="14")
    await page.goto(server.url)
    await expect(page.get_by_role("heading", name="What shall I put in your calendar?")).to_be_visible()
    await say(page, "hello")
    await expect(item(page, "message", role="assistant")).to_have_text("You said: hello")
    await settled(page)
    await expect(page).to_have_url(re.compile(r"/t/[A-Za-z0-9_]+$"))
    await page.goto(server.url)
    await expect(item(page, "message", role="assistant")).to_have_text("You said: hello")
    await say(page, "again")
    await expect(item(page, "message", role="assistant").last).to_have_text("You said: again")
    await expect(page).to_have_url(f"{server.url}/")


async def test_what_was_typed_before_the_page_became_a_threads_page_is_kept(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED, AGUI_KEEPALIVE_S="13")
    await page.goto(server.url)
    await expect(page.get_by_role("heading", name="What shall I put in your calendar?")).to_be_visible()
    await say(page, "slow 10")
    await page.keyboard.type("typed ahead")
    await expect(page).to_have_url(re.compile(r"/t/[A-Za-z0-9_]+$"))
    await expect(composer(page)).to_have_value("typed ahead")
    await page.reload()
    await expect(composer(page)).to_have_value("typed ahead")
