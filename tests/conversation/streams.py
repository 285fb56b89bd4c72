"""What the tests of this folder share: streams of events, recorded or written, and their fold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agui_app.conversation.closing import closing_events
from agui_app.conversation.history import from_page, page_message, page_run
from agui_app.conversation.model import Conversation, Item
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import Event, RunErrorEvent
from agui_app.protocol.normalise import Normaliser
from agui_app.protocol.sse import SseDecoder

VECTORS = Path(__file__).parent.parent / "vectors"
STREAMS = sorted((VECTORS / "streams").glob("*.json"))
RECORDINGS = sorted((VECTORS / "recordings").glob("*.sse"))

NAMES = {
    "kind": "kind",
    "role": "role",
    "text": "text",
    "status": "status",
    "callId": "call_id",
    "toolName": "tool_name",
    "args": "args",
    "argsText": "args_text",
    "card": "card",
    "cardType": "card_type",
    "fallback": "fallback",
    "error": "error",
}
"""Key of an expected item -> attribute of ours."""


def normalised(raws: Iterable[object]) -> list[Event]:
    """The events that an agent's stream is logged as."""
    normaliser = Normaliser()
    return [event for raw in raws for event in normaliser.feed(raw)] + normaliser.close()


def recorded(path: Path) -> list[Event]:
    """The events of a recording, with the end that we write when it has none."""
    raws = [json.loads(frame.data) for frame in SseDecoder().feed(path.read_bytes())]
    events = normalised(raws)
    conversation = fold(Conversation(), events)
    if conversation.active_run_id is None:
        return events
    ends = closing_events(conversation, stopped=False, error="interrupted")
    return [*events, *ends, RunErrorEvent(message="the stream ended early", code="interrupted")]


def events_of(*raws: dict[str, Any]) -> list[Event]:
    """Events by their wire form."""
    return normalised(raws)


def run_of(*raws: dict[str, Any], run_id: str = "r1") -> list[Event]:
    """Events after the start of a run."""
    return normalised(({"type": "RUN_STARTED", "threadId": "t1", "runId": run_id}, *raws))


def folded(*raws: dict[str, Any], run_id: str = "r1") -> Conversation:
    """The fold of a run that goes on."""
    return fold(Conversation(), run_of(*raws, run_id=run_id))


def finished(outcome: dict[str, Any] | None = None, run_id: str = "r1") -> dict[str, Any]:
    """RUN_FINISHED."""
    given = {} if outcome is None else {"outcome": outcome}
    return {"type": "RUN_FINISHED", "threadId": "t1", "runId": run_id, **given}


def text(id: str, *deltas: str, end: bool = True, **start: Any) -> list[dict[str, Any]]:
    """A streamed message."""
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant", **start},
        *({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta} for delta in deltas),
        *([{"type": "TEXT_MESSAGE_END", "messageId": id}] if end else []),
    ]


def call(id: str, args: str = "{}", *, end: bool = True, name: str = "f", **start: Any) -> list[dict[str, Any]]:
    """A streamed call."""
    return [
        {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name, **start},
        *([{"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": args}] if args else []),
        *([{"type": "TOOL_CALL_END", "toolCallId": id}] if end else []),
    ]


def result(call_id: str, content: Any = "ok", **extras: Any) -> dict[str, Any]:
    """TOOL_CALL_RESULT."""
    fields = {"messageId": f"tm-{call_id}", "toolCallId": call_id, "content": content}
    return {"type": "TOOL_CALL_RESULT", **fields, **extras}


def as_page(conversation: Conversation, *, active: bool = True) -> dict[str, Any]:
    """The conversation as a history page that has been over the wire."""
    page = {
        "messages": [page_message(message) for message in conversation.messages],
        "runs": [page_run(run) for run in conversation.runs],
        "activeRunId": conversation.active_run_id if active else None,
    }
    return json.loads(json.dumps(page))


def through_history(conversation: Conversation) -> Conversation:
    """The conversation as a reader has it who loads its history."""
    return from_page(as_page(conversation))


def matching(item: Item, expected: dict[str, Any]) -> dict[str, Any]:
    """What `item` has under the keys of `expected`."""
    return {key: getattr(item, NAMES[key]) for key in expected}
