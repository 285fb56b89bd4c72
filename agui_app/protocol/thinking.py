"""THINKING_* of servers before 1.0, as the REASONING_* that took their place."""

from __future__ import annotations

from agui_app.protocol.ids import new_id
from agui_app.protocol.mending import Obj, text_at


class ThinkingReader:
    """Gives the ids that THINKING_* events never had. Other events pass, and so do ends of what never began."""

    def __init__(self) -> None:
        self._span_id: str | None = None
        self._message_id: str | None = None

    def feed(self, wire: Obj) -> list[Obj]:
        """The event, or the events, that `wire` stands for."""
        match text_at(wire, "type"):
            case "THINKING_START":
                self._span_id = new_id("reasoning")
                return [{**wire, "type": "REASONING_START", "messageId": self._span_id}]
            case "THINKING_END" if self._span_id is not None:
                span_id, self._span_id = self._span_id, None
                return [{**wire, "type": "REASONING_END", "messageId": span_id}]
            case "THINKING_TEXT_MESSAGE_START":
                return [{**wire, **self._start()}]
            case "THINKING_TEXT_MESSAGE_CONTENT":
                started = [] if self._message_id is not None else [self._start()]
                return [*started, {**wire, "type": "REASONING_MESSAGE_CONTENT", "messageId": self._message_id}]
            case "THINKING_TEXT_MESSAGE_END" if self._message_id is not None:
                message_id, self._message_id = self._message_id, None
                return [{**wire, "type": "REASONING_MESSAGE_END", "messageId": message_id}]
            case _:
                return [wire]

    def _start(self) -> Obj:
        self._message_id = new_id("reasoning")
        return {"type": "REASONING_MESSAGE_START", "messageId": self._message_id, "role": "reasoning"}
