"""What an agent streams, made into the events that this program logs."""

from __future__ import annotations

from typing import Any, cast

from agui_app.protocol.chunks import ChunkExpander
from agui_app.protocol.events import BaseEvent, Event, ToolCallErrorEvent, read_event, wire_of
from agui_app.protocol.mending import Obj
from agui_app.protocol.surrogates import SurrogateJoiner
from agui_app.protocol.thinking import ThinkingReader

_WIRE_NAMES = {
    "message_id": "messageId",
    "tool_call_id": "toolCallId",
    "tool_call_name": "toolCallName",
    "parent_message_id": "parentMessageId",
    "subagent_run_id": "subagentRunId",
}


class Normaliser:
    """Reads one stream of one agent. What comes out is sound: no chunk events, no THINKING_*, no broken text.

    `feed` never raises, whatever an agent sends; `close` gives the ends that the stream still owes.
    """

    def __init__(self) -> None:
        self._thinking = ThinkingReader()
        self._chunks = ChunkExpander()
        self._joiner = SurrogateJoiner()

    def feed(self, raw: object) -> list[Event]:
        """The events that `raw`, a JSON object or an event that somebody built, stands for."""
        value = wire_of(raw) if isinstance(raw, BaseEvent | ToolCallErrorEvent) else raw
        if not isinstance(value, dict):
            return [read_event(value)]
        wire = {_WIRE_NAMES.get(key, key): member for key, member in cast(Obj, value).items()}
        return [
            read_event(joined)
            for event in self._thinking.feed(wire)
            for expanded in self._chunks.feed(event)
            for joined in self._joiner.feed(expanded)
        ]

    def close(self) -> list[Event]:
        """The ends of what chunk events opened, and what is left of a text that was cut inside a pair."""
        ends: list[Any] = [joined for end in self._chunks.close() for joined in self._joiner.feed(end)]
        return [read_event(wire) for wire in (*ends, *self._joiner.close())]
