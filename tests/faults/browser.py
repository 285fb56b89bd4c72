"""A browser for one test, in the test's own event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

from tests.e2e import browser as browsers


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """There must be one: a test that needs a browser is never skipped."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browsers.on_path(), args=list(browsers.FLAGS))
        yield browser
        await browser.close()
