"""`kill -TERM` with runs, readers and tabs open: streams end with an event, text is kept, the exit is in time and 0."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, closing

import httpx

from agui_app.api.app import create_api
from agui_app.client import IN_PROCESS_URL, AsgiTransport
from agui_app.services import open_services
from agui_app.settings import Settings
from tests.e2e.server import STOP_WITHIN_S
from tests.faults.browser import open_browser
from tests.faults.server import Lives
from tests.faults.truth import (
    API,
    WITHIN_S,
    Shown,
    assert_history_is_the_fold,
    breaches,
    frames,
    log_of,
    page,
    runs_of,
    transcript,
)

READERS = 5
THREADS = ("one", "two")


async def start(http: httpx.AsyncClient, thread: str, text: str = "talk 2000") -> None:
    body = {"threadId": thread, "runId": f"{thread}.run", "messages": [{"role": "user", "content": text}]}
    (await http.post(f"{API}/runs", json=body)).raise_for_status()


@asynccontextmanager
async def started_again(house: Lives) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the next start over the same data; it is in this process, which is quicker."""
    settings = Settings(_env_file=None, data_dir=house.data_dir)
    async with open_services(settings) as services:
        api = create_api(lambda: services, settings)
        async with httpx.AsyncClient(base_url=IN_PROCESS_URL, transport=AsgiTransport(api)) as http:
            yield http


async def read_to_the_end(http: httpx.AsyncClient, thread: str, speaks: asyncio.Event) -> list[Shown]:
    """What one connection brought until the server ended it."""
    found: list[Shown] = []
    async with aclosing(frames(http, thread, after="0")) as reading:
        async for frame in reading:
            found.append(frame)
            if frame.event["type"] == "TEXT_MESSAGE_CONTENT":
                speaks.set()
    return found


def terminate(house: Lives) -> None:
    """SIGTERM to the process of `agui.pid`."""
    os.kill(int((house.data_dir / "agui.pid").read_text()), signal.SIGTERM)


async def exit_code(process: subprocess.Popen[bytes]) -> int:
    """How it ended. Raises TimeoutExpired when it is not over within the time that it has."""
    return await asyncio.to_thread(process.wait, STOP_WITHIN_S)


async def test_a_stop_ends_every_stream_with_an_event_keeps_the_text_and_exits_in_time(
    lives: Callable[..., Lives],
) -> None:
    house = lives()
    await house.start()
    async with open_browser() as browser, httpx.AsyncClient(base_url=house.url, timeout=WITHIN_S) as http:
        for thread in THREADS:
            await start(http, thread)
        tab = await browser.new_page()
        await tab.goto(f"{house.url}/t/one")
        await tab.get_by_role("log", name="Conversation").get_by_text("word 你好🌍 0").wait_for()
        speaking = [(thread, asyncio.Event()) for thread in THREADS for _ in range(READERS)]
        readers = [asyncio.create_task(read_to_the_end(http, thread, speaks)) for thread, speaks in speaking]
        await asyncio.gather(*(speaks.wait() for _, speaks in speaking))

        process = house.process
        assert process is not None
        terminate(house)
        code = await exit_code(process)

        ends = [(await reader)[-1] for reader in readers]
    assert code == 0, house.log.read_text()
    assert [(end.event["type"], end.event.get("code")) for end in ends] == [("RUN_ERROR", "interrupted")] * len(ends)
    assert "Traceback" not in house.log.read_text()
    await assert_kept(house, {thread: await reader for (thread, _), reader in zip(speaking, readers, strict=True)})


async def assert_kept(house: Lives, read: dict[str, list[Shown]]) -> None:
    """After the next start the threads are as they were shown, and closed."""
    async with started_again(house) as http:
        for thread, shown in read.items():
            log = await log_of(http, thread)
            assert shown == log
            [run] = runs_of(log)
            assert (breaches(run), run[-1]["code"]) == ([], "interrupted")
            history = await transcript(http, thread)
            assert_history_is_the_fold(history, log)
            assert [run["status"] for run in (await page(http, thread))["runs"]] == ["interrupted"]


async def test_a_second_stop_ends_at_once_what_the_first_is_still_ending(lives: Callable[..., Lives]) -> None:
    await _stopped_while_locked(lives(), again=True)


async def test_a_stop_while_another_process_has_the_database_locked_is_in_time_too(lives: Callable[..., Lives]) -> None:
    await _stopped_while_locked(lives(), again=False)


async def _stopped_while_locked(house: Lives, *, again: bool) -> None:
    """The run cannot be ended, as the database is locked; the next start ends it, and what was shown is there."""
    await house.start()
    async with httpx.AsyncClient(base_url=house.url, timeout=WITHIN_S) as http:
        await start(http, "one")
        speaks = asyncio.Event()
        reader = asyncio.create_task(read_to_the_end(http, "one", speaks))
        await speaks.wait()
        with closing(sqlite3.connect(house.data_dir / "agui.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            process = house.process
            assert process is not None
            terminate(house)
            if again:
                await _is_stopping(http)
                terminate(house)

            assert await exit_code(process) == 0
            other.execute("ROLLBACK")
        shown = await _until_broken(reader)
    assert not (house.data_dir / "agui.pid").exists()
    async with started_again(house) as http:
        log = await log_of(http, "one")
    assert log[: len(shown)] == shown
    [run] = runs_of(log)
    assert (breaches(run), run[-1]["code"]) == ([], "interrupted")


async def _is_stopping(http: httpx.AsyncClient) -> None:
    """Back when the server says that it is stopping."""
    async with asyncio.timeout(STOP_WITHIN_S):
        while True:
            answer = await http.post(f"{API}/runs", json={"messages": [{"role": "user", "content": "talk 1"}]})
            if "stopping" in answer.text:
                return


async def _until_broken(reader: asyncio.Task[list[Shown]]) -> list[Shown]:
    """What a reader got, when it got an end; a connection that was torn is an end too, of which nothing is known."""
    try:
        return await reader
    except httpx.TransportError:
        return []
