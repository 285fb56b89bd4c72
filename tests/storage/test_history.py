"""Pages of history, out of rows, payloads and the log of the active run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from agui_app.errors import BadCursor, NotFound
from agui_app.storage import payloads as payloads_module
from agui_app.storage.cursors import write_cursor
from agui_app.storage.database import Database
from agui_app.storage.history import History
from agui_app.storage.objects import FolderStore
from agui_app.storage.tables import EVENTS, MESSAGES, RUNS
from tests.storage.conftest import T0, Seed

EMPTY = {
    "threadId": None,
    "messages": [],
    "runs": [],
    "hasMore": False,
    "nextCursor": None,
    "lastEventId": None,
    "activeRunId": None,
}


@pytest.fixture
def objects(tmp_path: Any) -> FolderStore:
    return FolderStore(tmp_path / "payloads")


@pytest.fixture
def history(database: Database, objects: FolderStore) -> History:
    return History(database, objects)


async def store_result(database: Database, thread_pk: int, path: str | None) -> None:
    """A tool message after what `seed` stored."""
    metadata = {
        "tool_call_id": "c1",
        "tool_name": "look",
        "run_id": "t-r0",
        "stage": "execution",
        "task_id": None,
        "storage_bucket": path and "local",
        "storage_path": path,
        "summary_version": 1,
    }
    async with database.write() as session:
        await session.execute(
            insert(MESSAGES).values(
                owner_id="local",
                thread_pk=thread_pk,
                position=10,
                id="x1",
                role="tool",
                content="looked",
                run_id="t-r0",
                status="complete",
                created_at=T0,
                metadata=metadata,
            )
        )


async def test_a_page_is_what_the_contract_says(history: History, seed: Seed) -> None:
    await seed("t")
    assert await history.page("local", "t", None, 50) == {
        "threadId": "t",
        "messages": [
            {
                "id": "user0",
                "role": "user",
                "content": "question 0 of t",
                "runId": "t-r0",
                "createdAt": "2026-03-02T09:00:00.000Z",
                "status": "complete",
                "attachments": [],
            },
            {
                "id": "assistant0",
                "role": "assistant",
                "content": "answer 0 of t",
                "runId": "t-r0",
                "createdAt": "2026-03-02T09:00:00.000Z",
                "status": "complete",
            },
        ],
        "runs": [
            {
                "runId": "t-r0",
                "status": "finished",
                "steps": [],
                "startedAt": "2026-03-02T09:00:00.000Z",
                "finishedAt": "2026-03-02T09:00:00.500Z",
            }
        ],
        "hasMore": False,
        "nextCursor": None,
        "lastEventId": "4",
        "activeRunId": None,
    }


async def test_without_a_thread_it_is_the_newest_or_empty(history: History, seed: Seed) -> None:
    assert await history.page("local", None, None, 50) == EMPTY
    await seed("old")
    await seed("new", at=T0.replace(hour=10))
    await seed("others", at=T0.replace(hour=11), owner_id="other")
    assert (await history.page("local", None, None, 50))["threadId"] == "new"


async def test_the_cursor_knows_its_thread(history: History, seed: Seed) -> None:
    await seed("t", runs=3)
    await seed("newest", at=T0.replace(hour=10))
    first = await history.page("local", "t", None, 4)
    second = await history.page("local", None, first["nextCursor"], 4)
    assert [message["id"] for message in second["messages"]] == ["user0", "assistant0"]
    assert ([run["runId"] for run in second["runs"]], second["hasMore"], "lastEventId" in second) == (
        *(["t-r0"], False, False),
    )


async def test_a_cursor_of_another_thread_or_kind_is_bad_and_a_strangers_is_not_found(
    history: History, seed: Seed
) -> None:
    await seed("t", runs=2)
    await seed("mine", owner_id="other")
    for cursor in (write_cursor(thread="u", position=1), write_cursor(updated=1, thread=1), "nonsense"):
        with pytest.raises(BadCursor):
            await history.page("local", "t", cursor, 50)
    for thread, cursor in (("mine", None), ("nowhere", None), (None, write_cursor(thread="mine", position=1))):
        with pytest.raises(NotFound):
            await history.page("local", thread, cursor, 50)


async def test_a_result_comes_with_its_payload(history: History, database, seed: Seed, objects: FolderStore) -> None:
    thread_pk = await seed("t")
    await store_result(database, thread_pk, "a.json")
    ui = {"type": "card", "cardType": "x.v1"}
    await objects.put_json("a.json", {"args": {"q": 1}, "result": [1], "error": None, "ui": ui, "content": "looked"})
    shown = (await history.page("local", "t", None, 1))["messages"][0]
    assert {key: shown[key] for key in ("args", "result", "error", "ui")} == {
        "args": {"q": 1},
        "result": [1],
        "error": None,
        "ui": ui,
    }
    assert ("payloadMissing" in shown, shown["metadata"]["storage_path"]) == (False, "a.json")


@pytest.mark.parametrize("text", [None, "nonsense", "[]"])
async def test_a_payload_that_is_gone_or_broken_leaves_the_summary(
    history: History, database: Database, seed: Seed, objects: FolderStore, text: str | None
) -> None:
    await store_result(database, await seed("t"), "a.json")
    if text is not None:
        objects.root.mkdir()
        (objects.root / "a.json").write_text(text)
    shown = (await history.page("local", "t", None, 1))["messages"][0]
    assert {key: shown[key] for key in ("content", "args", "result", "error", "ui", "payloadMissing")} == {
        "content": "looked",
        "args": None,
        "result": None,
        "error": None,
        "ui": None,
        "payloadMissing": True,
    }


async def test_a_slow_payload_does_not_hold_the_page(
    database: Database, seed: Seed, objects: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(FolderStore):
        async def get_json(self, path: str) -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(payloads_module, "READ_BOUND_S", 0.01)
    await store_result(database, await seed("t"), "a.json")
    page = await History(database, Slow(objects.root)).page("local", "t", None, 50)
    assert [message["content"] for message in page["messages"]] == ["question 0 of t", "answer 0 of t", "looked"]
    assert page["messages"][2]["payloadMissing"] is True


async def test_a_payload_that_waits_is_missing(history: History, database: Database, seed: Seed) -> None:
    await store_result(database, await seed("t"), None)
    assert (await history.page("local", "t", None, 1))["messages"][0]["payloadMissing"] is True


async def test_superseded_messages_have_left(history: History, database: Database, seed: Seed) -> None:
    await seed("t", runs=2)
    async with database.write() as session:
        await session.execute(update(MESSAGES).where(MESSAGES.c.id == "user1").values(superseded_by="t-r9"))
    page = await history.page("local", "t", None, 50)
    assert [message["id"] for message in page["messages"]] == ["user0", "assistant0", "assistant1"]


async def test_a_replaced_run_is_on_a_page_with_what_is_left_of_it(
    history: History, database: Database, seed: Seed
) -> None:
    await seed("t", runs=3)
    gone = (MESSAGES.c.id == "assistant0") | (MESSAGES.c.position >= 2)
    async with database.write() as session:
        await session.execute(update(MESSAGES).where(gone).values(superseded_by="t-r9"))
        await session.execute(update(RUNS).values(superseded_by="t-r9"))
    page = await history.page("local", "t", None, 50)
    assert [(run["runId"], run["supersededBy"]) for run in page["runs"]] == [("t-r0", "t-r9")]


async def test_the_active_run_is_what_its_log_says(history: History, database: Database, seed: Seed) -> None:
    thread_pk = await seed("t", runs=2, active=True)
    lines = [
        '{"type":"RUN_STARTED","threadId":"t","runId":"t-r1","timestamp":0,"input":{"messages":[{"id":"user1","role":"user","content":"q"}]}}',
        '{"type":"TEXT_MESSAGE_START","messageId":"assistant1","timestamp":0}',
        '{"type":"TEXT_MESSAGE_CONTENT","messageId":"assistant1","delta":"so far"}',
        '{"type":"STEP_STARTED","stepName":"intent","timestamp":0}',
    ]
    async with database.write() as session:
        for id, line in enumerate(lines, 5):
            await session.execute(update(EVENTS).where(EVENTS.c.id == id).values(data=line))
    page = await history.page("local", "t", None, 50)
    assert [(message["content"], message["status"]) for message in page["messages"]] == [
        ("question 0 of t", "complete"),
        ("answer 0 of t", "complete"),
        ("q", "complete"),
        ("so far", "streaming"),
    ]
    assert (page["activeRunId"], page["lastEventId"]) == ("t-r1", "8")
    assert [(run["status"], [step["name"] for step in run["steps"]]) for run in page["runs"]] == [
        ("finished", []),
        ("running", ["intent"]),
    ]
    assert thread_pk


async def test_a_thread_without_messages_is_an_empty_page(history: History, database: Database, seed: Seed) -> None:
    await seed("t", runs=0)
    async with database.write() as session:
        await session.execute(delete(MESSAGES))
    assert await history.page("local", "t", None, 50) == {**EMPTY, "threadId": "t", "lastEventId": "0"}
