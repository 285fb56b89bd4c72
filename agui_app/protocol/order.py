"""The order in which a run says things, as a checker. Agents break it; what they say is mended, never refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, cast

from agui_app.protocol import events as ev


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an event."""

    event: ev.Event | None
    """The event as it is logged; None: it is dropped, since it means nothing where it stands."""
    violation: str | None = None
    """The rule that was broken, to be counted."""


class _Part(Enum):
    OPEN = auto()
    ENDED = auto()
    ANSWERED = auto()


class Order:
    """Checks one run, event by event. Chunk events are expanded before; ids of other runs do not meet here."""

    def __init__(self) -> None:
        self._over = False
        self._run_id: str | None = None
        self._parts: dict[tuple[str, str], _Part] = {}
        """What was begun: (kind, id) -> how far it has come."""

    def check(self, event: ev.Event) -> Verdict:
        """The verdict on the next event."""
        if isinstance(event, ev.UnknownEvent):
            return Verdict(event, event.reason)
        if self._over:
            return Verdict(None, "nothing follows the end of a run")
        rule = _RULES.get(type(event))
        violation = None if rule is None else rule(self, event)
        if violation in _KEPT:
            return Verdict(event, violation)
        return Verdict(event if violation is None else None, violation)

    def owed(self, event: ev.Event) -> list[ev.Event]:
        """The end that stands before `event`: of a call that it answers or refuses while its arguments are open."""
        if not isinstance(event, ev.ToolCallResultEvent | ev.ToolCallErrorEvent):
            return []
        return self._ends([("call", event.tool_call_id)])

    def close(self) -> list[ev.Event]:
        """The ends of everything that is open still, also of what a snapshot took away."""
        return self._ends(list(self._parts))

    def _ends(self, parts: list[tuple[str, str]]) -> list[ev.Event]:
        """The ends of the open ones among `parts`, as somebody else than the agent writes them."""
        return [
            ev.with_our_metadata(_END[kind](id), interrupted=True)
            for kind, id in parts
            if kind in _END and self._parts.get((kind, id)) is _Part.OPEN
        ]

    def start_run(self, event: ev.RunStartedEvent) -> str | None:
        if self._run_id is not None:
            return "a run starts once"
        self._run_id = event.run_id
        given: Any = ev.write_event(event).get("input")
        self._learn(cast(dict[str, Any], given).get("messages") if isinstance(given, dict) else None)
        return None

    def finish_run(self, event: ev.RunFinishedEvent) -> str | None:
        if self._run_id is not None and event.run_id not in ("", self._run_id):
            return "a run ends under its own id"
        self._over = True
        return None

    def fail_run(self, _: ev.RunErrorEvent) -> str | None:
        self._over = True
        return None

    def start(self, kind: str, id: str) -> str | None:
        """A START names something new."""
        if self._is_known(kind, id):
            return f"a START names a new {kind}"
        self._parts[kind, id] = _Part.OPEN
        return None

    def end(self, kind: str, id: str) -> str | None:
        """An END closes what is open."""
        if self._parts.get((kind, id)) is not _Part.OPEN:
            return f"an END closes an open {kind}"
        self._parts[kind, id] = _Part.ENDED
        return None

    def grow(self, kind: str, id: str) -> str | None:
        """A CONTENT belongs to what was begun; after the END it is kept, so that nothing that was said is lost."""
        match self._parts.get((kind, id)):
            case _Part.OPEN:
                return None
            case _Part.ENDED:
                return LATE_CONTENT
            case _:
                return f"a CONTENT belongs to a {kind} that was started and not answered"

    def reopen(self, kind: str, id: str) -> str | None:
        """A step may come again when it is over."""
        if self._parts.get((kind, id)) is _Part.OPEN:
            return f"a START names a {kind} that is not active"
        self._parts[kind, id] = _Part.OPEN
        return None

    def answer(self, event: ev.ToolCallResultEvent) -> str | None:
        if self._parts.get(("call", event.tool_call_id)) is _Part.ANSWERED:
            return "a call has one result"
        self._parts["call", event.tool_call_id] = _Part.ANSWERED
        return None

    def refuse(self, event: ev.ToolCallErrorEvent) -> str | None:
        if self._parts.get(("call", event.tool_call_id)) in (None, _Part.ANSWERED):
            return "a TOOL_CALL_ERROR belongs to a call that has no result"
        return None

    def show(self, event: ev.ActivitySnapshotEvent) -> str | None:
        known = ("activity", event.message_id) in self._parts
        if not known and self._is_known("activity", event.message_id):
            return "an activity has an id of its own"
        self._parts["activity", event.message_id] = _Part.OPEN
        return None

    def patch(self, event: ev.ActivityDeltaEvent) -> str | None:
        return None if ("activity", event.message_id) in self._parts else "an ACTIVITY_DELTA changes a known activity"

    def learn(self, event: ev.MessagesSnapshotEvent) -> str | None:
        """What a snapshot brings is known from then on."""
        self._learn(ev.write_event(event)["messages"])
        return None

    def _learn(self, messages: object) -> None:
        for message in _objects(messages):
            kind = _KINDS_OF_ROLES.get(str(message.get("role")))
            if kind is None:  # a role that nobody knows: the message is shown nowhere
                continue
            if not self._is_known(kind, str(message.get("id"))):
                self._parts[kind, str(message.get("id"))] = _Part.ENDED
            for call in _objects(message.get("toolCalls")):
                self._parts.setdefault(("call", str(call.get("id"))), _Part.ENDED)
            if message.get("role") == "tool":
                self._parts["call", str(message.get("toolCallId"))] = _Part.ANSWERED

    def _is_known(self, kind: str, id: str) -> bool:
        """Whether the id is taken; texts, reasoning and activities share theirs."""
        kinds = _MESSAGE_KINDS if kind in _MESSAGE_KINDS else (kind,)
        return any((each, id) in self._parts for each in kinds)


