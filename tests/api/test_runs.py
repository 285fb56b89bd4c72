from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from agui_app.client import AguiClient
from agui_app.errors import NotFound
from agui_app.services import Overrides, Services, open_services
from agui_app.settings import Settings
from tests.api.conftest import Conducted, over

RUNS = "/api/v1/agent/runs"


def says(text: str = "hello", id: str = "m1") -> dict[str, Any]:
    return {"id": id, "role": "user", "content": text}


def run(thread: str = "t1", id: str = "r1", *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"threadId": thread, "runId": id, "messages": list(messages or (says(id=f"{id}.question"),)), **more}


async def frames(http: httpx.AsyncClient, path: str, **headers: str) -> list[tuple[str, dict[str, Any]]]:
    """Id and event of every frame of a stream that ends by itself."""
    response = await http.get(path, headers=headers)
    assert response.status_code == 200, response.text
    found: list[tuple[str, dict[str, Any]]] = []
    for block in response.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        assert set(lines) in (set(), {"id", "data"})
        if lines:
            found.append((lines["id"], json.loads(lines["data"])))
    return found


async def finished(http: httpx.AsyncClient, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The frames of the run that `body` starts, once it has ended."""
    response = await http.post(RUNS, json=body)
    assert response.status_code == 202, response.text
    return await frames(http, f"{RUNS}/{body['threadId']}/events?runId={body['runId']}")


async def problem(response: httpx.Response) -> tuple[int, str, list[str]]:
    """Status, code and pointers of a problem."""
    assert response.headers["content-type"] == "application/problem+json"
    content = response.json()
    assert content["status"] == response.status_code
    return content["status"], content["code"], [error["pointer"] for error in content.get("errors", ())]


def types(found: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [event["type"] for _, event in found]


async def test_a_run_is_accepted_and_says_where_its_events_are(http: httpx.AsyncClient) -> None:
    response = await http.post(RUNS, json=run())
    assert (response.status_code, response.json()) == (
        202,
        {
            "threadId": "t1",
            "runId": "r1",
            "status": "running",
            "eventsUrl": "/api/v1/agent/runs/t1/events",
            "lastEventId": "0",
        },
    )


async def test_ids_that_are_left_out_are_made(http: httpx.AsyncClient) -> None:
    made = (await http.post(RUNS, json={"messages": [{"role": "user", "content": "hello"}]})).json()
    page = (await http.get(f"{RUNS}/{made['threadId']}/history")).json()
    assert (page["messages"][0]["content"], page["messages"][0]["runId"]) == ("hello", made["runId"])


async def test_the_events_of_a_run_come_in_order_and_end_with_it(http: httpx.AsyncClient) -> None:
    found = await finished(http, run())
    assert (types(found)[0], types(found)[-1]) == ("RUN_STARTED", "RUN_FINISHED")
    assert "".join(event.get("delta", "") for _, event in found) == "one two"
    ids = [int(id) for id, _ in found]
    assert ids == sorted(set(ids))
    assert [message["id"] for message in found[0][1]["input"]["messages"]] == ["r1.question"]


async def test_a_stream_resumes_after_any_id(http: httpx.AsyncClient) -> None:
    found = await finished(http, run())
    of_run = f"{RUNS}/t1/events?runId=r1"
    for at, (id, _) in enumerate(found[:-1]):
        assert await frames(http, of_run, **{"Last-Event-ID": id}) == found[at + 1 :]
        assert await frames(http, f"{of_run}&after={id}") == found[at + 1 :]


async def test_the_header_beats_the_parameter(http: httpx.AsyncClient) -> None:
    found = await finished(http, run())
    path = f"{RUNS}/t1/events?runId=r1&after={found[-1][0]}"
    assert await frames(http, path, **{"Last-Event-ID": found[0][0]}) == found[1:]


async def test_after_the_last_id_of_a_run_there_is_nothing(http: httpx.AsyncClient) -> None:
    found = await finished(http, run())
    response = await http.get(f"{RUNS}/t1/events?runId=r1", headers={"Last-Event-ID": found[-1][0]})
    assert (response.status_code, response.content) == (204, b"")


async def test_a_run_between_others_is_read_alone(http: httpx.AsyncClient) -> None:
    for id in ("r1", "r2", "r3"):
        await finished(http, run(id=id))
    found = await frames(http, f"{RUNS}/t1/events?runId=r2")
    assert (found[0][1]["runId"], found[-1][1]["runId"]) == ("r2", "r2")
    assert types(found).count("RUN_STARTED") == 1


async def test_the_stream_of_a_thread_goes_on_over_its_runs(http: httpx.AsyncClient, client: AguiClient) -> None:
    first = await finished(http, run())
    ends: list[str] = []
    async with aclosing(client.follow("t1", first[-1][0])) as events:
        await http.post(RUNS, json=run(id="r2"))
        async for event in events:
            if event.event["type"] == "RUN_FINISHED":
                ends.append(event.event["runId"])
                if ends == ["r2", "r3"]:
                    break
                await http.post(RUNS, json=run(id="r3"))


async def test_without_a_position_a_stream_starts_with_the_active_run(
    http: httpx.AsyncClient, client: AguiClient, agent: Conducted
) -> None:
    await finished(http, run())
    agent.wait()
    await http.post(RUNS, json=run(id="r2"))
    async with aclosing(client.follow("t1")) as events:
        first = await anext(events)
    assert (first.event["type"], first.event["runId"]) == ("RUN_STARTED", "r2")


async def test_a_reader_sees_events_while_the_run_goes_on(
    http: httpx.AsyncClient, client: AguiClient, agent: Conducted
) -> None:
    agent.wait()
    await http.post(RUNS, json=run())
    text = ""
    async with aclosing(client.follow("t1", "0", run_id="r1")) as events:
        async for event in events:
            text += event.event.get("delta", "")
            if text == "one ":
                agent.go_on.set()
    assert text == "one two"


@pytest.mark.parametrize("position", ["999", "nonsense", "-1", "9" * 30, "\u00b2"])
async def test_a_position_that_the_log_does_not_have_is_answered_with_the_newest_page(
    http: httpx.AsyncClient, client: AguiClient, position: str
) -> None:
    found = await finished(http, run())
    page = (await http.get(f"{RUNS}/t1/history")).json()
    async with http.stream("GET", f"{RUNS}/t1/events", params={"after": position}) as response:
        text = ""
        async for piece in response.aiter_text():
            text += piece
            if "MESSAGES_SNAPSHOT" in text:
                break
    assert f"id: {found[-1][0]}\n" in text
    async with aclosing(client.follow("t1", "999")) as events:
        event = await anext(events)
    assert (event.id, event.page) == (found[-1][0], page)


async def test_a_reader_that_leaves_is_forgotten(http: httpx.AsyncClient, services: Services, agent: Conducted) -> None:
    agent.wait()
    await http.post(RUNS, json=run())
    hub = services.events._hub
    async with http.stream("GET", f"{RUNS}/t1/events") as response:
        received = aiter(response.aiter_text())
        while "RUN_STARTED" not in await anext(received):
            pass
        assert len(hub) == 1
    assert len(hub) == 0


async def test_silence_is_filled_with_comments(settings: Settings, agent: Conducted) -> None:
    quick = settings.model_copy(update={"keepalive_s": 0.01})
    async with open_services(quick, Overrides(agent=agent)) as services, over(services) as http:
        await finished(http, run())
        async with http.stream("GET", f"{RUNS}/t1/events") as response:
            received = aiter(response.aiter_text())
            text = ""
            while text.count(": keep-alive\n\n") < 2:
                text += await anext(received)
    assert text.startswith(": open\n\n: keep-alive\n\n: keep-alive\n\n")


@pytest.mark.parametrize(
    "path",
    [
        f"{RUNS}/none/events",
        f"{RUNS}/none/events?runId=r1",
        f"{RUNS}/t1/events?runId=none",
        f"{RUNS}/t2/events?runId=r1",
        f"{RUNS}/none/history",
    ],
)
async def test_an_unknown_thread_or_run_is_not_found(http: httpx.AsyncClient, path: str) -> None:
    await finished(http, run())
    await finished(http, run("t2", "r9"))
    assert await problem(await http.get(path)) == (404, "not_found", [])


async def test_an_id_in_the_path_or_a_parameter_follows_the_rule(http: httpx.AsyncClient) -> None:
    assert await problem(await http.get(f"{RUNS}/a%20b/events")) == (422, "invalid_request", ["threadId"])
    assert await problem(await http.get(f"{RUNS}/t/events?runId=a%20b")) == (422, "invalid_request", ["runId"])
    assert await problem(await http.post(f"{RUNS}/a%20b/cancel")) == (422, "invalid_request", ["threadId"])


async def test_the_same_request_twice_is_one_run(http: httpx.AsyncClient) -> None:
    body = {"runId": "r1", "messages": [{"role": "user", "content": "hello"}]}
    first, second = await http.post(RUNS, json=body), await http.post(RUNS, json=dict(reversed(body.items())))
    thread = first.json()["threadId"]
    assert (second.status_code, second.json()["threadId"]) == (202, thread)
    found = await frames(http, f"{RUNS}/{thread}/events?runId=r1")
    assert types(found).count("RUN_STARTED") == 1
    assert (await http.post(RUNS, json=body)).json()["status"] == "finished"


async def test_a_run_id_with_another_body_conflicts(http: httpx.AsyncClient) -> None:
    await finished(http, run())
    assert await problem(await http.post(RUNS, json=run("t1", "r1", says("other")))) == (409, "run_conflict", [])


async def test_a_second_run_while_one_is_active_conflicts_and_names_it(
    http: httpx.AsyncClient, agent: Conducted
) -> None:
    agent.wait()
    await http.post(RUNS, json=run())
    response = await http.post(RUNS, json=run(id="r2"))
    assert await problem(response) == (409, "run_active", [])
    assert response.json()["activeRunId"] == "r1"
    assert len((await http.get(f"{RUNS}/t1/history")).json()["runs"]) == 1


async def test_a_new_thread_needs_a_message_and_a_known_one_does_not(http: httpx.AsyncClient) -> None:
    body = {"threadId": "t1", "runId": "r2", "messages": []}
    assert await problem(await http.post(RUNS, json=body)) == (422, "invalid_request", ["/messages"])
    assert await problem(await http.post(RUNS, json={})) == (422, "invalid_request", ["/messages"])
    await finished(http, run())
    assert types(await finished(http, body))[-1] == "RUN_FINISHED"


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"", {}, 400, "malformed_json"),
        (b"{", {"content-type": "application/json"}, 400, "malformed_json"),
        (b"[]", {"content-type": "application/json"}, 422, "invalid_request"),
        (b"[" * 3000, {"content-type": "application/json"}, 422, "invalid_request"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported_media_type"),
        (b"{}", {}, 415, "unsupported_media_type"),
    ],
)
async def test_a_body_that_is_no_run_is_refused(
    http: httpx.AsyncClient, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    response = await http.post(RUNS, content=content, headers=headers)
    assert (await problem(response))[:2] == (status, code)


async def test_a_body_that_is_too_large_is_refused_also_in_chunks(http: httpx.AsyncClient, services: Services) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(services.settings.max_body_bytes // 1_000_000 + 2):
            yield b" " * 1_000_000

    headers = {"content-type": "application/json"}
    large = b" " * (services.settings.max_body_bytes + 1)
    for content in (large, chunks()):
        response = await http.post(RUNS, content=content, headers=headers)
        assert await problem(response) == (413, "too_large", [])


async def test_text_with_nul_and_lone_surrogates_is_mended(http: httpx.AsyncClient) -> None:
    raw = rb'{"threadId": "t1", "runId": "r1", "messages": [{"id": "m", "role": "user", "content": "a\u0000\ud83db"}]}'
    await http.post(RUNS, content=raw, headers={"content-type": "application/json"})
    page = (await http.get(f"{RUNS}/t1/history")).json()
    assert page["messages"][0]["content"] == "a\ufffd\ufffdb"


async def test_a_cancel_stops_the_active_run_and_keeps_what_was_said(http: httpx.AsyncClient, agent: Conducted) -> None:
    agent.wait()
    await http.post(RUNS, json=run())
    response = await http.post(f"{RUNS}/t1/cancel")
    assert (response.status_code, response.json()) == (202, {"status": "cancelling", "runId": "r1"})
    await frames(http, f"{RUNS}/t1/events?runId=r1")
    page = (await http.get(f"{RUNS}/t1/history")).json()
    assert [run["status"] for run in page["runs"]] == ["cancelled"]


async def test_a_cancel_may_name_the_run(http: httpx.AsyncClient, agent: Conducted) -> None:
    agent.wait()
    await http.post(RUNS, json=run())
    other, named = [await http.post(f"{RUNS}/t1/cancel", json={"runId": id}) for id in ("r9", "r1")]
    assert (other.status_code, other.json()) == (202, {"status": "idle"})
    assert (named.status_code, named.json()) == (202, {"status": "cancelling", "runId": "r1"})


async def test_a_cancel_with_nothing_to_stop_is_idle_and_of_an_unknown_thread_not_found(
    http: httpx.AsyncClient,
) -> None:
    await finished(http, run())
    response = await http.post(f"{RUNS}/t1/cancel", json={})
    assert (response.status_code, response.json()) == (202, {"status": "idle"})
    assert await problem(await http.post(f"{RUNS}/none/cancel")) == (404, "not_found", [])


async def test_the_client_runs_follows_and_reads(client: AguiClient) -> None:
    started = await client.start_run(run())
    batches = [batch async for batch in client.follow_batches("t1", started["lastEventId"], run_id="r1")]
    page = await client.history("t1")
    assert [message["content"] for message in page["messages"]] == ["hello", "one two"]
    assert page["lastEventId"] == batches[-1][-1].id
    assert [thread["id"] for thread in (await client.threads())["threads"]] == ["t1"]
    assert await client.cancel("t1") == {"status": "idle"}
    with pytest.raises(NotFound):
        await client.history("none")


async def test_two_readers_get_the_same_frames(http: httpx.AsyncClient, agent: Conducted) -> None:
    agent.wait()
    await http.post(RUNS, json=run())
    async with asyncio.TaskGroup() as group:
        reads = [group.create_task(frames(http, f"{RUNS}/t1/events?runId=r1")) for _ in range(2)]
        agent.go_on.set()
    assert reads[0].result() == reads[1].result()


async def test_a_run_can_replace_what_came_from_a_message_on(http: httpx.AsyncClient) -> None:
    await finished(http, run("t1", "r1", says(id="q1")))
    retry = {"threadId": "t1", "runId": "r2", "messages": [], "forwardedProps": {"replaceFrom": "q1"}}
    _, first = (await finished(http, retry))[0]
    assert first["metadata"] == {"agui-app": {"replaces": {"after": "q1"}}}
    edit = run("t1", "r3", says("better", "q2"), forwardedProps={"replaceFrom": "q1"})
    await finished(http, edit)
    page = (await http.get(f"{RUNS}/t1/history")).json()
    assert [(one["id"], one["content"]) for one in page["messages"]] == [("q2", "better"), ("r3.answer", "one two")]
    assert [one["runId"] for one in page["runs"]] == ["r3"]


async def test_a_run_that_replaces_nothing_there_is_refused_with_a_pointer(http: httpx.AsyncClient) -> None:
    await finished(http, run("t1", "r1", says(id="q1")))
    for thread, named, messages in (("t1", "q9", []), ("t1", "a b", []), ("new", "q1", []), ("new", "q1", [says()])):
        asked = {"threadId": thread, "runId": "r2", "messages": messages, "forwardedProps": {"replaceFrom": named}}
        response = await http.post(RUNS, json=asked)
        assert await problem(response) == (422, "invalid_request", ["/forwardedProps/replaceFrom"])
    assert (await http.get(f"{RUNS}/new/history")).status_code == 404
    response = await http.post(RUNS, json=run("t1", "r2", says("other", "q1"), forwardedProps={"replaceFrom": "q1"}))
    assert await problem(response) == (422, "invalid_request", ["/messages/0/id"])


async def test_a_reader_whose_place_is_gone_gets_what_is_left_after_an_edit(http: httpx.AsyncClient) -> None:
    await finished(http, run("t1", "r1", says(id="q1")))
    await finished(http, run("t1", "r2", says(id="q2")))
    await finished(http, run("t1", "r3", says("better", "q3"), forwardedProps={"replaceFrom": "r1.answer"}))
    async with http.stream("GET", f"{RUNS}/t1/events?after=999") as response:
        lines = (line async for line in response.aiter_lines() if line.startswith("data: "))
        snapshot = json.loads((await anext(lines)).removeprefix("data: "))
    assert [message["id"] for message in snapshot["messages"]] == ["q1", "q3", "r3.answer"]
    runs = snapshot["metadata"]["agui-app"]["runs"]
    assert [(one["runId"], one.get("supersededBy")) for one in runs] == [("r1", "r3"), ("r3", None)]
