"""The list of threads: every tab shows what there is, finds, renames and deletes."""

from __future__ import annotations

import re

import httpx
from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import Servers
from tests.e2e.server import Server
from tests.e2e.talk import SCRIPTED, Wire, composer, item, say, settled


def links(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Conversations").get_by_role("link")


async def choose(page: Page, title: str, what: str) -> None:
    """Take `what` from the menu of the thread `title`."""
    await page.get_by_role("link", name=title, exact=True).hover()
    await page.get_by_role("button", name=f"More about {title}", exact=True).click()
    await page.get_by_role("button", name=what, exact=True).filter(visible=True).click()


async def begin(server: Server, thread_id: str, text: str) -> None:
    """A thread with one turn, begun by another program."""
    async with httpx.AsyncClient(base_url=server.api) as http:
        body = {"threadId": thread_id, "messages": [{"id": f"{thread_id}.1", "role": "user", "content": text}]}
        run = (await http.post("/runs", json=body)).raise_for_status().json()
        await http.get(f"/runs/{thread_id}/events", params={"runId": run["runId"]})


async def test_threads_that_others_begin_rename_and_delete_show_in_every_tab(
    page: Page, context: BrowserContext, servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED, AGUI_KEEPALIVE_S="12")
    other = await context.new_page()
    for tab, thread_id in ((page, "mine"), (other, "others")):
        await tab.goto(f"{server.url}/t/{thread_id}")
        await say(tab, f"this is {thread_id}")
        await settled(tab)
    await begin(server, "third", "begun by a program")
    for tab in (page, other):
        await expect(links(tab)).to_have_text(["begun by a program", "this is others", "this is mine"])
    await say(page, "to the top")
    for tab in (page, other):
        await expect(links(tab)).to_have_text(["this is mine", "begun by a program", "this is others"])
    await choose(page, "begun by a program", "Rename")
    field = page.get_by_role("textbox", name="Title")
    await expect(field).to_be_focused()
    await field.fill("renamed")
    await field.dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True})
    await expect(field).to_be_visible()
    await field.press("Enter")
    for tab in (page, other):
        await expect(links(tab)).to_have_text(["this is mine", "renamed", "this is others"])
    await choose(page, "renamed", "Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    for tab in (page, other):
        await expect(links(tab)).to_have_text(["this is mine", "this is others"])
    await page.reload()
    await expect(links(page)).to_have_text(["this is mine", "this is others"])


async def test_escape_keeps_the_title_and_keeps_the_thread(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    await page.goto(f"{server.url}/t/kept")
    await say(page, "the title stays")
    await settled(page)
    await choose(page, "the title stays", "Rename")
    field = page.get_by_role("textbox", name="Title")
    await field.fill("not this")
    await field.press("Escape")
    await expect(page.get_by_role("link", name="the title stays")).to_be_visible()
    await choose(page, "the title stays", "Delete")
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await page.reload()
    await expect(page.get_by_role("link", name="the title stays")).to_be_visible()
    await expect(page.get_by_role("link", name="not this")).to_have_count(0)


async def test_the_list_is_searched_by_title_and_by_text(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED, AGUI_KEEPALIVE_S="11")
    await begin(server, "haystack", "hay")
    await begin(server, "needle", "a Needle")
    await page.goto(f"{server.url}/t/haystack")
    await expect(links(page)).to_have_text(["a Needle", "hay"])
    search = page.get_by_role("searchbox", name="Search conversations")
    await search.fill("needle")
    await expect(links(page)).to_have_text(["a Needle"])
    await search.fill("YOU SAID: HAY")
    await expect(links(page)).to_have_text(["hay"])
    await search.fill("nowhere")
    await expect(page.get_by_text("Nothing found")).to_be_visible()
    await search.fill("")
    await expect(links(page)).to_have_text(["a Needle", "hay"])


async def test_deleting_the_open_thread_leads_to_the_newest_and_tells_the_other_tab(
    page: Page, context: BrowserContext, servers: Servers
) -> None:
    server = servers(AGUI_AGENT=SCRIPTED, AGUI_KEEPALIVE_S="10")
    await begin(server, "newest", "the newest left")
    await page.goto(f"{server.url}/t/doomed")
    await say(page, "doomed")
    await settled(page)
    other = await context.new_page()
    await other.goto(page.url)
    await expect(item(other, "message", role="assistant")).to_have_text("You said: doomed")
    await choose(page, "doomed", "Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page).to_have_url(f"{server.url}/")
    await expect(item(page, "message", role="assistant")).to_have_text("You said: the newest left")
    await expect(page.get_by_text("This conversation was deleted")).to_have_count(0)
    await expect(other.get_by_role("alert")).to_have_text("This conversation was deleted")
    await expect(composer(other)).to_have_count(0)
    await other.get_by_role("main").get_by_role("button", name="New conversation").click()
    await expect(other).to_have_url(re.compile("/t/thread_[0-9a-f]+$"))
    await say(other, "after that")
    await expect(item(other, "message", role="assistant")).to_have_text("You said: after that")


async def test_deleting_the_last_thread_at_the_root_shows_the_empty_page(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED, AGUI_KEEPALIVE_S="9")
    await begin(server, "only", "the only one")
    await page.goto(server.url)
    await expect(item(page, "message", role="assistant")).to_have_text("You said: the only one")
    await choose(page, "the only one", "Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("heading", name="What shall I put in your calendar?")).to_be_visible()
    await say(page, "begin anew")
    await expect(item(page, "message", role="assistant")).to_have_text("You said: begin anew")


async def test_an_answer_that_streams_does_not_send_the_list_again(page: Page, servers: Servers) -> None:
    server = servers(AGUI_AGENT=SCRIPTED)
    wire = Wire()
    wire.listen(page)
    await page.goto(f"{server.url}/t/quiet-list")
    await say(page, "slow 30")
    await expect(item(page, "message", role="assistant")).to_contain_text("word29")
    await settled(page)
    await expect(links(page).first).to_have_text("slow 30")
    assert sum('"threads_rx_state_"' in frame for frame in wire.frames) <= 5
