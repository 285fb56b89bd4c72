"""Results that a client sends for a call of an earlier run."""

from __future__ import annotations

from typing import Any

import pytest

from agui_app.conversation.history import from_page
from agui_app.conversation.items import rows
from agui_app.conversation.messages import standard_messages
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import read_event
from agui_app.storage.tables import PENDING_PAYLOADS
from tests.runs.house import House, Obj, Open, Scripted, Waits, body, call, text, user

FINISHED: Obj = {"type": "RUN_FINISHED", "outcome": {"type": "success", "pendingToolCallIds": ["c1"]}}
TOOLS: list[Obj] = [{"name": "pick", "description": "", "parameters": {"type": "object"}}]


def answer(call_id: str = "c1", id: str = "tm1", **more: Any) -> Obj:
    return {"id": id, "role": "tool", "toolCallId": call_id, "content": '{"picked": 3}', **more}


async def asked(house: House) -> None:
    """A run that ended with a call which its client carries out."""
    await house.play(body(user(), run="r0", tools=TOOLS))


def agent() -> Scripted:
    asking = [*text("which?", id="m0"), *call("pick", {"of": 5}, id="c1"), *text("tell me", id="m1"), FINISHED]
    return Scripted(asking, text("three it is", id="m2"), text("more", id="m3"))


async def live(house: House) -> Conversation:
    return fold(Conversation(), [read_event(event) for event in await house.log()])


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
async def test_a_late_result_stands_with_its_call_live_and_from_history(
    open_house: Open, until: Waits, limit: int
) -> None:
    async with open_house(agent()) as house:
        await asked(house)
        window, known = from_page(await house.page(limit=limit)), len(await house.log())
        await house.play(body(answer(), run="r1"))

        async def stored() -> bool:
            return not await house.rows(PENDING_PAYLOADS)

        await until(stored)
        whole = await live(house)
        assert [(one.kind, one.id, one.status) for one in rows(whole)] == [
            ("message", "u1", "complete"),
            ("message", "m0", "complete"),
            ("toolResult", "call:r0:c1", "completed"),
            ("message", "m1", "complete"),
            ("message", "m2", "complete"),
        ]
        loaded = from_page(await house.page())
        assert (rows(loaded), loaded.runs) == (rows(whole), whole.runs)
        resumed = rows(fold(window, [read_event(event) for event in (await house.log())[known:]]))
        assert resumed == rows(whole)[len(rows(whole)) - len(resumed) :]
        assert [row["position"] for row in await house.messages()] == [0, 1, 2, 3, 4, 5]


async def test_the_agent_gets_a_late_result_with_its_call_as_it_was_sent(open_house: Open) -> None:
    async with open_house(agent()) as house:
        await asked(house)
        await house.play(body(answer(), run="r1"))
        given = standard_messages(house.agent.inputs[-1].messages)
        assert [(one["role"], one.get("content")) for one in given] == [
            ("user", "hello"),
            ("assistant", "which?"),
            ("assistant", None),
            ("tool", '{"picked": 3}'),
            ("assistant", "tell me"),
        ]
        assert (given[2]["toolCalls"][0]["id"], given[3]["toolCallId"]) == ("c1", "c1")


async def test_a_page_read_while_the_answering_run_goes_on_has_the_result_with_its_call(
    open_house: Open, until: Waits
) -> None:
    async with open_house(agent()) as house:
        await asked(house)
        pages: list[Obj] = []

        class Looking:
            async def run(self, input: Any) -> Any:
                pages.append(await house.page())
                yield text("x", id="m2")[0]

        object.__setattr__(house.services.runs._parts, "agent", Looking())
        await house.play(body(answer(), run="r1"))
        assert [(one["id"], one["role"], one["runId"]) for one in pages[0]["messages"]] == [
            ("u1", "user", "r0"),
            ("m0", "assistant", "r0"),
            ("r0.c1", "assistant", "r0"),
            ("tm1", "tool", "r0"),
            ("m1", "assistant", "r0"),
        ]


@pytest.mark.parametrize(
    "messages",
    [
        [answer("nobody")],
        [answer(), answer(id="tm2")],
        [answer(runId="r0", call_id="nobody")],
    ],
)
async def test_what_answers_no_open_call_stands_by_itself(open_house: Open, messages: list[Obj]) -> None:
    async with open_house(agent()) as house:
        await asked(house)
        await house.play(body(*messages, run="r1"))
        page = await house.page()
        last = [one for one in page["messages"] if one["role"] == "tool"][-1]
        assert (last["id"], last["runId"]) == (messages[-1]["id"], "r1")
        assert rows(from_page(page))[-2].id == f"call:r1:{messages[-1]['toolCallId']}"


async def test_a_call_that_has_its_result_keeps_it(open_house: Open) -> None:
    async with open_house(agent()) as house:
        await asked(house)
        await house.play(body(answer(), run="r1"))
        await house.play(body(answer(id="tm2"), run="r2"))
        found = [(one["id"], one["runId"]) for one in (await house.page())["messages"] if one["role"] == "tool"]
        assert found == [("tm1", "r0"), ("tm2", "r2")]
