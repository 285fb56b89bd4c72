"""Retry and edit: what a run replaces has left history, search and the agent's memory, and is kept in the database."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from agui_app.agents.base import AgentInput
from agui_app.conversation.history import from_page, with_older
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold
from agui_app.errors import FieldError, InvalidRequest, RunActive, RunConflict
from agui_app.protocol.events import read_event
from agui_app.runs.service import StartedRun
from agui_app.settings import Settings
from agui_app.storage.tables import THREADS
from tests.runs.house import House, Obj, Open, Scripted, body, call, text, user
from tests.runs.test_cost import seed, statements
from tests.runs.test_parity import pages_back, seen
from tests.runs.test_stop import forever, shown

FAILS: list[Obj] = [{"type": "RUN_ERROR", "message": "no model", "code": "x"}]
REPLACE_FROM = "/forwardedProps/replaceFrom"


class Same:
    """An agent that answers with the same ids every time, and tells how often it was asked."""

    def __init__(self) -> None:
        self.inputs: list[AgentInput] = []

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        self.inputs.append(input)
        answered = any(message.tool is not None and message.run_id == input.run_id for message in input.messages)
        for event in text(f"answer {len(self.inputs)}", id="m2") if answered else call("echo", {"say": "hi"}):
            yield event


def replacing(message_id: str, *said: Obj, run: str = "r2", **more: Any) -> Obj:
    return body(*said, run=run, forwardedProps={"replaceFrom": message_id}, **more)


def said(page: Obj) -> list[tuple[str, str]]:
    return [(message["id"], message["content"]) for message in page["messages"]]


def heard(input: AgentInput) -> list[str]:
    return [message.text for message in input.messages]


async def superseded(house: House) -> list[tuple[str, str | None]]:
    return [(message["id"], message["superseded_by"]) for message in await house.messages()]


async def superseded_runs(house: House) -> list[tuple[str, str | None]]:
    return [(run["id"], run["superseded_by"]) for run in await house.runs()]


async def whole(house: House) -> Conversation:
    return fold(Conversation(), [read_event(event) for event in await house.log()])


async def refused(house: House, asked: Obj) -> tuple[FieldError, ...]:
    """Why the request is refused; nothing of it is stored."""
    before = await house.messages(), await house.runs(), await house.threads(), await house.log()
    with pytest.raises(InvalidRequest) as caught:
        await house.start(asked)
    assert (await house.messages(), await house.runs(), await house.threads(), await house.log()) == before
    return caught.value.errors


async def test_a_retry_answers_the_same_message_anew(open_house: Open) -> None:
    async with open_house(Scripted(text("bad"), text("good", id="m2"))) as house:
        await house.play(body(user()))
        events = await house.play(replacing("u1"))
        assert events[0]["metadata"] == {"agui-app": {"replaces": {"after": "u1"}}}
        assert events[0]["input"]["messages"] == []
        page = await house.page()
        assert said(page) == [("u1", "hello"), ("m2", "good")]
        assert [(run["runId"], run.get("supersededBy")) for run in page["runs"]] == [("r", "r2"), ("r2", None)]
        assert heard(house.agent.inputs[1]) == ["hello"]
        assert await superseded(house) == [("u1", None), ("m1", "r2"), ("m2", None)]
        assert await superseded_runs(house) == [("r", "r2"), ("r2", None)]


async def test_an_edit_takes_the_old_message_away_and_all_after_it(open_house: Open) -> None:
    scripts = [text(f"a{number}", id=f"m{number}") for number in range(1, 5)]
    async with open_house(Scripted(*scripts)) as house:
        for number in (1, 2, 3):
            await house.play(body(user(f"q{number}", f"u{number}"), run=f"r{number}"))
        events = await house.play(replacing("u2", user("better", "u4"), run="r4"))
        assert events[0]["metadata"] == {"agui-app": {"replaces": {"from": "u2"}}}
        assert events[0]["input"]["messages"] == [user("better", "u4")]
        assert said(await house.page()) == [("u1", "q1"), ("m1", "a1"), ("u4", "better"), ("m4", "a4")]
        assert heard(house.agent.inputs[3]) == ["q1", "a1", "better"]
        assert await superseded_runs(house) == [("r1", None), ("r2", "r4"), ("r3", "r4"), ("r4", None)]


async def test_an_answer_can_be_replaced_from_its_middle(open_house: Open) -> None:
    rounds = [[*text("one"), *text("two", id="m2")], text("else", id="m3")]
    async with open_house(Scripted(*rounds)) as house:
        await house.play(body(user()))
        events = await house.play(replacing("m2"))
        assert events[0]["metadata"] == {"agui-app": {"replaces": {"from": "m2"}}}
        assert said(await house.page()) == [("u1", "hello"), ("m1", "one"), ("m3", "else")]
        assert heard(house.agent.inputs[1]) == ["hello", "one"]


async def test_an_agent_may_say_the_same_ids_again_in_every_retry(open_house: Open) -> None:
    async with open_house(Same()) as house:
        await house.play(body(user()))
        for number in (2, 3, 4):
            events = await house.play(replacing("u1", run=f"r{number}"))
            assert events[-1]["outcome"] == {"type": "success"}
            contents = [content for _, content in said(await house.page())]
            assert contents == ["hello", "", "hi", f"answer {2 * number}"]
            assert seen(await pages_back(house, 2)) == seen(await whole(house))
        assert heard(house.agent.inputs[-1]) == ["hello", "", "hi"]
        assert await superseded_runs(house) == [("r", "r2"), ("r2", "r3"), ("r3", "r4"), ("r4", None)]


async def test_a_turn_without_an_answer_can_be_retried_until_there_is_one(open_house: Open) -> None:
    async with open_house(Scripted(FAILS, FAILS, FAILS, text("at last"))) as house:
        await house.play(body(user()))
        for number in (2, 3):
            await house.play(replacing("u1", run=f"r{number}"))
            page = await house.page()
            assert [(run["runId"], run["status"]) for run in page["runs"]] == [
                ("r", "failed"),
                (f"r{number}", "failed"),
            ]
            assert seen(from_page(page)) == seen(await whole(house))
        await house.play(replacing("u1", run="r4"))
        assert said(await house.page()) == [("u1", "hello"), ("m1", "at last")]
        assert [heard(input) for input in house.agent.inputs] == [["hello"]] * 4


STORY: list[Obj] = [
    body(user("one", "u1"), run="r1"),
    body(user("two", "u2"), run="r2"),
    replacing("u2", run="r3"),
    body(run="r4"),
    body(user("three", "u3"), run="r5"),
    replacing("u3", user("drei", "u4"), run="r6"),
    replacing("u4", run="r7"),
    body(user("four", "u5"), run="r8"),
    replacing("m-r3", run="r9"),
    body(user("five", "u6"), run="r10"),
    replacing("u1", user("eins", "u7"), run="r11"),
    replacing("u7", run="r12"),
    body(user("six", "u8"), run="r13"),
]
"""Turns, retries and edits, one after another; run r4 fails and says nothing."""


def answers(input: AgentInput) -> list[Obj]:
    if input.run_id == "r4":
        return FAILS
    called = any(message.tool is not None and message.run_id == input.run_id for message in input.messages)
    return text(input.run_id, id=f"m-{input.run_id}") if called else call("echo", {"say": "hi"})


class Teller:
    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        for event in answers(input):
            yield event


async def test_after_every_retry_and_edit_the_pages_are_the_fold_of_the_log(open_house: Open) -> None:
    async with open_house(Teller()) as house:
        for asked in STORY:
            await house.play(asked)
            final = seen(await whole(house))
            for limit in (1, 2, 3, 200):
                assert seen(await pages_back(house, limit)) == final, (asked["runId"], limit)
        assert [content for _, content in said(await house.page())] == ["eins", "", "hi", "r12", "six", "", "hi", "r13"]


@pytest.mark.parametrize("limit", [1, 2, 3, 200])
async def test_a_window_read_before_retries_and_edits_becomes_the_whole_with_its_old_cursor(
    open_house: Open, limit: int
) -> None:
    async with open_house(Teller()) as house:
        pages: list[Obj] = []
        for asked in STORY:
            await house.play(asked)
            pages.append(await house.page(limit=limit))
        log, final = await house.log(), seen(await whole(house))
        for page in pages:
            rest = [read_event(event) for event in log[int(page["lastEventId"]) :]]
            window = fold(from_page(page), rest)
            while page["hasMore"]:
                page = await house.page(before=page["nextCursor"], limit=limit)
                window = with_older(window, page)
            assert seen(window) == final


async def test_an_older_cursor_gives_what_is_left_once_each(open_house: Open) -> None:
    async with open_house(Scripted(text("new", id="m"))) as house:
        await seed(house, "t", 30)
        cursor = (await house.page(limit=10))["nextCursor"]
        await house.play(replacing("s11", user("else", "u")))
        ids = [message["id"] for message in (await house.page(before=cursor, limit=50))["messages"]]
        assert ids == [f"s{number}" for number in range(11)]


async def test_a_message_that_cannot_be_replaced_is_refused_and_nothing_stored(open_house: Open) -> None:
    async with open_house(Same()) as house:
        await house.play(body(user("elsewhere", "w1"), thread="w", run="w"))
        await house.play(body(user()))
        [tool_message] = [one["id"] for one in (await house.page())["messages"] if one["role"] == "tool"]
        await house.play(replacing("u1"))
        cases = {
            "nothing": "the thread has no message 'nothing'",
            "w1": "the thread has no message 'w1'",
            "m2": "the message 'm2' was replaced already, by 'r2'",
        }
        for named, message in cases.items():
            assert await refused(house, replacing(named, run="r3")) == (FieldError(REPLACE_FROM, message),)
        asked = replacing("w1", user("new", "u9"), thread="new", run="r3")
        [error] = await refused(house, asked)
        assert error.pointer == REPLACE_FROM
        renamed = [one["id"] for one in (await house.page())["messages"] if one["role"] == "tool"]
        assert renamed != [tool_message]
        assert await refused(house, replacing(renamed[0], run="r3")) == (
            FieldError(REPLACE_FROM, f"{renamed[0]!r} is of role tool; name a message of user or assistant"),
        )
        assert [error.pointer for error in await refused(house, replacing("a b", run="r3"))] == [REPLACE_FROM]


async def test_an_edit_by_the_id_of_a_replaced_message_is_refused(open_house: Open) -> None:
    async with open_house(Scripted(text("a"), text("b", id="m2"), text("c", id="m3"), text("d", id="m4"))) as house:
        await house.play(body(user()))
        await house.play(body(user("more", "u2"), run="r2"))
        await house.play(replacing("u2", user("much more", "u3"), run="r3"))
        refusals = {
            "changed by its own id": (replacing("u3", user("other", "u3"), run="x"), 0),
            "the named one beside a new one": (replacing("u3", user("much more", "u3"), user("n", "u9"), run="x"), 0),
            "one that was replaced before": (replacing("u3", user("n", "u9"), user("more", "u2"), run="x"), 1),
            "one after the named one": (replacing("u1", user(), user("much more", "u3"), run="x"), 1),
            "of another kind": (replacing("u3", {"id": "u3", "role": "tool", "toolCallId": "c"}, run="x"), 0),
        }
        for asked, index in refusals.values():
            message_id = asked["messages"][index]["id"]
            assert await refused(house, asked) == (
                FieldError(
                    f"/messages/{index}/id", f"{message_id!r} is the id of a replaced message; an edit needs a new id"
                ),
            )
        # A client that sends what it has, up to the message that is to be answered anew.
        history = [user(), {"id": "m1", "role": "assistant", "content": "a"}, user("much more", "u3")]
        await house.play(replacing("u3", *history, run="r4"))
        assert said(await house.page()) == [("u1", "hello"), ("m1", "a"), ("u3", "much more"), ("m4", "d")]


async def test_a_client_that_sends_an_old_history_brings_nothing_replaced_back(open_house: Open) -> None:
    async with open_house(Scripted(text("bad"), text("good", id="m2"), text("next", id="m3"))) as house:
        await house.play(body(user()))
        await house.play(replacing("u1", user("better", "u2")))
        old = [user(), {"id": "m1", "role": "assistant", "content": "bad"}]
        events = await house.play(body(*old, user("go on", "u3"), run="r3"))
        assert events[0]["input"]["messages"] == [user("go on", "u3")]
        assert said(await house.page()) == [("u2", "better"), ("m2", "good"), ("u3", "go on"), ("m3", "next")]
        assert heard(house.agent.inputs[2]) == ["better", "good", "go on"]


async def test_a_call_that_stays_keeps_its_result_and_one_that_leaves_takes_it_along(open_house: Open) -> None:
    rounds = [call("echo", {"say": "hi"}), text("done"), text("kept", id="m2"), text("gone", id="m3")]
    async with open_house(Scripted(*rounds)) as house:
        await house.play(body(user()))
        carrier = (await house.page())["messages"][1]["id"]
        await house.play(replacing("m1"))
        page = await house.page()
        assert [one["role"] for one in page["messages"]] == ["user", "assistant", "tool", "assistant"]
        assert page["messages"][2]["result"] == {"ok": True, "message": "hi"}
        assert [message.tool and message.tool.result for message in house.agent.inputs[2].messages] == [
            *(None, None, {"ok": True, "message": "hi"}),
        ]
        await house.play(replacing(carrier, run="r3"))
        assert said(await house.page()) == [("u1", "hello"), ("m3", "gone")]
        assert heard(house.agent.inputs[3]) == ["hello"]
        assert seen(from_page(await house.page())) == seen(await whole(house))


async def test_a_snapshot_brings_nothing_replaced_back(open_house: Open) -> None:
    def snapshot(*messages: Obj) -> Obj:
        return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}

    def assistant(id: str, content: str) -> Obj:
        return {"id": id, "role": "assistant", "content": content}

    remembers = [*text("good", id="m2"), snapshot(user(), assistant("m1", "bad"), assistant("m2", "Good"))]
    again = [*text("best"), snapshot(user(), assistant("m1", "Best"))]
    async with open_house(Scripted(text("bad"), remembers, again)) as house:
        await house.play(body(user()))
        await house.play(replacing("u1"))
        assert said(await house.page()) == [("u1", "hello"), ("m2", "Good")]
        assert seen(from_page(await house.page())) == seen(await whole(house))
        await house.play(replacing("u1", run="r3"))  # the agent says the replaced id again: it means its own
        assert said(await house.page()) == [("u1", "hello"), ("r3.m1", "Best")]
        assert seen(from_page(await house.page())) == seen(await whole(house))
        assert [(id, content) for id, content, _ in await contents(house)] == [
            *(("u1", "hello"), ("m1", "bad"), ("m2", "Good"), ("r3.m1", "Best")),
        ]


async def contents(house: House) -> list[tuple[str, str, str | None]]:
    return [(one["id"], one["content"], one["superseded_by"]) for one in await house.messages()]


async def test_an_agent_cannot_replace_anything(open_house: Open) -> None:
    noted = {"metadata": {"agui-app": {"replaces": {"from": "u1"}}}}
    start = {"type": "RUN_STARTED", "threadId": "t", "runId": "other", **noted}
    async with open_house(Scripted([start, *({**event, **noted} for event in text("hi"))])) as house:
        await house.play(body(user()))
        assert said(await house.page()) == [("u1", "hello"), ("m1", "hi")]
        assert seen(from_page(await house.page())) == seen(await whole(house))


async def test_the_title_follows_an_edit_of_the_message_that_it_was_made_of(open_house: Open) -> None:
    async with open_house(Scripted(*(text("a", id=f"m{number}") for number in range(9)))) as house:

        async def title() -> str:
            return (await house.threads())[0]["title"]

        await house.play(body(user("hello", "u1")))
        await house.play(replacing("u1", user("good  morning", "u2"), run="r2"))
        assert await title() == "good morning"
        await house.play(replacing("u2", run="r3"))
        assert await title() == "good morning"
        await house.play(body(user("good morning", "u3"), run="r4"))
        await house.play(replacing("u3", user("good night", "u4"), run="r5"))
        assert await title() == "good morning"
        await house.play(replacing("u2", user([{"type": "image"}], "u5"), run="r6"))
        assert await title() == "good morning"


async def test_a_title_that_the_reader_gave_stays(open_house: Open) -> None:
    async with open_house(Scripted(text("a"), text("b", id="m2"))) as house:
        await house.play(body(user()))
        async with house.services.database.write() as session:
            await session.execute(update(THREADS).values(title="mine"))
        await house.play(replacing("u1", user("other", "u2")))
        assert (await house.threads())[0]["title"] == "mine"


async def test_the_same_retry_twice_is_one_run_and_replaces_once(open_house: Open) -> None:
    async with open_house(Scripted(text("a"), text("b", id="m2"), text("c", id="m3"))) as house:
        await house.play(body(user()))
        await house.play(replacing("u1"))
        before = await contents(house)
        again = await house.start(replacing("u1"))
        assert (again.run_id, again.status) == ("r2", "finished")
        assert await contents(house) == before
        with pytest.raises(RunConflict):
            await house.start(replacing("m2", run="r2"))
        assert await contents(house) == before


async def test_a_retry_sent_while_a_cancel_is_under_way_waits_for_it(open_house: Open) -> None:
    async with open_house(Scripted(forever, text("whole", id="m2"))) as house:
        await house.start(body(user()))
        await shown(house, "TEXT_MESSAGE_CONTENT")
        await house.services.runs.cancel("local", "t", None)
        await house.play(replacing("m1"))
        assert said(await house.page()) == [("u1", "hello"), ("m2", "whole")]
        assert seen(from_page(await house.page())) == seen(await whole(house))


async def test_a_retry_while_a_run_is_active_is_refused_and_replaces_nothing(open_house: Open) -> None:
    async with open_house(Scripted(text("a"), forever)) as house:
        await house.play(body(user()))
        asked = [replacing("u1", run="r2"), body(user("more", "u2"), run="r3"), replacing("m1", run="r4")]
        outcomes = await asyncio.gather(*(house.start(one) for one in asked), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StartedRun, RunActive, RunActive]
        assert {by for _, by in await superseded(house)} == {None, "r2"}


async def test_a_server_that_dies_in_a_retry_has_replaced_all_or_nothing(
    open_house: Open, settings: Settings, tmp_path: Path
) -> None:
    image = tmp_path / "image"
    async with open_house(Scripted(text("bad"), forever)) as house:
        await house.play(body(user()))
        await house.start(replacing("u1"))
        shutil.copytree(settings.data_dir, image)  # what a kill leaves behind
    async with open_house(Scripted(text("good", id="m2")), data_dir=image) as house:
        page = await house.page()
        assert [content for _, content in said(page) if content != "half"] == ["hello"]
        assert [(run["runId"], run["status"]) for run in page["runs"]] == [("r", "finished"), ("r2", "interrupted")]
        assert seen(from_page(page)) == seen(await whole(house))
        await house.play(replacing("u1", run="r3"))
        assert said(await house.page()) == [("u1", "hello"), ("m2", "good")]


async def test_two_thousand_messages_are_replaced_in_one_statement(open_house: Open) -> None:
    async with open_house(Scripted(text("new", id="m"))) as house:
        await seed(house, "t", 2_000)
        with statements(house.services.database) as asked:
            await house.start(replacing("s1", user("else", "u"), run="r"))
            marking = [one for one in asked if one.startswith("UPDATE") and "superseded_by=" in one]
        assert sorted(one.split()[1] for one in marking) == ["messages", "runs"]
        await house.events()
        assert [id for id, _ in said(await house.page())] == ["s0", "u", "m"]
        assert [by for _, by in await superseded(house)].count("r") == 1_999


async def test_what_was_replaced_is_not_found_and_is_no_last_line(open_house: Open) -> None:
    async with open_house(Scripted(text("an old answer"), forever)) as house:
        await house.play(body(user("a question")))
        await house.start(replacing("m1"))
        threads = house.services.threads
        [thread] = (await threads.list_threads("local", None, 50))["threads"]
        assert thread["lastLine"] == "a question"
        found = {q: len((await threads.list_threads("local", None, 50, q))["threads"]) for q in ("question", "answer")}
        assert found == {"question": 1, "answer": 0}


async def test_a_replaced_run_can_still_be_replayed(open_house: Open) -> None:
    async with open_house(Scripted(text("bad"), text("good", id="m2"))) as house:
        first = await house.play(body(user()))
        second = await house.play(replacing("u1"))
        assert await house.events(run="r") == first
        assert await house.events(run="r2") == second
        replayed = fold(Conversation(), [read_event(event) for event in second])
        assert [message.text for message in replayed.messages] == ["good"]
