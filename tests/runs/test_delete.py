"""Threads that are deleted, at rest and in the middle of a run; and what is told of threads and effects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.agents.base import AgentInput
from agui_app.errors import NotFound, StoreUnavailable
from agui_app.runs import pipeline, service
from agui_app.settings import Settings
from agui_app.storage.change import Change, Changed
from agui_app.storage.events import Frame, Resync
from agui_app.storage.objects import FolderStore
from agui_app.storage.tables import DISCARDED_PAYLOADS, PENDING_PAYLOADS
from agui_app.tools.registry import ToolContext, ToolOutcome
from tests.runs.house import House, Obj, Open, Scripted, Waits, body, call, text, tool, user


async def forever(input: AgentInput) -> AsyncIterator[Any]:
    for event in text("half")[:2]:
        yield event
    await asyncio.Event().wait()


@asynccontextmanager
async def listening(house: House) -> AsyncIterator[AsyncGenerator[Frame | Resync | None, None]]:
    with house.services.changes.follow("local", None) as frames:
        async with aclosing(frames):
            yield frames


async def heard(frames: AsyncGenerator[Frame | Resync | None, None], count: int) -> list[Obj]:
    """The next events of the stream of changes."""
    found: list[Obj] = []
    async with asyncio.timeout(10):
        while len(found) < count:
            frame = await anext(frames)
            assert isinstance(frame, Frame)
            found.append(json.loads(frame.data))
    return found


async def delete(house: House, thread: str = "t") -> None:
    async with asyncio.timeout(10):
        await house.services.runs.delete("local", thread)


async def nothing_left(house: House) -> bool:
    tables = [await house.threads(), await house.messages(), await house.runs(), await house.rows_of_log()]
    return not any((*tables, await house.rows(PENDING_PAYLOADS)))


def objects(settings: Settings) -> list[str]:
    return [path.name for path in settings.payload_dir.rglob("*.json")]


async def test_a_deleted_thread_leaves_no_row_and_no_payload(
    open_house: Open, settings: Settings, until: Waits
) -> None:
    async with open_house(Scripted(call("echo", {"say": "hi"}), text("done"))) as house:
        await house.play(body(user()))
        assert len(objects(settings)) == 1
        await delete(house)
        assert await nothing_left(house)
        await until(lambda: not objects(settings))
        for again in (delete(house), house.services.runs.cancel("local", "t", None), house.page()):
            with pytest.raises(NotFound):
                await again
        assert (await house.page(None))["threadId"] is None


async def test_deleting_a_thread_cancels_its_run_first_and_ends_its_readers(open_house: Open) -> None:
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        reading = house.services.events.follow("local", "t", after=0)
        seen = [await anext(reading) for _ in range(3)]
        await delete(house)
        async with asyncio.timeout(10):
            seen += [frame async for frame in reading]
        types = [json.loads(frame.data)["type"] for frame in seen if isinstance(frame, Frame)]
        assert types[-3:] == ["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]
        assert house.agent.closed == 1
        assert await nothing_left(house)
        with pytest.raises(NotFound):
            await anext(house.services.events.follow("local", "t", after=0))


async def test_an_agent_that_swallows_the_cancellation_does_not_keep_its_thread(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "STOP_BOUND_S", 0.01)
    began, let_go = asyncio.Event(), asyncio.Event()

    async def stubborn(input: AgentInput) -> AsyncIterator[Any]:
        began.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        for event in (*text("late"), *call("echo", {"say": "late"})):
            yield event

    async with open_house(Scripted(stubborn, text("new"))) as house:
        await house.start(body(user()))
        await began.wait()
        await delete(house)
        assert await nothing_left(house)
        await house.start(body(user(), run="r2"))
        let_go.set()
        await house.frames(run="r2")
        assert [row["content"] for row in await house.messages()] == ["hello", "new"]


async def test_a_run_sent_while_its_thread_is_deleted_begins_it_anew(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_transaction, go_on = asyncio.Event(), asyncio.Event()
    really = service.delete_thread

    async def slowly(*args: Any) -> None:
        in_transaction.set()
        await go_on.wait()
        await really(*args)

    monkeypatch.setattr(service, "delete_thread", slowly)
    async with open_house(Scripted(text("old"), text("new"))) as house:
        await house.play(body(user("old")))
        deleting = asyncio.ensure_future(delete(house))
        await in_transaction.wait()
        sending = asyncio.ensure_future(house.start(body(user("new"))))
        go_on.set()
        await deleting
        await sending
        await house.frames()
        assert [row["content"] for row in await house.messages()] == ["new", "new"]


async def test_a_run_that_is_taken_in_while_its_thread_is_deleted_is_cancelled_first(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking_in, go_on = asyncio.Event(), asyncio.Event()
    really = service.accept

    async def slowly(*args: Any) -> Any:
        accepted = await really(*args)
        taking_in.set()
        await go_on.wait()
        return accepted

    async with open_house(Scripted(text("old"), forever)) as house:
        await house.play(body(user()))
        monkeypatch.setattr(service, "accept", slowly)
        async with aclosing(house.services.events.follow("local", "t", after=0)) as reading:
            seen = [await anext(reading)]
            starting = asyncio.ensure_future(house.start(body(user("next", "u2"), run="r2")))
            await taking_in.wait()
            deleting = asyncio.ensure_future(delete(house))
            for _ in range(20):  # it comes as far as it can
                await asyncio.sleep(0)
            go_on.set()
            await asyncio.gather(starting, deleting)
            async with asyncio.timeout(10):
                seen += [frame async for frame in reading]
        last = seen[-1]
        assert isinstance(last, Frame)
        event = json.loads(last.data)
        assert (event["type"], event["runId"], event["outcome"]) == ("RUN_FINISHED", "r2", {"type": "cancelled"})
        assert await nothing_left(house)


@pytest.mark.parametrize("order", ["start first", "delete first"])
async def test_a_run_and_a_deletion_at_once_leave_a_whole_thread_or_none(open_house: Open, order: str) -> None:
    async with open_house(Scripted(*[forever] * 36)) as house:
        for number in range(12):
            if not await house.threads():
                await house.start(body(user(), run=f"r{number}"))
            jobs = [house.start(body(user("again", f"a{number}"), run=f"again{number}")), delete(house)]
            results = await asyncio.gather(*(jobs if order == "start first" else jobs[::-1]), return_exceptions=True)
            assert [result for result in results if isinstance(result, NotFound)] == []
            threads, runs = await house.threads(), await house.runs()
            active = [key for key in house.services.runs._active if key == ("local", "t")]
            assert (len(threads), len(active)) in ((1, 1), (0, 0))
            assert [run["status"] for run in runs] == ["running"] * len(threads)


async def test_ids_are_never_used_twice_and_an_old_position_gets_a_resync(open_house: Open) -> None:
    async with open_house(Scripted(text("old"), text("new"))) as house:
        await house.start(body(user("old")))
        old = [frame.id for frame in await house.frames()]
        await delete(house)
        started = await house.start(body(user("new")))
        new = [frame.id for frame in await house.frames()]
        assert set(old) & set(new) == set()
        assert new == list(range(old[-1] + 2, old[-1] + 2 + len(new)))
        for position in (*old, old[-1] + 1):
            async with aclosing(house.services.events.follow("local", "t", after=position)) as reading:
                first = await anext(reading)
                expected = Frame if position == started.last_event_id else Resync
                assert isinstance(first, expected), position


async def test_a_run_that_cannot_end_keeps_its_thread_and_the_deletion_can_be_tried_again(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "DELETE_WAIT_S", 0.01)
    committing, go_on = asyncio.Event(), asyncio.Event()

    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        async def commit(session: AsyncSession) -> None:
            committing.set()
            await go_on.wait()

        return ToolOutcome(result="done", commit=commit)

    async with open_house(Scripted(call("slow")), tools=[tool("slow", handler)]) as house:
        await house.start(body(user()))
        await committing.wait()
        with pytest.raises(StoreUnavailable, match="try again"):
            await delete(house)
        assert len(await house.threads()) == 1
        go_on.set()
        monkeypatch.setattr(service, "DELETE_WAIT_S", 10)
        await delete(house)
        assert await nothing_left(house)


async def test_a_caller_that_leaves_does_not_stop_the_deletion(open_house: Open, until: Waits) -> None:
    async with open_house(Scripted(forever)) as house:
        await house.start(body(user()))
        async with listening(house) as changes:
            leaving = asyncio.ensure_future(delete(house))
            await asyncio.sleep(0)
            leaving.cancel()
            await asyncio.wait({leaving})
            while (await heard(changes, 1))[0]["type"] != "thread.deleted":
                pass
        assert await nothing_left(house)


class Troubled(FolderStore):
    """A folder that takes and deletes nothing while it is away, and may hold up what it stores."""

    def __init__(self, settings: Settings):
        super().__init__(settings.payload_dir)
        self.away = False
        self.putting, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    async def put_json(self, path: str, payload: dict[str, Any]) -> None:
        self._refuse()
        self.putting.set()
        await self.go_on.wait()
        await super().put_json(path, payload)

    async def delete(self, path: str) -> None:
        self._refuse()
        await super().delete(path)

    def _refuse(self) -> None:
        if self.away:
            raise OSError("away")


async def test_a_payload_that_is_stored_while_its_thread_is_deleted_leaves_no_object(
    open_house: Open, settings: Settings, until: Waits
) -> None:
    store = Troubled(settings)
    async with open_house(Scripted(call("echo", {"say": "hi"}), text("done")), objects=store) as house:
        store.away = True
        await house.play(body(user()))
        assert len(await house.rows(PENDING_PAYLOADS)) == 1
        store.go_on.clear()
        store.putting.clear()
        store.away = False
        await store.putting.wait()
        await delete(house)
        store.go_on.set()
        [path] = {row["path"] for row in await house.rows(DISCARDED_PAYLOADS)}

        async def settled() -> bool:
            return len(await house.rows(DISCARDED_PAYLOADS)) == 1 and not (store.root / path).exists()

        await until(settled)  # the row that is left looks for a write that comes late


async def test_payloads_are_deleted_by_the_next_server_when_the_store_was_away(
    open_house: Open, settings: Settings, until: Waits
) -> None:
    store = Troubled(settings)
    async with open_house(Scripted(call("echo", {"say": "hi"}), text("done")), objects=store) as house:
        await house.play(body(user()))
        store.away = True
        await delete(house)
    assert len(objects(settings)) == 1
    async with open_house() as house:
        await until(lambda: not objects(settings))


async def test_a_thread_is_told_when_it_comes_and_when_its_runs_start_and_end_and_when_it_goes(
    open_house: Open, clock: Any
) -> None:
    async with open_house(Scripted(forever, text("done"))) as house, listening(house) as changes:
        await house.start(body(user("first words")))
        [created] = await heard(changes, 1)
        assert (created["type"], created["thread"]["title"], created["thread"]["activeRunId"]) == (
            "thread.created",
            "first words",
            "r",
        )
        assert list(created["thread"]) == ["id", "title", "createdAt", "updatedAt", "lastLine", "activeRunId"]
        clock.advance(60)
        await house.services.runs.cancel("local", "t", None)
        [ended] = await heard(changes, 1)
        assert (ended["type"], ended["thread"]["activeRunId"], ended["thread"]["lastLine"]) == (
            "thread.updated",
            None,
            "half",
        )
        assert ended["thread"]["updatedAt"] > created["thread"]["updatedAt"]
        await house.play(body(user("next", "u2"), run="r2"))
        started, _ = await heard(changes, 2)
        assert (started["type"], started["thread"]["title"]) == ("thread.updated", "first words")
        await delete(house)
        assert await heard(changes, 1) == [{"type": "thread.deleted", "thread": {"id": "t"}}]


async def test_what_an_effect_changed_is_told_when_it_is_committed_and_never_before(open_house: Open) -> None:
    works = iter([False, True])

    async def handler(context: ToolContext, args: Obj) -> ToolOutcome:
        good = next(works)

        async def commit(session: AsyncSession) -> list[Change]:
            if not good:
                raise RuntimeError("no")
            return [Change(Changed.CALENDAR_CHANGED, "e1"), Change(Changed.CALENDAR_DELETED, "e2")]

        return ToolOutcome(result="done", commit=commit)

    agent = Scripted(call("change", id="c1"), call("change", id="c2"), text("done"))
    async with open_house(agent, tools=[tool("change", handler)]) as house, listening(house) as changes:
        await house.play(body(user()))
        events = await heard(changes, 4)
        assert [event.get("event", event["type"]) for event in events] == [
            "thread.created",
            {"id": "e1"},
            {"id": "e2"},
            "thread.updated",
        ]
