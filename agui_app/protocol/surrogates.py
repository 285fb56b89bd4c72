"""Pairs of surrogates that a server cut in two, one half in each of two deltas of the same text."""

from __future__ import annotations

from agui_app.protocol.mending import Obj, text_at

_CONTENTS = {
    "TEXT_MESSAGE_CONTENT": "messageId",
    "REASONING_MESSAGE_CONTENT": "messageId",
    "TOOL_CALL_ARGS": "toolCallId",
}
_ENDS = {
    "TEXT_MESSAGE_END": "TEXT_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END": "REASONING_MESSAGE_CONTENT",
    "TOOL_CALL_END": "TOOL_CALL_ARGS",
}


class SurrogateJoiner:
    """Holds back a first half at the end of a delta until the second half comes.

    Halves that stay alone are given as they are: whoever makes the text sound replaces them.
    """

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], str] = {}

    def feed(self, wire: Obj) -> list[Obj]:
        """`wire`, its delta joined; before an end, what was held of its text."""
        kind = text_at(wire, "type") or ""
        if kind in _ENDS:
            content = _ENDS[kind]
            return [*self._rest((content, text_at(wire, _CONTENTS[content]) or "")), wire]
        delta = wire.get("delta")
        if kind not in _CONTENTS or not isinstance(delta, str):
            return [wire]
        key = (kind, text_at(wire, _CONTENTS[kind]) or "")
        text = self._held.pop(key, "") + delta
        if "\ud800" <= text[-1:] <= "\udbff":
            self._held[key], text = text[-1], text[:-1]
        return [{**wire, "delta": text}]

    def close(self) -> list[Obj]:
        """What is held of all texts."""
        return [content for key in list(self._held) for content in self._rest(key)]

    def _rest(self, key: tuple[str, str]) -> list[Obj]:
        kind, id = key
        held = self._held.pop(key, None)
        return [] if held is None else [{"type": kind, _CONTENTS[kind]: id, "delta": held}]
