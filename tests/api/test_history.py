from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.test_runs import RUNS, finished, problem, run

HISTORY = "/api/v1/agent/history"


async def pages(http: httpx.AsyncClient, path: str, **params: Any) -> list[dict[str, Any]]:
    """Every page from the newest to the oldest."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["hasMore"]:
        cursor = {"before": found[-1]["nextCursor"]} if found else {}
        found.append((await http.get(path, params={**params, **cursor})).json())
    return found


async def test_a_page_holds_what_was_said_and_both_paths_give_it(http: httpx.AsyncClient) -> None:
    found = await finished(http, run())
    page = (await http.get(f"{RUNS}/t1/history")).json()
    assert [(m["role"], m["content"], m["status"]) for m in page["messages"]] == [
        ("user", "hello", "complete"),
        ("assistant", "one two", "complete"),
    ]
    rest = {name: page[name] for name in ("threadId", "hasMore", "nextCursor", "lastEventId", "activeRunId")}
    assert rest == {
        "threadId": "t1",
        "hasMore": False,
        "nextCursor": None,
        "lastEventId": found[-1][0],
        "activeRunId": None,
    }
    assert (await http.get(HISTORY)).json() == page
    assert (await http.get(HISTORY, params={"threadId": "t1"})).json() == page


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_of_any_length_hold_each_message_once(http: httpx.AsyncClient, limit: int) -> None:
    for id in ("r1", "r2", "r3"):
        await finished(http, run(id=id))
    whole = (await http.get(f"{RUNS}/t1/history")).json()["messages"]
    for path in (f"{RUNS}/t1/history", HISTORY):
        found = await pages(http, path, limit=limit)
        assert [message for page in reversed(found) for message in page["messages"]] == whole
        assert ["lastEventId" in page for page in found] == [True] + [False] * (len(found) - 1)


async def test_the_cursor_holds_the_thread(http: httpx.AsyncClient) -> None:
    await finished(http, run())
    cursor = (await http.get(HISTORY, params={"limit": 1})).json()["nextCursor"]
    await finished(http, run("t2", "r2"))
    page = (await http.get(HISTORY, params={"before": cursor})).json()
    assert (page["threadId"], [message["id"] for message in page["messages"]]) == ("t1", ["r1.question"])
    assert (await http.get(HISTORY)).json()["threadId"] == "t2"


async def test_a_caller_without_threads_gets_an_empty_page(http: httpx.AsyncClient) -> None:
    page = (await http.get(HISTORY)).json()
    assert (page["threadId"], page["messages"], page["runs"], page["hasMore"]) == (None, [], [], False)


@pytest.mark.parametrize(
    ("params", "code", "pointers"),
    [
        ({"before": "nonsense"}, "invalid_cursor", []),
        ({"before": ""}, "invalid_cursor", []),
        ({"before": "x" * 2001}, "invalid_request", ["before"]),
        ({"limit": "0"}, "invalid_request", ["limit"]),
        ({"limit": "201"}, "invalid_request", ["limit"]),
        ({"limit": "many"}, "invalid_request", ["limit"]),
        ({"threadId": ".."}, "invalid_request", ["threadId"]),
    ],
)
async def test_a_wrong_parameter_is_named(
    http: httpx.AsyncClient, params: dict[str, str], code: str, pointers: list[str]
) -> None:
    status, said, where = await problem(await http.get(HISTORY, params=params))
    assert (status, said) == (422, code)
    assert code == "invalid_cursor" or where == pointers