def _objects(value: object) -> list[dict[str, Any]]:
    values = cast(list[object], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], member) for member in values if isinstance(member, dict)]


LATE_CONTENT = "a CONTENT comes before the END"
_KEPT = frozenset({LATE_CONTENT})
_MESSAGE_KINDS = ("message", "reasoning message", "activity")
_KINDS_OF_ROLES = {
    **dict.fromkeys(("user", "assistant", "system", "developer", "tool"), "message"),
    "reasoning": "reasoning message",
    "activity": "activity",
}

_END: dict[str, Callable[[str], ev.Event]] = {
    "message": lambda id: ev.TextMessageEndEvent(message_id=id),
    "reasoning message": lambda id: ev.ReasoningMessageEndEvent(message_id=id),
    "reasoning span": lambda id: ev.ReasoningEndEvent(message_id=id),
    "call": lambda id: ev.ToolCallEndEvent(tool_call_id=id),
    "step": lambda id: ev.StepFinishedEvent(step_name=id),
    "subagent": lambda id: ev.SubagentErrorEvent(subagent_run_id=id, message="cut short"),
}
"""Kind of a part -> what ends it. Activities have no end."""

_RULES: dict[type[Any], Callable[[Order, Any], str | None]] = {
    ev.RunStarted: Order.start_run,
    ev.RunStartedEvent: Order.start_run,
    ev.RunFinishedEvent: Order.finish_run,
    ev.RunErrorEvent: Order.fail_run,
    ev.TextMessageStartEvent: lambda order, event: order.start("message", event.message_id),
    ev.TextMessageContentEvent: lambda order, event: order.grow("message", event.message_id),
    ev.TextMessageEndEvent: lambda order, event: order.end("message", event.message_id),
    ev.ReasoningMessageStartEvent: lambda order, event: order.start("reasoning message", event.message_id),
    ev.ReasoningMessageContentEvent: lambda order, event: order.grow("reasoning message", event.message_id),
    ev.ReasoningMessageEndEvent: lambda order, event: order.end("reasoning message", event.message_id),
    ev.ReasoningStartEvent: lambda order, event: order.reopen("reasoning span", event.message_id),
    ev.ReasoningEndEvent: lambda order, event: order.end("reasoning span", event.message_id),
    ev.ToolCallStartEvent: lambda order, event: order.start("call", event.tool_call_id),
    ev.ToolCallArgsEvent: lambda order, event: order.grow("call", event.tool_call_id),
    ev.ToolCallEndEvent: lambda order, event: order.end("call", event.tool_call_id),
    ev.ToolCallResult: Order.answer,
    ev.ToolCallResultEvent: Order.answer,
    ev.ToolCallErrorEvent: Order.refuse,
    ev.StepStartedEvent: lambda order, event: order.reopen("step", event.step_name),
    ev.StepFinishedEvent: lambda order, event: order.end("step", event.step_name),
    ev.ActivitySnapshotEvent: Order.show,
    ev.ActivityDeltaEvent: Order.patch,
    ev.SubagentStartedEvent: lambda order, event: order.start("subagent", event.subagent_run_id),
    ev.SubagentFinishedEvent: lambda order, event: order.end("subagent", event.subagent_run_id),
    ev.SubagentErrorEvent: lambda order, event: order.end("subagent", event.subagent_run_id),
    ev.MessagesSnapshot: Order.learn,
    ev.MessagesSnapshotEvent: Order.learn,
}
"""Event -> its rule: the violation, or None. Events that are not named here may stand anywhere in a run."""
