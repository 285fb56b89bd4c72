"""The agent of the fault tests. It runs inside the server, so it also tells what the server holds.

What it does stands in the newest message:

- `talk N`: thinks, then N pieces of text, one every `PAUSE_S`
- `book N`: N calendar events through our own tool, then a text
- `card N`: N calls of its own with arguments in pieces, each answered with a card, then a text
- `mixed N`: N pieces of text, two calls side by side, N pieces more
- `many N`: N short messages, one every `PAUSE_S`
- `silent S`: a call that takes S seconds
- `whole N`: everything of the above at once, without a pause, with N pieces of text
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agui_app.agents.base import AgentInput
from agui_app.conversation.model import Role
from agui_app.protocol.events import Event
from tests.e2e.agents import event

NAME = "tests.faults.agents:counted"
"""The agent's name for `AGUI_AGENT`."""
COUNTS_FILE = "FAULTS_COUNTS"
"""Environment variable: the file that gets the counts of the process at each SIGUSR1."""
PAUSE_S = 0.004
PIECE = "word 你好🌍 "

Obj = dict[str, Any]


class FaultAgent:
    """Does what the newest user message says."""

    async def run(self, input: AgentInput) -> AsyncIterator[Event]:
        said = next(message.text for message in reversed(input.messages) if message.role is Role.USER)
        word, _, rest = said.partition(" ")
        number = rest.partition(" ")[0]
        answered = any(message.role is Role.TOOL and message.run_id == input.run_id for message in input.messages)
        script = [] if answered else _do(word, float(number), input.run_id)
        if answered or word != "book":  # whose calls are answered first
            script += _text(f"{input.run_id}.end", 2)
        for one in script:
            if isinstance(one, float):
                await asyncio.sleep(one)
            else:
                yield event(**one)


def _do(word: str, number: float, run_id: str) -> list[Obj | float]:
    count = int(number)
    match word:
        case "talk":
            return [*_stage("intent", _thought(run_id)), *_stage("report", _text(f"{run_id}.text", count, PAUSE_S))]
        case "book":
            return _stage("execution", [one for n in range(count) for one in _booking(f"{run_id}.b{n}", n)])
        case "card":
            return _stage("execution", [one for n in range(count) for one in _card(f"{run_id}.c{n}", PAUSE_S)])
        case "mixed":
            return [
                *_text(f"{run_id}.t1", count, PAUSE_S),
                *_side_by_side(run_id),
                *_text(f"{run_id}.t2", count, PAUSE_S),
            ]
        case "many":
            return [one for n in range(count) for one in (*_text(f"{run_id}.m{n}", 1), PAUSE_S)]
        case "silent":
            return [
                *_call(f"{run_id}.s", "wait")[:1],
                number,
                *_call(f"{run_id}.s", "wait")[1:],
                _result(f"{run_id}.s"),
            ]
        case "whole":
            return [
                *_stage("intent", [*_thought(run_id), *_text(f"{run_id}.t1", count)]),
                *_stage("execution", [*_card(f"{run_id}.c"), *_side_by_side(run_id)]),
                *_stage("report", _text(f"{run_id}.t2", count)),
            ]
        case _:
            raise ValueError(f"{word!r} is nothing that this agent does")


def _stage(name: str, inside: list[Obj | float]) -> list[Obj | float]:
    return [{"type_": "STEP_STARTED", "stepName": name}, *inside, {"type_": "STEP_FINISHED", "stepName": name}]


def _thought(run_id: str) -> list[Obj | float]:
    id = f"{run_id}.thought"
    return [
        {"type_": "REASONING_START", "messageId": id},
        {"type_": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"},
        {"type_": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": "hm "},
        PAUSE_S,
        {"type_": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": "hm"},
        {"type_": "REASONING_MESSAGE_END", "messageId": id},
        {"type_": "REASONING_END", "messageId": id},
    ]


def _text(id: str, count: int, pause_s: float = 0.0) -> list[Obj | float]:
    pieces: list[Obj | float] = []
    for n in range(count):
        pieces += [{"type_": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": f"{PIECE}{n} "}, pause_s]
    start = {"type_": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"}
    return [start, *pieces, {"type_": "TEXT_MESSAGE_END", "messageId": id}]


def _call(id: str, name: str, args: Obj | None = None, pause_s: float = 0.0) -> list[Obj | float]:
    written = json.dumps(args or {"say": "你好"}, ensure_ascii=False)
    half = len(written) // 2
    return [
        {"type_": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name},
        {"type_": "TOOL_CALL_ARGS", "toolCallId": id, "delta": written[:half]},
        pause_s,
        {"type_": "TOOL_CALL_ARGS", "toolCallId": id, "delta": written[half:]},
        pause_s,
        {"type_": "TOOL_CALL_END", "toolCallId": id},
    ]


def _result(id: str) -> Obj:
    data = {"id": id, "title": f"Card of {id}", "startAt": "2026-03-01T10:00:00+08:00"}
    ui = {"type": "card", "cardType": "calendar_card.v1", "data": data, "actions": []}
    common = {"messageId": f"{id}.result", "toolCallId": id, "role": "tool"}
    return {"type_": "TOOL_CALL_RESULT", **common, "content": f"made {id}", "ui": ui}


def _card(id: str, pause_s: float = 0.0) -> list[Obj | float]:
    return [*_call(id, "make_card", pause_s=pause_s), pause_s, _result(id)]


def _booking(id: str, n: int) -> list[Obj | float]:
    args = {"title": f"Event of {id}", "startAt": f"2026-03-{n % 28 + 1:02d}T10:00:00+08:00"}
    return _call(id, "create_calendar_event", args, PAUSE_S)


def _side_by_side(run_id: str) -> list[Obj | float]:
    one, two = _card(f"{run_id}.p1", PAUSE_S), _card(f"{run_id}.p2", PAUSE_S)
    return [event for pair in zip(one, two, strict=True) for event in pair]


def counted() -> FaultAgent:
    """The agent, in a process that writes its counts to the file of COUNTS_FILE at each SIGUSR1."""
    path = os.environ.get(COUNTS_FILE)
    if path:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, _write_counts, Path(path))
    return FaultAgent()


def _write_counts(path: Path) -> None:
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(_counts()))
    aside.rename(path)


def _counts() -> Obj:
    from agui_app.agui_app import app, current_services
    from agui_app.state import followers

    for _ in range(3):
        gc.collect()
    tasks = sorted(task.get_coro().__qualname__ for task in asyncio.all_tasks())  # type: ignore[union-attr]
    resident_pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "tasks": tasks,
        "followers": followers.count(),
        "readers": len(current_services().events._hub),
        "sockets": _open_sockets(),
        "states": len(getattr(app.state_manager, "states", {})),
        "objects": Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects()),
        "resident_kb": resident_pages * os.sysconf("SC_PAGE_SIZE") // 1024,
    }


def _open_sockets() -> int:
    links: list[str] = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:  # the listing's own
            continue
    return sum(link.startswith("socket:") for link in links)
