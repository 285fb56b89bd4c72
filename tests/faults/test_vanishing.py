"""Clients that vanish, streams in silence, tabs that come and go: the server holds what it held before."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest
from playwright.async_api import Browser

from tests.e2e.server import Server
from tests.faults.browser import open_browser
from tests.faults.conftest import Report
from tests.faults.scale import KEEPALIVE_S, choose
from tests.faults.server import SETTLE_WITHIN_S, counts
from tests.faults.truth import API, WITHIN_S, Obj

CLIENTS = choose(short=20, soak=200)
TABS = choose(short=10, soak=200)
TABS_AT_ONCE = 10
SILENCE_S = choose(short=1.5, soak=61.0)
OBJECTS_OF_A_TAB = 20  # that may stay: some 15 weak references do; the states of one tab alone are 80
OBJECTS_OF_THE_SERVER = (
    400  # made by chance meanwhile, not by tabs: a connection to the database is a thread and queues
)
MORE_OBJECTS = OBJECTS_OF_A_TAB * TABS + OBJECTS_OF_THE_SERVER
FOLLOWERS_OF_A_TAB = 2  # its thread, and the changes
PASSING = ("AsyncSocket.", "StateManagerMemory.", "RunStream.", "Runs.", "Pipeline.")
"""Tasks that end by themselves, a while after the tab or the run that they belong to."""
OPEN = ("tasks", "followers", "readers", "sockets", "states")
"""Counts that must be what they were, to the last one."""


@pytest.fixture
async def http(fault_server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=fault_server.url, timeout=WITHIN_S) as client:
        yield client


def held(found: Obj) -> Obj:
    return {name: found[name] for name in OPEN}


async def settled(server: Server) -> Obj:
    """The counts, when no run is active, nobody connected, and what is remembered of those who were is forgotten."""
    async with asyncio.timeout(SETTLE_WITHIN_S):
        while True:
            found = await counts(server)
            if not any(task.startswith(PASSING) for task in found["tasks"]) and not found["states"]:
                return found
            await asyncio.sleep(0.5)


async def as_before(server: Server, before: Obj, *, objects: int | None = None) -> Obj:
    """The counts, once they are `before` again, with at most so many `objects` more; else the last ones."""
    found = await counts(server)
    try:
        async with asyncio.timeout(SETTLE_WITHIN_S):
            while held(found) != held(before) or (objects is not None and more(found, before).total() > objects):
                await asyncio.sleep(0.1)
                found = await counts(server)
    except TimeoutError:
        pass
    return found


def more(found: Obj, before: Obj) -> Counter[str]:
    """The kinds of objects that there are more of."""
    return Counter(found["objects"]) - Counter(before["objects"])


def reset(connection: socket.socket) -> None:
    """The client is gone without a goodbye: the server's next byte meets a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


async def connected(server: Server, request: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))
    connection.sendall(request)
    return connection


