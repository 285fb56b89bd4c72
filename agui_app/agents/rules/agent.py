"""The rule agent: reads the last sentence, calls a tool of the calendar or answers, and streams like a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

from agui_app.agents.base import AgentInput
from agui_app.agents.rules.answers import answer, report
from agui_app.agents.rules.intent import Intent, Kind, read_intent
from agui_app.conversation.model import Message, Role
from agui_app.protocol.events import (
    Event,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agui_app.protocol.ids import new_id

_CHINESE = re.compile(r"[\u3400-\u9fff]")
# A piece is 2 to 4 Chinese characters, or up to 3 words; marks and spaces go with what is before them.
_PIECE = re.compile(r"[\u3400-\u9fff]{2,4}[^\w\s]*\s*|(?:[^\s\u3400-\u9fff]+\s*){1,3}|.", re.DOTALL)
ARGS_PIECE_LENGTH = 12
"""Characters of arguments in one event: a page shows them as they come."""


class RulesAgent:
    """An `agents.base.Agent` with no key and no network; `token_delay_s` passes between the pieces it writes."""

    def __init__(self, token_delay_s: float = 0) -> None:
        self._token_delay_s = token_delay_s

    async def run(self, input: AgentInput) -> AsyncIterator[Event]:
        """One round: intent and a call, or the report on its result, or intent and an answer."""
        last = input.messages[-1] if input.messages else None
        said = _last_sentence(input.messages)
        locale = "zh" if _CHINESE.search(said) else input.locale
        if last is not None and last.tool is not None:
            yield StepFinishedEvent(step_name="execution")
            async for event in self._reported(report(last.tool, locale, input.timezone)):
                yield event
            return
        yield StepStartedEvent(step_name="intent")
        is_answered = last is not None and last.role is Role.ASSISTANT
        intent = Intent(Kind.NOTHING_NEW) if is_answered else read_intent(said, input.now, input.timezone)
        yield StepFinishedEvent(step_name="intent")
        if intent.tool is None:
            stream = self._reported(answer(intent, input.now, input.timezone, locale))
        else:
            stream = self._called(intent.tool, intent.args_text)
        async for event in stream:
            yield event

    async def _called(self, tool: str, args_text: str) -> AsyncIterator[Event]:
        call_id = new_id("call")
        yield StepStartedEvent(step_name="execution")
        yield ToolCallStartEvent(tool_call_id=call_id, tool_call_name=tool)
        for start in range(0, len(args_text), ARGS_PIECE_LENGTH):
            await asyncio.sleep(self._token_delay_s)
            yield ToolCallArgsEvent(tool_call_id=call_id, delta=args_text[start : start + ARGS_PIECE_LENGTH])
        yield ToolCallEndEvent(tool_call_id=call_id)

    async def _reported(self, text: str) -> AsyncIterator[Event]:
        message_id = new_id("msg")
        yield StepStartedEvent(step_name="report")
        yield TextMessageStartEvent(message_id=message_id, role="assistant")
        for piece in pieces(text):
            await asyncio.sleep(self._token_delay_s)
            yield TextMessageContentEvent(message_id=message_id, delta=piece)
        yield TextMessageEndEvent(message_id=message_id)
        yield StepFinishedEvent(step_name="report")


def pieces(text: str) -> Iterator[str]:
    """`text` cut as a model would write it; joined they are `text`."""
    return (match[0] for match in _PIECE.finditer(text))


def _last_sentence(messages: tuple[Message, ...]) -> str:
    return next((message.text for message in reversed(messages) if message.role is Role.USER), "")
