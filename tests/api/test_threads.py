from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import pytest

from tests.api.conftest import Conducted
from tests.api.test_runs import RUNS, finished, problem, run, says

THREADS = "/api/v1/agent/threads"


async def test_threads_come_newest_first_in_pages(http: httpx.AsyncClient) -> None:
    for thread in ("t1", "t2", "t3"):
        await finished(http, run(thread, f"run.{thread}", says(f"about {thread}", f"message.{thread}")))
    first = (await http.get(THREADS, params={"limit": 2})).json()
    second = (await http.get(THREADS, params={"limit": 2, "before": first["nextCursor"]})).json()
    assert [[thread["id"] for thread in page["threads"]] for page in (first, second)] == [["t3", "t2"], ["t1"]]
    assert (first["hasMore"], second["hasMore"], second["nextCursor"]) == (True, False, None)
    line = second["threads"][0]
    assert (line["title"], line["lastLine"], line["activeRunId"]) == ("about t1", "one two", None)


async def test_threads_are_found_by_their_words(http: httpx.AsyncClient) -> None:
    for thread in ("t1", "t2"):
        await finished(http, run(thread, f"run.{thread}", says(f"about {thread}", f"message.{thread}")))
    found = (await http.get(THREADS, params={"q": "about t2"})).json()
    assert [thread["id"] for thread in found["threads"]] == ["t2"]
    assert (await http.get(THREADS, params={"q": "\x00"})).json()["threads"] == []
    assert len((await http.get(THREADS, params={"q": ""})).json()["threads"]) == 2


async def test_a_wrong_cursor_is_refused(http: httpx.AsyncClient) -> None:
    status, code, _ = await problem(await http.get(THREADS, params={"before": "nonsense"}))
    assert (status, code) == (422, "invalid_cursor")


async def titled(http: httpx.AsyncClient, *threads: str) -> None:
    for thread in threads:
        await finished(http, run(thread, f"run.{thread}", says(f"about {thread}", f"message.{thread}")))


async def lines(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await http.get(THREADS)).json()["threads"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("A title", "A title"),
        ("  two\n lines\t\u2028 and\u00a0more \x85 ", "two lines and more"),
        ("a\x07b\x1b[31m \x7f c\x9b", "ab[31m c"),
        ("nul \x00", "nul \ufffd"),
        ("旅行 👩‍👩‍👧 🇩🇪", "旅行 👩‍👩‍👧 🇩🇪"),
        ("x", "x"),
        (" " + "é" * 200 + "\n", "é" * 200),
    ],
)
async def test_a_title_is_kept_as_one_line(http: httpx.AsyncClient, given: str, kept: str) -> None:
    await titled(http, "t1", "t2")
    before = await lines(http)
    response = await http.patch(f"{THREADS}/t1", json={"title": given})
    assert (response.status_code, response.json()) == (200, {**before[1], "title": kept})
    assert await lines(http) == [before[0], response.json()]


async def test_half_of_a_surrogate_pair_in_a_title_is_replaced(http: httpx.AsyncClient) -> None:
    await titled(http, "t1")
    response = await http.patch(
        f"{THREADS}/t1", content=b'{"title": "a\\ud83d"}', headers={"content-type": "application/json"}
    )
    assert response.json()["title"] == "a\ufffd"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"title": None},
        {"title": 5},
        {"title": True},
        {"title": ["x"]},
        {"title": ""},
        {"title": " \n\x85\u3000"},
        {"title": "\x07\u200b\u202e\ufeff"},
        {"title": "x" * 201},
    ],
)
async def test_a_title_that_is_none_is_refused_and_nothing_changes(http: httpx.AsyncClient, body: Any) -> None:
    await titled(http, "t1")
    before = await lines(http)
    response = await http.patch(f"{THREADS}/t1", json=body)
    assert await problem(response) == (422, "invalid_request", ["/title"])
    assert await lines(http) == before


