"""Text is sound before it is logged, and rows of one moment keep their order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agui_app.storage.tables import EVENTS, MESSAGES
from tests.runs.house import Obj, Open, Scripted, body, call, text, user
from tests.runs.test_parity import pages_back

PIECES = ["a\ud83d", "\ude00b", "\ud83d", "c", "\ude00", "\x00", "d\ud83d"]
SOUND = "a😀b\ufffdc\ufffd\ufffdd\ufffd"


def said(kind: str) -> list[Obj]:
    match kind:
        case "text":
            return text(*PIECES)
        case "reasoning":
            return [{**event, "type": event["type"].replace("TEXT", "REASONING")} for event in text(*PIECES)]
        case _:
            start, _, end = call("nobody", '{"say": "')
            pieces = ['{"say": "', *PIECES, '"}']
            return [start, *({"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": piece} for piece in pieces), end]


@pytest.mark.parametrize("kind", ["text", "reasoning", "arguments"])
async def test_two_halves_of_a_surrogate_pair_in_two_deltas_are_joined_before_logging_a_lone_one_becomes_u_fffd_nul_too(
    open_house: Open, kind: str
) -> None:
    async with open_house(Scripted(said(kind))) as house:
        events = await house.play(body(user()))
        logged = "".join(event["delta"] for event in events if "delta" in event)
        assert logged == (f'{{"say": "{SOUND}"}}' if kind == "arguments" else SOUND)
        message = (await house.page())["messages"][1]
        assert (message["toolCalls"][0]["args"]["say"] if kind == "arguments" else message["content"]) == SOUND


async def test_nul_and_lone_surrogates_of_an_agent_are_nowhere_in_the_log_the_rows_or_a_page(open_house: Open) -> None:
    odd: Any = {"k\x00": ["\x00", "\ud83d", "\ude00\ud83d"]}
    given: list[Obj] = [
        {"type": "STEP_STARTED", "stepName": "a\x00"},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "act", "activityType": "p\ud83d", "content": odd},
        {"type": "TOOL_CALL_RESULT", "messageId": "x", "toolCallId": "n\x00", "content": "\ud83d", "result": odd},
        {"type": "CUSTOM", "name": "\x00", "value": odd},
        {"type": "FUTURE\x00", "a": odd},
        {"type": "RUN_ERROR", "message": "no\x00\ud83d", "code": "\x00"},
    ]
    async with open_house(Scripted(given)) as house:
        events = await house.play(body(user("\x00\ud83d")))
        assert events[-1]["message"] == "no\ufffd\ufffd"
        for table in (EVENTS, MESSAGES):
            assert unsound(json.dumps(await house.rows(table), default=str, ensure_ascii=False)) == []
        assert unsound(json.dumps(await house.page(), ensure_ascii=False)) == []


def unsound(written: str) -> list[str]:
    return [mark for mark in ("\\u0000", "\x00", "\\ud83d", "\ud83d", "\\ude00", "\ude00") if mark in written]


async def test_equal_times_never_reorder(open_house: Open) -> None:
    """The clock of these tests stands still, and the ids are in no order of their own."""
    ids = ["m9", "m1", "m5", "m0", "m7"]
    answers = [[*text("x", id=id), *call("echo", {"say": id}, id=f"c{id}")] for id in ids]
    async with open_house(Scripted(*(round for answer in answers for round in (answer, [])))) as house:
        for number, _ in enumerate(ids):
            await house.play(body(user(id=f"u{9 - number}"), run=f"r{9 - number}"))
        stored = await house.messages()
        assert len({row["created_at"] for row in stored}) == 1
        whole = [message["id"] for message in (await house.page(limit=200))["messages"]]
        assert [id for id in whole if len(id) == 2] == [
            id for number, id in enumerate(ids) for id in (f"u{9 - number}", id)
        ]
        assert whole == [row["id"] for row in stored]
        for limit in (1, 2, 3):
            assert [message.id for message in (await pages_back(house, limit)).messages] == whole
        lists = await house.services.threads.list_threads("local", None, 50)
        assert [one["id"] for one in lists["threads"]] == ["t"]
