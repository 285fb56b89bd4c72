"""The API while its stores fail, and when they are back: nothing half written, nothing lost, no restart."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import OperationalError

from agui_app.agents.base import AgentInput
from agui_app.api.app import create_api
from agui_app.services import Overrides, Services, open_services
from agui_app.settings import Settings
from agui_app.storage import database as database_module
from agui_app.storage.database import Database
from agui_app.storage.tables import EVENTS, MESSAGES, RUNS, THREADS
from tests.api.conftest import Conducted, over
from tests.api.routes import walk

API = "/api/v1/agent"
HANGS_S = 10  # no answer within it is no answer
WITHOUT_A_STORE = {"/healthz", "/tools", "/docs", "/openapi.json"}
"""The ends of the paths that answer without the database."""
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/runs"): {"messages": [{"id": "u", "role": "user", "content": "hello"}]},
    ("PATCH", "/threads/x"): {"title": "another"},
}

Obj = dict[str, Any]


def question(run: str, content: str = "hello", thread: str = "t") -> Obj:
    return {"threadId": thread, "runId": run, "messages": [{"id": f"u-{run}", "role": "user", "content": content}]}


async def stored(services: Services) -> list[list[Any]]:
    """Every row of what a run writes."""
    async with services.database.read() as session:
        return [[*await session.execute(select(table))] for table in (THREADS, RUNS, MESSAGES, EVENTS)]


async def events_of(http: httpx.AsyncClient, run: str, thread: str = "t") -> list[Obj]:
    """The events of a run, once it is over."""
    async with asyncio.timeout(HANGS_S):
        response = await http.get(f"{API}/runs/{thread}/events", params={"runId": run})
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]


def said(events: list[Obj]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


@contextmanager
def gone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The database cannot be reached, neither to read nor to write."""

    async def connect(*_: Any) -> Any:
        raise OperationalError("SELECT", {}, sqlite3.OperationalError("disk I/O error"))

    def begin(*_: Any) -> Any:
        raise OperationalError("BEGIN", {}, sqlite3.OperationalError("disk I/O error"))

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_connect", connect)
        patch.setattr(Database, "_begin", begin)
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock is waited for 50 ms, not 2 s. Ask for it before the services."""
    pragmas = [pragma for pragma in database_module._PRAGMAS if "busy_timeout" not in pragma]
    monkeypatch.setattr(database_module, "_PRAGMAS", (*pragmas, "PRAGMA busy_timeout=50"))


@contextmanager
def locked(settings: Settings) -> Iterator[None]:
    """Another process is writing, and does not finish."""
    with closing(sqlite3.connect(settings.data_dir / "agui.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


async def status(http: httpx.AsyncClient, method: str, path: str) -> tuple[int, str, str]:
    """Status, media type and code of the answer."""
    body = next((body for (verb, end), body in BODIES.items() if verb == method and path.endswith(end)), None)
    async with asyncio.timeout(HANGS_S):
        response = await http.request(method, path, json=body)
    kind = response.headers.get("content-type", "").partition(";")[0]
    return response.status_code, kind, response.json()["code"] if kind.endswith("problem+json") else ""


async def test_every_route_that_needs_the_database_says_503_while_it_is_gone(
    services: Services, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = create_api(lambda: services, services.settings)
    routes = [
        (method, path)
        for method, path in walk(api.routes)
        if method not in ("OPTIONS", "HEAD", "WEBSOCKET") and path not in ("/api", "/api/x", f"{API}/changes")
    ]
    assert ("POST", f"{API}/runs") in routes
    with gone(monkeypatch):
        answers = {(method, path): await status(http, method, path) for method, path in routes}
    storeless = {key: answers.pop(key) for key in routes if any(key[1].endswith(end) for end in WITHOUT_A_STORE)}
    assert {answer[0] for answer in storeless.values()} == {200}
    assert answers == dict.fromkeys(answers, (503, "application/problem+json", "store_unavailable"))
    assert len(answers) >= 6
    assert (await http.get("/readyz")).status_code == 200


async def test_a_server_without_its_database_is_up_and_not_ready(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gone(monkeypatch):
        found = [(await http.get(path)).status_code for path in ("/healthz", "/readyz")]
    assert found == [200, 503]
    assert [(await http.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]


async def test_a_run_that_was_refused_with_503_has_stored_nothing_and_works_once_afterwards(
    impatient: None, services: Services, http: httpx.AsyncClient
) -> None:
    await http.post(f"{API}/runs", json=question("r0"))
    await events_of(http, "r0")
    before = await stored(services)
    with locked(services.settings):
        async with asyncio.timeout(HANGS_S):
            refused = await http.post(f"{API}/runs", json=question("r1"))
        assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
        assert refused.headers["retry-after"] == "1"
        assert await stored(services) == before
        assert (await http.get(f"{API}/history", params={"threadId": "t"})).status_code == 200  # reading goes on
    taken = [await http.post(f"{API}/runs", json=question("r1")) for _ in range(2)]
    assert [one.status_code for one in taken] == [202, 202]
    assert said(await events_of(http, "r1")) == "one two"
    page = (await http.get(f"{API}/history", params={"threadId": "t"})).json()
    assert [one["id"] for one in page["messages"]] == ["u-r0", "r0.answer", "u-r1", "r1.answer"]


async def test_a_lock_that_lasts_is_answered_within_seconds(services: Services, http: httpx.AsyncClient) -> None:
    with locked(services.settings):
        async with asyncio.timeout(HANGS_S):
            assert (await http.post(f"{API}/runs", json=question("r1"))).status_code == 503
    assert (await http.post(f"{API}/runs", json=question("r1"))).status_code == 202


async def test_a_run_under_a_locked_database_waits_and_loses_nothing(
    impatient: None, services: Services, http: httpx.AsyncClient, agent: Conducted
) -> None:
    """Its reader stays connected and gets the rest; one that comes meanwhile too."""
    agent.wait()
    await http.post(f"{API}/runs", json=question("r1"))
    early = asyncio.ensure_future(events_of(http, "r1"))
    seen = services.events.follow("local", "t", after=0)
    while "one " not in getattr(await anext(seen), "data", ""):
        pass
    await seen.aclose()
    with locked(services.settings):
        agent.go_on.set()
        late = asyncio.ensure_future(events_of(http, "r1"))
        for number in range(3):  # as long as three requests are refused
            assert (await http.post(f"{API}/runs", json=question("x", thread=f"x{number}"))).status_code == 503
        assert not early.done()
    for reading in (early, late):
        events = await reading
        assert (said(events), events[-1]["type"]) == ("one two", "RUN_FINISHED")
    page = (await http.get(f"{API}/history", params={"threadId": "t"})).json()
    assert [(one["content"], one["status"]) for one in page["messages"]] == [
        ("hello", "complete"),
        ("one two", "complete"),
    ]


async def test_a_reader_that_was_refused_resumes_where_it_was(
    services: Services, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await http.post(f"{API}/runs", json=question("r1"))
    whole = await events_of(http, "r1")
    with gone(monkeypatch):
        refused = await http.get(f"{API}/runs/t/events", params={"runId": "r1", "after": "2"})
        assert refused.status_code == 503
    rest = await http.get(f"{API}/runs/t/events", params={"runId": "r1", "after": "2"})
    assert [json.loads(line[6:]) for line in rest.text.splitlines() if line.startswith("data: ")] == whole[2:]


def _set_room(pages: int) -> Any:
    def work(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    return work


async def limit_disk(services: Services, pages: int) -> None:
    """The database file may have so many pages; 1 stands for as many as it has."""
    await services.database.transact(_set_room(pages))
    async with services.database.write() as session:
        await session.execute(text(f"PRAGMA max_page_count = {pages}"))


async def test_a_full_disk_refuses_what_has_no_room_and_stores_nothing_of_it(
    services: Services, http: httpx.AsyncClient
) -> None:
    await http.post(f"{API}/runs", json=question("r0"))
    await events_of(http, "r0")
    await limit_disk(services, 1)
    before = await stored(services)
    refused = await http.post(f"{API}/runs", json=question("r1", "x" * 400_000))
    assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
    assert await stored(services) == before
    await limit_disk(services, 1_000_000)
    assert (await http.post(f"{API}/runs", json=question("r1", "x" * 400_000))).status_code == 202
    assert said(await events_of(http, "r1")) == "one two"


class Unreadable:
    """A payload store that takes everything and gives nothing back: it breaks, or never answers."""

    bucket = "away"

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    async def put_json(self, path: str, payload: Obj) -> None: ...

    async def get_json(self, path: str) -> Obj:
        if self._hangs:
            await asyncio.Event().wait()
        raise OSError("broken")

    async def delete(self, path: str) -> None: ...

    async def check(self) -> None: ...


class Caller:
    """An agent that makes a call and gives its result."""

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        for id in ("c1", "c2"):
            yield {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "look"}
            yield {"type": "TOOL_CALL_END", "toolCallId": id}
            yield {"type": "TOOL_CALL_RESULT", "messageId": f"m-{id}", "toolCallId": id, "content": "seen"}
        yield {"type": "RUN_FINISHED", "threadId": input.thread_id, "runId": input.run_id}


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_payload_that_cannot_be_read_costs_its_card_and_no_more_than_a_second(
    settings: Settings, hangs: bool
) -> None:
    overrides = Overrides(agent=Caller(), objects=Unreadable(hangs=hangs))
    async with open_services(settings, overrides) as services, over(services) as http:
        await http.post(f"{API}/runs", json=question("r1"))
        await events_of(http, "r1")
        async with asyncio.timeout(HANGS_S):
            page = (await http.get(f"{API}/history", params={"threadId": "t"})).json()
        results = [one for one in page["messages"] if one["role"] == "tool"]
        assert [(one["content"], one["ui"], one["result"], one["payloadMissing"]) for one in results] == [
            ("seen", None, None, True)
        ] * 2


class Dawdler:
    """An agent that goes on speaking for a while after it was cancelled."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()
        self.speaks = asyncio.Event()

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        id = f"{input.run_id}.answer"
        yield {"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"}
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": f"of {input.run_id}"}
        self.speaks.set()
        while input.run_id == "r1" and not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                continue
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": " late"}
        yield {"type": "TEXT_MESSAGE_END", "messageId": id}


