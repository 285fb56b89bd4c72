"""An agent for the browser tests: what it does stands in the message.

- `slow N`: N words, ten a second
- `fast N`: N pieces of four characters, a hundred a second
- `stream N`: N characters, twenty at a time, two hundred times a second
- `burst N`: N characters at once
- `card`: a calendar card of its own making; `unknown`: a card of an unknown type
- `flaky`: says half a sentence and fails, the first time that it is asked
- `silent`: nothing, until it is stopped
- `count` and whatever follows: the number of characters
- anything else: an echo
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from agui_app.agents.base import AgentInput
from agui_app.conversation.model import Role
from agui_app.protocol.events import Event, read_event

STAGES_OF_A_TALK = ("intent", "report")


def event(type_: str, **fields: Any) -> Event:
    """An event by its wire names."""
    return read_event({"type": type_, **fields})


class ScriptedAgent:
    """Does what the newest user message says."""

    def __init__(self) -> None:
        self._failed: set[str] = set()
        """Ids of the messages whose first answer failed."""

    async def run(self, input: AgentInput) -> AsyncIterator[Event]:
        asked = next(message for message in reversed(input.messages) if message.role is Role.USER)
        said = asked.text
        word, _, rest = said.partition(" ")
        message_id = f"{input.run_id}.answer"
        if word == "silent":
            await asyncio.Event().wait()
        yield event("STEP_STARTED", stepName="intent")
        yield event("STEP_FINISHED", stepName="intent")
        if word in ("card", "unknown"):
            async for made in self._card(input.run_id, word):
                yield made
        yield event("STEP_STARTED", stepName="report")
        yield event("TEXT_MESSAGE_START", messageId=message_id, role="assistant")
        async for piece in self._pieces(word, rest, said):
            yield event("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=piece)
        if word == "flaky" and asked.id not in self._failed:
            self._failed.add(asked.id)
            raise RuntimeError("half way")
        yield event("TEXT_MESSAGE_END", messageId=message_id)
        yield event("STEP_FINISHED", stepName="report")

    async def _pieces(self, word: str, rest: str, said: str) -> AsyncIterator[str]:
        match word:
            case "slow":
                for index in range(int(rest)):
                    yield f"word{index} "
                    await asyncio.sleep(0.1)
            case "fast":
                start = asyncio.get_running_loop().time()
                for index in range(int(rest)):
                    await asyncio.sleep(max(0.0, start + index / 100 - asyncio.get_running_loop().time()))
                    yield f"{index:03d} "[-4:]
            case "stream":
                for index in range(int(rest) // 20):
                    yield f"{index:05d} some more text"[:20]
                    await asyncio.sleep(0.005)
            case "burst":
                yield ("abcdefghi " * (int(rest) // 10 + 1))[: int(rest)]
            case _ if said.startswith("count"):
                yield f"{len(said)} characters"
            case _:
                yield f"You said: {said}"

    async def _card(self, run_id: str, word: str) -> AsyncIterator[Event]:
        call = f"{run_id}.call"
        ui = (
            {"type": "card", "cardType": "weather_card.v7", "data": {"degrees": 21}, "actions": []}
            if word == "unknown"
            else {
                "type": "card",
                "cardType": "calendar_card.v1",
                "data": {
                    "id": "evt_1",
                    "title": "Product review",
                    "startAt": "2026-03-01T10:00:00+08:00",
                    "endAt": "2026-03-01T11:00:00+08:00",
                    "timezone": "Asia/Shanghai",
                    "location": "Room A",
                    "color": "#4F46E5",
                },
                "actions": [],
            }
        )
        yield event("STEP_STARTED", stepName="execution")
        yield event("TOOL_CALL_START", toolCallId=call, toolCallName="make_card")
        yield event("TOOL_CALL_ARGS", toolCallId=call, delta='{"title": "Product')
        await asyncio.sleep(0.3)
        yield event("TOOL_CALL_ARGS", toolCallId=call, delta=' review"}')
        yield event("TOOL_CALL_END", toolCallId=call)
        yield event("TOOL_CALL_RESULT", messageId=f"{call}.result", toolCallId=call, role="tool", content="made", ui=ui)
        yield event("STEP_FINISHED", stepName="execution")