async def test_a_body_that_is_no_object_is_refused(http: httpx.AsyncClient) -> None:
    await titled(http, "t1")
    for content, code in ((b"", "invalid_request"), (b"[1]", "invalid_request"), (b"{", "malformed_json")):
        response = await http.patch(f"{THREADS}/t1", content=content, headers={"content-type": "application/json"})
        assert (await problem(response))[1] == code
    response = await http.patch(f"{THREADS}/t1", content=b"{}", headers={"content-type": "text/plain"})
    assert (await problem(response))[:2] == (415, "unsupported_media_type")


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_thread_that_is_not_there_is_not_found_and_a_wrong_id_is_refused(
    http: httpx.AsyncClient, method: str
) -> None:
    body = {"json": {"title": "x"}} if method == "PATCH" else {}
    assert (await problem(await http.request(method, f"{THREADS}/nowhere", **body)))[:2] == (404, "not_found")
    assert (await problem(await http.request(method, f"{THREADS}/a%20b", **body)))[:2] == (422, "invalid_request")


async def test_a_title_stays_over_later_runs(http: httpx.AsyncClient) -> None:
    await titled(http, "t1")
    await http.patch(f"{THREADS}/t1", json={"title": "mine"})
    await finished(http, run("t1", "r2", says("again", "m2")))
    assert [line["title"] for line in await lines(http)] == ["mine"]


async def test_a_deleted_thread_is_not_found_by_any_route(http: httpx.AsyncClient) -> None:
    await titled(http, "t1", "t2")
    response = await http.delete(f"{THREADS}/t1")
    assert (response.status_code, response.content) == (204, b"")
    assert [line["id"] for line in await lines(http)] == ["t2"]
    for method, path in (
        ("DELETE", f"{THREADS}/t1"),
        ("PATCH", f"{THREADS}/t1"),
        ("GET", f"{RUNS}/t1/events"),
        ("GET", f"{RUNS}/t1/events?runId=run.t1"),
        ("GET", f"{RUNS}/t1/history"),
        ("POST", f"{RUNS}/t1/cancel"),
    ):
        body = {"json": {"title": "x"}} if method == "PATCH" else {}
        assert (await problem(await http.request(method, path, **body)))[:2] == (404, "not_found"), path
    assert (await http.get(THREADS, params={"q": "about t1"})).json()["threads"] == []


async def test_deleting_a_thread_ends_its_streams_and_a_new_thread_of_that_id_is_resynchronised(
    http: httpx.AsyncClient, agent: Conducted
) -> None:
    agent.wait()
    await http.post(RUNS, json=run())
    async with http.stream("GET", f"{RUNS}/t1/events") as response:
        received = aiter(response.aiter_bytes())
        read = b""
        while b"one " not in read:
            read += await anext(received)
        assert (await http.delete(f"{THREADS}/t1")).status_code == 204
        async with asyncio.timeout(10):
            read += b"".join([chunk async for chunk in received])
    assert agent.stopped
    assert b'"RUN_FINISHED"' in read
    old = re.findall(rb"^id: (\d+)$", read, re.MULTILINE)
    agent.go_on.set()
    new = await finished(http, run(id="r2"))
    assert not {int(id) for id, _ in new} & {int(id) for id in old}
    for position in old:
        async with http.stream("GET", f"{RUNS}/t1/events", headers={"Last-Event-ID": position.decode()}) as response:
            received, read = aiter(response.aiter_bytes()), b""
            while b"data: " not in read:
                read += await anext(received)
        assert b'"MESSAGES_SNAPSHOT"' in read


async def test_the_documents_name_the_body_of_a_rename(http: httpx.AsyncClient) -> None:
    document = (await http.get("/api/openapi.json")).json()
    operation = document["paths"]["/api/v1/agent/threads/{threadId}"]["patch"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/RenameInput"}
    assert document["components"]["schemas"]["RenameInput"]["required"] == ["title"]