def asking(path: str, *, host: str = "127.0.0.1", more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode()


async def answered(connection: socket.socket) -> None:
    """The first bytes of an answer are there."""
    connection.setblocking(False)
    async with asyncio.timeout(WITHIN_S):
        assert await asyncio.get_running_loop().sock_recv(connection, 100)


async def test_readers_that_vanish_leave_no_task_no_reader_and_no_connection(
    fault_server: Server, http: httpx.AsyncClient
) -> None:
    before = await settled(fault_server)
    body = {"threadId": "vanishing", "messages": [{"role": "user", "content": "talk 100000"}]}
    (await http.post(f"{API}/runs", json=body)).raise_for_status()

    readers = [await connected(fault_server, asking(f"{API}/runs/vanishing/events")) for _ in range(CLIENTS)]
    for reader in readers:
        await answered(reader)
    followed = (await counts(fault_server))["readers"]
    for reader in readers:
        reset(reader)
    async with asyncio.timeout(SETTLE_WITHIN_S):
        while (await counts(fault_server))["readers"] > before["readers"]:
            await asyncio.sleep(0.1)
    (await http.post(f"{API}/runs/vanishing/cancel")).raise_for_status()
    await http.aclose()
    after = await as_before(fault_server, before)

    assert followed == before["readers"] + CLIENTS
    assert held(after) == held(before)


HALVES = {
    "half of the headers": asking("/api/v1/agent/threads")[:-20],
    "half of the body": (
        f"POST {API}/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        'Content-Length: 1000\r\n\r\n{"threadId": "half", '
    ).encode(),
    "half of a socket's handshake": asking("/_event/?EIO=4&transport=websocket", more="Upgrade: websocket\r\n")[:-2],
    "nothing": b"",
}


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
async def test_clients_that_vanish_after_half_a_request_leave_nothing_behind(fault_server: Server, sent: bytes) -> None:
    before = await settled(fault_server)

    clients = [await connected(fault_server, sent) for _ in range(CLIENTS)]
    async with asyncio.timeout(WITHIN_S):
        while (await counts(fault_server))["sockets"] < before["sockets"] + CLIENTS:
            await asyncio.sleep(0.05)
    for client in clients:
        reset(client)
    after = await as_before(fault_server, before)

    assert held(after) == held(before)


async def test_comments_go_out_while_a_tool_is_silent(
    fault_server: Server, http: httpx.AsyncClient, report: Report
) -> None:
    body = {"messages": [{"role": "user", "content": f"silent {SILENCE_S}"}]}
    run = (await http.post(f"{API}/runs", json=body)).raise_for_status().json()
    path, params = f"{API}/runs/{run['threadId']}/events", {"runId": run["runId"]}
    async with http.stream("GET", path, params=params) as response, aclosing(response.aiter_lines()) as reading:
        lines = [line async for line in reading if line]
    comments = [line for line in lines if line.startswith(":")]
    expected = int(SILENCE_S / KEEPALIVE_S)
    assert len(comments) - 1 >= expected // 2  # the first one opens the stream; a busy machine may lose some
    assert '"RUN_FINISHED"' in lines[-1]
    report(f"keep-alive: {len(comments) - 1} comments while a tool was silent for {SILENCE_S:g} s")


async def test_tabs_that_were_opened_and_closed_leave_tasks_and_memory_where_they_were(
    fault_server: Server, report: Report
) -> None:
    async with httpx.AsyncClient(base_url=fault_server.url) as http:
        body = {"threadId": "tabs", "messages": [{"role": "user", "content": "talk 20"}]}
        (await http.post(f"{API}/runs", json=body)).raise_for_status()
    async with open_browser() as browser:
        await _open_and_close(browser, fault_server, TABS_AT_ONCE)  # whatever is made once is made now
        before = await settled(fault_server)
        for _ in range(TABS // TABS_AT_ONCE):
            await _open_and_close(browser, fault_server, TABS_AT_ONCE)
        after = await as_before(fault_server, before, objects=MORE_OBJECTS)
    assert held(after) == held(before)
    assert more(after, before).total() <= MORE_OBJECTS, more(after, before)
    report(
        f"tabs: {TABS} opened and closed, {TABS_AT_ONCE} at once: {len(before['tasks'])} tasks before and "
        f"{len(after['tasks'])} after, {before['sockets']} and {after['sockets']} sockets, {before['states']} and "
        f"{after['states']} states, {sum(before['objects'].values())} and {sum(after['objects'].values())} objects, "
        f"{before['resident_kb'] // 1024} and {after['resident_kb'] // 1024} MB resident"
    )


async def _open_and_close(browser: Browser, server: Server, count: int) -> None:
    """So many tabs, each of which follows its thread and the changes, and then none."""
    context = await browser.new_context()
    pages = [await context.new_page() for _ in range(count)]
    for page in pages:
        await page.goto(f"{server.url}/t/tabs")
    for page in pages:
        await page.get_by_role("log", name="Conversation").get_by_text("word 你好🌍 1").first.wait_for()
    async with asyncio.timeout(WITHIN_S):
        while (await counts(server))["followers"] != FOLLOWERS_OF_A_TAB * count:
            await asyncio.sleep(0.05)
    await context.close()
