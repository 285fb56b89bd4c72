"""What the tests of the agents build their rounds from."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from agui_app.agents.base import Agent, AgentInput
from agui_app.conversation.model import Message, Role, ToolResult
from agui_app.protocol.events import Event, write_event

NOW = "2026-02-28T09:00:00+08:00"
SHANGHAI = "Asia/Shanghai"


def full(time: str) -> str:
    """A time of this year in Shanghai, written without its year, seconds and offset, as it is written in arguments."""
    dated = time if time.startswith("20") else f"2026-{time}"
    return f"{dated}:00+08:00" if "T" in dated else dated


def user(text: str) -> Message:
    return Message(id="u", role=Role.USER, text=text)


def tool(name: str, *, args: Any = None, result: Any = None, error: Any = None, ui: Any = None) -> Message:
    called = ToolResult(call_id="c", tool_name=name, args=args, result=result, error=error, ui=ui)
    return Message(id="t", role=Role.TOOL, run_id="r", tool=called)


def round_of(*messages: Message, locale: str = "zh", now: str = NOW, timezone: str = SHANGHAI) -> AgentInput:
    return AgentInput(
        thread_id="th",
        run_id="r",
        messages=messages,
        tools=(),
        now=datetime.fromisoformat(now).astimezone(ZoneInfo(timezone)),
        timezone=timezone,
        locale=locale,
    )


async def events(agent: Agent, input: AgentInput) -> list[Event]:
    return [event async for event in agent.run(input)]


def joined(events: list[Event]) -> list[dict[str, Any]]:
    """Events on the wire, neighbouring deltas of the same thing joined, ids by the order of their coming."""
    ids: dict[str, str] = {}
    wire: list[dict[str, Any]] = []
    for event in (write_event(event) for event in events):
        for key in ("messageId", "toolCallId"):
            if key in event:
                event[key] = ids.setdefault(event[key], f"{key}-{len(ids) + 1}")
        if wire and "delta" in event and wire[-1]["type"] == event["type"]:
            wire[-1]["delta"] += event["delta"]
        else:
            wire.append(event)
    return wire
