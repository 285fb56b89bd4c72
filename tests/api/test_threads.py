from __future__ import annotations

import httpx

from tests.api.test_runs import finished, problem, run, says

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
