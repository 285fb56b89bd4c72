"""The stream of what changed, over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
import pytest

from agui_app.client import AguiClient, ServerEvent
from agui_app.services import Overrides, Services, open_services
from agui_app.settings import Settings
from tests.api.conftest import Conducted, over
from tests.api.test_runs import RUNS, finished, run, says

CHANGES = "/api/v1/agent/changes"
THREADS = "/api/v1/agent/threads"


class Stream:
    """An open stream of changes, frame by frame."""

    def __init__(self, response: httpx.Response):
        self.headers = dict(response.headers)
        self._chunks = response.aiter_bytes()
        self._read = b""

    async def block(self) -> str:
        """The next frame or comment."""
        async with asyncio.timeout(10):
            while b"\n\n" not in self._read:
                self._read += await anext(self._chunks)
        block, _, self._read = self._read.partition(b"\n\n")
        return block.decode()

    async def next(self) -> tuple[int, dict[str, Any]]:
        """Id and event of the next frame."""
        id, data = (await self.block()).split("\n")
        return int(id.removeprefix("id: ")), json.loads(data.removeprefix("data: "))

    async def rest(self) -> bytes:
        """Everything up to the end of the stream."""
        async with asyncio.timeout(10):
            return self._read + b"".join([chunk async for chunk in self._chunks])


@asynccontextmanager
async def opened(http: httpx.AsyncClient, query: str = "", **headers: str) -> AsyncIterator[Stream]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with http.stream("GET", CHANGES + query, headers=named) as response:
        assert response.status_code == 200
        stream = Stream(response)
        assert await stream.block() == ": open"
        yield stream


@asynccontextmanager
async def server(settings: Settings, agent: Conducted) -> AsyncIterator[httpx.AsyncClient]:
    async with open_services(settings, Overrides(agent=agent)) as services, over(services) as http:
        yield http


async def changed(http: httpx.AsyncClient, thread: str) -> None:
    assert (await http.patch(f"{THREADS}/{thread}", json={"title": "new"})).status_code == 200


async def test_a_thread_is_told_from_its_first_message_to_its_end(http: httpx.AsyncClient, agent: Conducted) -> None:
    async with opened(http) as stream:
        agent.wait()
        await http.post(RUNS, json=run("t1", "r1", says("first words")))
        first, created = await stream.next()
        assert (created["type"], created["thread"]["title"], created["thread"]["activeRunId"]) == (
            *("thread.created", "first words"),
            "r1",
        )
        renamed = (await http.patch(f"{THREADS}/t1", json={"title": "mine"})).json()
        id, told = await stream.next()
        assert (id, told["type"]) == (first + 1, "thread.updated")
        assert told["thread"] | {"lastLine": ""} == renamed | {"lastLine": ""}  # the agent is speaking meanwhile
        agent.go_on.set()
        id, ended = await stream.next()
        [line] = (await http.get(THREADS)).json()["threads"]
        assert (id, ended) == (first + 2, {"type": "thread.updated", "thread": line})
        assert (line["activeRunId"], line["lastLine"]) == (None, "one two")
        await http.delete(f"{THREADS}/t1")
        assert await stream.next() == (first + 3, {"type": "thread.deleted", "thread": {"id": "t1"}})


async def test_an_event_that_a_tool_made_is_told(settings: Settings) -> None:
    quick = settings.model_copy(update={"rules_token_delay_s": 0.0})
    async with open_services(quick) as services, over(services) as http, opened(http) as stream:
        says_so = says("#tool:create_calendar_event " + '{"title": "x", "startAt": "2026-03-02T10:00:00Z"}')
        found = await finished(http, run("t", "r", says_so))
        [made] = [event["result"]["eventId"] for _, event in found if event["type"] == "TOOL_CALL_RESULT"]
        events = [(await stream.next())[1] for _ in range(3)]
    assert [event["type"] for event in events] == ["thread.created", "calendar.changed", "thread.updated"]
    assert events[1] == {"type": "calendar.changed", "event": {"id": made}}


async def test_the_headers_are_those_of_the_other_stream(http: httpx.AsyncClient) -> None:
    async with opened(http) as stream:
        assert stream.headers == {
            "cache-control": "no-cache, no-transform",
            "x-accel-buffering": "no",
            "content-type": "text/event-stream; charset=utf-8",
        }


async def test_a_silent_stream_sends_comments(settings: Settings) -> None:
    brief = settings.model_copy(update={"keepalive_s": 0.01})
    async with open_services(brief) as services, over(services) as http, opened(http) as stream:
        assert await stream.block() == ": keep-alive"


async def test_a_stream_resumes_after_any_id_and_the_header_beats_the_parameter(http: httpx.AsyncClient) -> None:
    async with opened(http) as stream:
        await finished(http, run())
        await changed(http, "t1")
        frames = [await stream.next() for _ in range(3)]
    for at, (id, _) in enumerate(frames[:-1]):
        for query, headers in (
            (f"?after={id}", {}),
            ("", {"Last_Event_ID": str(id)}),
            ("?after=1", {"Last_Event_ID": str(id)}),
        ):
            async with opened(http, query, **headers) as stream:
                assert [await stream.next() for _ in frames[at + 1 :]] == frames[at + 1 :]


@pytest.mark.parametrize("known", ["nonsense", "-1", "0", "7", "9" * 30, "1.5", "٣"])
async def test_an_id_that_is_none_of_ours_gets_a_resync_and_then_what_comes(
    http: httpx.AsyncClient, known: str
) -> None:
    await finished(http, run())
    async with opened(http, params(known)) as stream:
        id, event = await stream.next()
        assert event == {"type": "resync"}
        await changed(http, "t1")
        after, event = await stream.next()
        assert (event["type"], after > id) == ("thread.updated", True)


def params(after: str) -> str:
    return f"?{httpx.QueryParams(after=after)}"


async def test_ids_grow_over_a_restart_and_one_of_before_gets_a_resync(settings: Settings, agent: Conducted) -> None:
    async with server(settings, agent) as http, opened(http) as stream:
        await finished(http, run())
        [before, _] = [await stream.next() for _ in range(2)]
    async with server(settings, agent) as http, opened(http, Last_Event_ID=str(before[0])) as stream:
        id, event = await stream.next()
        assert (event, id > before[0]) == ({"type": "resync"}, True)


async def test_streams_end_when_the_server_stops(settings: Settings, agent: Conducted) -> None:
    async with open_services(settings, Overrides(agent=agent)) as services:
        http = over(services)
        response = await http.send(http.build_request("GET", CHANGES), stream=True)
        stream = Stream(response)
        assert await stream.block() == ": open"
    assert await stream.rest() == b""
    await response.aclose()
    await http.aclose()


async def test_a_reader_that_leaves_is_forgotten(services: Services, http: httpx.AsyncClient) -> None:
    async with opened(http), opened(http):
        assert len(services.changes) == 2
    assert len(services.changes) == 0


async def test_the_client_begins_with_a_resync_and_goes_on_after_a_drop(
    services: Services, http: httpx.AsyncClient, client: AguiClient
) -> None:
    async with aclosing(client.changes()) as changes, asyncio.timeout(20):
        assert await anext(changes) == ServerEvent("", {"type": "resync"})
        await finished(http, run())
        seen = [await anext(changes) for _ in range(2)]
        services.changes._hub.cut_off()
        await client.rename_thread("t1", "another")
        seen.append(await anext(changes))
        await client.delete_thread("t1")
        seen.append(await anext(changes))
    assert [one.event["type"] for one in seen] == [
        *("thread.created", "thread.updated", "thread.updated"),
        "thread.deleted",
    ]
    assert seen[2].event["thread"]["title"] == "another"
    assert [int(one.id) for one in seen] == list(range(int(seen[0].id), int(seen[0].id) + 4))


async def test_the_documents_describe_the_stream(http: httpx.AsyncClient) -> None:
    document = (await http.get("/api/openapi.json")).json()
    operation = document["paths"][CHANGES]["get"]
    answer = operation["responses"]["200"]
    assert (list(answer["content"]), "ChangeEvent" in answer["description"]) == (["text/event-stream"], True)
    assert document["components"]["schemas"]["ChangeEvent"]["properties"]["type"]["enum"] == [
        *("thread.created", "thread.updated", "thread.deleted"),
        *("calendar.changed", "calendar.deleted", "resync"),
    ]