async def test_stop_and_send_at_once_the_late_end_of_the_first_run_never_touches_the_second(
    settings: Settings,
) -> None:
    agent = Dawdler()
    async with open_services(settings, Overrides(agent=agent)) as services, over(services) as http:
        await http.post(f"{API}/runs", json=question("r1"))
        await agent.speaks.wait()
        stopped, sent = await asyncio.gather(
            http.post(f"{API}/runs/t/cancel", json={"runId": "r1"}),
            _sent_after_a_moment(http),
        )
        assert (stopped.json()["status"], sent.status_code) == ("cancelling", 202)
        agent.let_go.set()
        first, second = await events_of(http, "r1"), await events_of(http, "r2")
        assert (said(first), first[-1]["outcome"]) == ("of r1", {"type": "cancelled"})
        assert (said(second), second[-1]["outcome"]) == ("of r2 late", {"type": "success"})
        page = (await http.get(f"{API}/history", params={"threadId": "t"})).json()
        assert [(one["id"], one["content"], one["status"]) for one in page["messages"]] == [
            ("u-r1", "hello", "complete"),
            ("r1.answer", "of r1", "interrupted"),
            ("u-r2", "hello", "complete"),
            ("r2.answer", "of r2 late", "complete"),
        ]
        again = await http.post(f"{API}/runs/t/cancel", json={"runId": "r1"})
        assert again.json() == {"status": "idle"}


async def _sent_after_a_moment(http: httpx.AsyncClient) -> httpx.Response:
    """The next message, sent as soon as the cancel is under way."""
    await asyncio.sleep(0)
    while (response := await http.post(f"{API}/runs", json=question("r2"))).status_code == 409:
        pass  # the cancel had not reached the server
    return response
