"""A real browser and the real product. Tests here are `async`, by role and label, and never sleep to wait."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright, expect

from tests.e2e import browser as browsers
from tests.e2e.server import Server, running

EXPECT_WITHIN_MS = 15_000
VIEWPORT = {"width": 1280, "height": 800}

Servers = Callable[..., Server]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Playwright's objects live in one event loop, so all tests in a browser share one."""
    for item in items:
        if "e2e" in item.path.parts and isinstance(item, pytest.Function):
            item.add_marker(pytest.mark.e2e)
            if inspect.iscoroutinefunction(item.obj):
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """`servers(AGUI_AGENT="tests.e2e.agents:scripted", ...)`: the server with these settings, one for each set."""
    started: dict[tuple[tuple[str, str], ...], Server] = {}
    with ExitStack() as stack:

        def get(**env: str) -> Server:
            key = tuple(sorted(env.items()))
            if key not in started:
                started[key] = stack.enter_context(running(tmp_path_factory.mktemp("server"), **env))
            return started[key]

        yield get


@pytest.fixture(scope="session")
def server(servers: Servers) -> Server:
    """The server as it is without any setting."""
    return servers()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests. There must be one: a browser test is never skipped."""
    expect.set_options(timeout=EXPECT_WITHIN_MS)
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=browsers.on_path(), args=list(browsers.FLAGS))
        yield opened
        await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A browser profile of the test's own; its pages are its tabs."""
    opened = await browser.new_context(viewport=VIEWPORT, locale="en-GB", timezone_id="Europe/Berlin")
    yield opened
    await opened.close()


@pytest.fixture
def page_errors() -> list[str]:
    """What the pages complained of; a test that provokes a complaint takes it out of here."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def page(context: BrowserContext, page_errors: list[str]) -> AsyncIterator[Page]:
    """A tab. The test fails when any tab of its context wrote an error to the console or threw one."""

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            page_errors.append(f"console: {message.text} ({message.location.get('url', '')})")

    context.on("console", on_console)
    context.on("weberror", lambda error: page_errors.append(f"thrown: {error.error}"))
    opened = await context.new_page()
    yield opened
    assert page_errors == []
