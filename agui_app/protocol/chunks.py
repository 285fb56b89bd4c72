"""Chunk events, expanded to the START, CONTENT and END that they stand for.

Source: AG-UI 1.0, "convenience events": a chunk continues what is open in its lane (the parent agent, or one
subagent), opens it when it carries a new id, and any other event of the lane closes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agui_app.protocol.mending import Obj, text_at


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of the three kinds of chunks, in the words of the wire."""

    prefix: str
    content: str
    id: str
    opening: tuple[str, ...]
    """What the START takes from the chunk."""
    required: tuple[str, ...] = ()
    """What the first chunk has to carry besides the id."""


_KINDS = {
    "TEXT_MESSAGE_CHUNK": _Kind("TEXT_MESSAGE", "CONTENT", "messageId", ("role", "name")),
    "REASONING_MESSAGE_CHUNK": _Kind("REASONING_MESSAGE", "CONTENT", "messageId", ()),
    "TOOL_CALL_CHUNK": _Kind("TOOL_CALL", "ARGS", "toolCallId", ("toolCallName", "parentMessageId"), ("toolCallName",)),
}
_SHARED = ("timestamp", "subagentRunId")
_CLOSES_NOTHING = frozenset(
    {"RAW", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_ENCRYPTED_VALUE", "SUBAGENT_STARTED"}
)
_CLOSES_ALL = frozenset({"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"})


@dataclass(frozen=True, slots=True)
class _Open:
    kind: _Kind
    id: str


class ChunkExpander:
    """Expands the chunks of one stream."""

    def __init__(self) -> None:
        self._lanes: dict[str | None, _Open] = {}

    def feed(self, wire: Obj) -> list[Obj]:
        """`wire`, after the ends that it causes; a chunk as what it stands for.

        A chunk that says neither what it opens nor what it continues passes as it is.
        """
        kind = _KINDS.get(text_at(wire, "type") or "")
        if kind is not None:
            return self._expanded(kind, wire)
        return [*self._closed_by(wire), wire]

    def close(self) -> list[Obj]:
        """The ends of all that is open."""
        return [end for lane in list(self._lanes) for end in self._end(lane)]

    def _expanded(self, kind: _Kind, chunk: Obj) -> list[Obj]:
        id = text_at(chunk, kind.id)
        lane = self._lane(kind, id, text_at(chunk, "subagentRunId"))
        open = self._lanes.get(lane)
        if open is not None and open.kind is kind and id in (None, open.id):
            return [_content(open, chunk, lane)]
        if id is None or any(text_at(chunk, name) is None for name in kind.required):
            return [chunk]
        ends = self._end(lane)
        self._lanes[lane] = open = _Open(kind, id)
        content = [_content(open, chunk, lane)] if chunk.get("delta") is not None else []
        return [*ends, _start(open, chunk), *content]

    def _lane(self, kind: _Kind, id: str | None, subagent: str | None) -> str | None:
        """The lane that holds `id`; without an id or a subagent, the only one that a chunk of the kind can mean."""
        holding = [lane for lane, open in self._lanes.items() if open.kind is kind and id in (None, open.id)]
        if id is None and (subagent is not None or None in holding):
            return subagent
        return holding[0] if len(holding) == 1 else subagent

    def _closed_by(self, wire: Obj) -> list[Obj]:
        kind = text_at(wire, "type")
        if kind in _CLOSES_ALL:
            return self.close()
        return [] if kind in _CLOSES_NOTHING else self._end(text_at(wire, "subagentRunId"))

    def _end(self, lane: str | None) -> list[Obj]:
        open = self._lanes.pop(lane, None)
        if open is None:
            return []
        return [{"type": f"{open.kind.prefix}_END", open.kind.id: open.id, **_subagent(lane)}]


def _start(open: _Open, chunk: Obj) -> Obj:
    kind = open.kind
    taken = {name: chunk[name] for name in (*kind.opening, *_SHARED, "metadata") if chunk.get(name) is not None}
    return {"type": f"{kind.prefix}_START", kind.id: open.id, **taken}


def _content(open: _Open, chunk: Obj, lane: str | None) -> Obj:
    kind = open.kind
    delta: Any = chunk.get("delta")
    rest = {key: value for key, value in chunk.items() if key not in kind.opening}
    given = {"type": f"{kind.prefix}_{kind.content}", kind.id: open.id, "delta": "" if delta is None else delta}
    return {**rest, **given, **_subagent(lane)}


def _subagent(lane: str | None) -> Obj:
    return {} if lane is None else {"subagentRunId": lane}
