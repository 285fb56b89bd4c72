"""Runs while the database or the object store fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from agui_app.agents.base import AgentInput
from agui_app.storage.tables import PENDING_PAYLOADS
from tests.runs.house import House, Obj, Open, Scripted, Waits, body, call, text, user

CUT: Obj = {"metadata": {"agui-app": {"interrupted": True}}}


class Flaky:
    """An object store that fails until it is told to work."""

    bucket = "flaky"

    def __init__(self) -> None:
        self.works = False
        self.stored: dict[str, Obj] = {}

    async def put_json(self, path: str, payload: Obj) -> None:
        if not self.works:
            raise OSError("disk full")
        self.stored[path] = payload

    async def get_json(self, path: str) -> Obj:
        return self.stored[path]

    async def delete(self, path: str) -> None:
        self.stored.pop(path, None)

    async def check(self) -> None:
        return None


async def test_a_payload_that_cannot_be_stored_stops_nothing_and_is_stored_later(
    open_house: Open, clock: Any, until: Waits
) -> None:
    objects = Flaky()
    async with open_house(Scripted(call("echo", {"say": "hi"}), text("done")), objects=objects) as house:
        events = await house.play(body(user()))
        assert events[-1]["outcome"] == {"type": "success"}
        [answer] = [one for one in (await house.page())["messages"] if one["role"] == "tool"]
        assert (answer["content"], answer["ui"], answer["result"], answer["payloadMissing"]) == ("hi", None, None, True)
        assert answer["metadata"] == {
            "tool_call_id": "c1",
            "tool_name": "echo",
            "run_id": "r",
            "stage": "execution",
            "task_id": None,
            "storage_bucket": None,
            "storage_path": None,
            "summary_version": 1,
            "storage_missing": True,
        }
        objects.works = True
        clock.advance(3600)

        async def stored() -> bool:
            return not await house.rows(PENDING_PAYLOADS)

        await until(stored)
        [answer] = [one for one in (await house.page())["messages"] if one["role"] == "tool"]
        assert (answer["ui"]["cardType"], answer["metadata"]["storage_bucket"]) == ("x.v1", "flaky")
        assert ("storage_missing" in answer["metadata"], "payloadMissing" in answer) == (False, False)


async def test_the_database_away_for_a_moment_loses_nothing(open_house: Open, monkeypatch: Any) -> None:
    from agui_app.errors import StoreUnavailable
    from agui_app.runs import writer

    store, fails = writer.store_batch, [True] * 3

    def store_batch(*args: Any) -> Any:
        if fails:
            fails.pop()
            raise StoreUnavailable("away")
        return store(*args)

    async with open_house(Scripted(text("a"), call("echo", {"say": "x"}))) as house:
        await house.start(body(user()))
        monkeypatch.setattr(writer, "store_batch", store_batch)
        events = await house.events()
        assert [event["type"] for event in events] == [
            "RUN_STARTED",
            *(event["type"] for event in text("a")),
            "RUN_FINISHED",
        ]


async def test_events_that_can_never_be_stored_end_the_run_from_its_log(
    open_house: Open, monkeypatch: Any, until: Waits
) -> None:
    from agui_app.runs import writer

    store = writer.store_batch

    def store_batch(connection: Any, batch: Any, now: Any) -> Any:
        if any("poison" in event for event in batch.events):
            raise RuntimeError("cannot be stored")
        return store(connection, batch, now)

    monkeypatch.setattr(writer, "store_batch", store_batch)

    async def slowly(input: AgentInput) -> AsyncIterator[Any]:
        for event in text("fine")[:2]:
            yield event

        async def logged() -> bool:
            return any(event.get("delta") == "fine" for event in await houses[0].log())

        await until(logged)
        for event in text("poison", "never")[1:]:
            yield event

    houses: list[House] = []

    async with open_house(Scripted(slowly)) as house:
        houses.append(house)
        events = await house.play(body(user()))
        assert events[1:] == [
            *text("fine")[:2],
            {"type": "TEXT_MESSAGE_END", "messageId": "m1", **CUT},
            {"type": "RUN_ERROR", "message": "The run could not be stored", "code": "internal"},
        ]
        assert [(row["content"], row["status"]) for row in await house.messages()] == [
            ("hello", "complete"),
            ("fine", "interrupted"),
        ]


async def test_a_run_whose_rows_cannot_be_stored_still_ends(open_house: Open) -> None:
    """An id that the run will make is taken by a message of an earlier run."""
    agent = Scripted(text("taken", id="r2.c1"), call("echo", {"say": "x"}))
    async with open_house(agent) as house:
        await house.play(body(user()))
        events = await house.play(body(user("next", "u2"), run="r2"))
        assert events[-1] == {"type": "RUN_ERROR", "message": "The run could not be stored", "code": "internal"}
        assert [run["status"] for run in await house.runs()] == ["finished", "failed"]
        assert (await house.page())["activeRunId"] is None
