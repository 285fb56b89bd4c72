"""The page around the main job: what cannot be sent, the empty page, the list of threads, the phone, Chinese."""

from __future__ import annotations

import re

from playwright.async_api import Browser, Page, expect

from tests.e2e.conftest import Servers
from tests.e2e.server import Server
from tests.e2e.talk import SCRIPTED, composer, item, log, provoked, rows, say, settled


async def test_a_message_that_cannot_be_sent_stays_with_its_reason(
    page: Page, page_errors: list[str], servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED, AGUI_MAX_BODY_BYTES="1000")
    await page.goto(f"{server.url}/t/large")
    await composer(page).fill("x" * 2_000)
    await composer(page).press("Enter")
    unsent = log(page).get_by_role("alert")
    await expect(unsent).to_contain_text("Not sent")
    await expect(unsent).to_contain_text("1000")
    await unsent.get_by_role("button", name="Try again").click()
    await expect(unsent).to_contain_text("Not sent")
    await say(page, "short")
    await expect(item(page, "message", role="assistant")).to_have_text("You said: short")
    assert [row["text"][:5] for row in await rows(page) if row["role"] == "user"] == ["short", "xxxxx"]
    provoked(page_errors, "status of 413")


async def test_a_suggestion_is_sent_with_a_click(page: Page, server: Server) -> None:
    await page.goto(f"{server.url}/t/suggested")
    await page.get_by_role("button", name="remind me to call the bank tomorrow at 3pm", exact=True).click()
    await expect(item(page, "toolResult").locator('[data-card-type="calendar_card.v1"]')).to_contain_text(
        "Europe/Berlin"
    )
    await settled(page)
    await expect(page.get_by_role("heading", name="What shall I put in your calendar?")).to_have_count(0)


async def test_a_new_conversation_begins_empty_and_the_list_leads_back(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/listed")
    await say(page, "find me again")
    await settled(page)
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.get_by_role("heading", name="What shall I put in your calendar?")).to_be_visible()
    await say(page, "second one")
    await expect(item(page, "message", role="assistant")).to_have_text("You said: second one")
    link = page.get_by_role("navigation", name="Conversations").get_by_role("link", name="find me again")
    await link.click()
    await expect(page).to_have_url(re.compile("/t/listed$"))
    await expect(item(page, "message", role="assistant")).to_have_text("You said: find me again")
    await expect(link).to_have_attribute("aria-current", "page")


async def test_an_input_methods_enter_sends_nothing(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/ime")
    await composer(page).click()
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Input.imeSetComposition", {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    await composer(page).dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True})
    await expect(composer(page)).to_have_value("ni")
    await devtools.send("Input.insertText", {"text": "你好"})
    await expect(composer(page)).to_have_value("你好")
    await composer(page).press("Enter")
    await expect(item(page, "message", role="user")).to_have_text("你好")
    await settled(page)


async def test_markup_in_a_message_stays_text(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/markup")
    said = "<img src=x onerror=document.title='run'><style>*{display:none}</style>"
    await composer(page).fill(said)
    await composer(page).press("Enter")
    await expect(item(page, "message", role="assistant")).to_have_text(f"You said: {said}")
    assert await page.title() == "agui-app"
    await expect(log(page).locator("img, style")).to_have_count(0)


async def test_on_a_phone_the_list_is_a_drawer_and_the_page_is_chinese(browser: Browser, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    context = await browser.new_context(viewport={"width": 390, "height": 844}, locale="zh-CN")
    page = await context.new_page()
    await page.goto(f"{server.url}/t/phone")
    await page.get_by_role("textbox", name="消息").fill("手机")
    await page.get_by_role("button", name="发送").click()
    await expect(page.get_by_role("log", name="对话")).to_contain_text("You said: 手机")
    drawer = page.get_by_role("navigation", name="会话")
    await expect(drawer).to_be_hidden()
    await page.get_by_role("button", name="显示会话列表").click()
    await expect(drawer.get_by_role("link", name="手机")).to_be_visible()
    await page.get_by_role("button", name="关闭").click()
    await expect(drawer).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await context.close()


async def test_a_draft_stays_with_the_thread_it_was_typed_for(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    for thread_id in ("drafts-a", "drafts-b"):
        await page.goto(f"{server.url}/t/{thread_id}")
        await say(page, f"this is {thread_id}")
        await settled(page)
    await composer(page).fill("for b")
    links = page.get_by_role("navigation", name="Conversations")
    await links.get_by_role("link", name="this is drafts-a").click()
    await expect(item(page, "message", role="user")).to_have_text("this is drafts-a")
    await expect(composer(page)).to_have_value("")
    await composer(page).fill("for a")
    await page.go_back()
    await expect(item(page, "message", role="user")).to_have_text("this is drafts-b")
    await expect(composer(page)).to_have_value("for b")
