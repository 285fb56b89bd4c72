"""How runs end: the terminal event for each way, and the ends of what is open before it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agui_app.conversation.closing import closing_events
from agui_app.conversation.model import Conversation
from agui_app.protocol.events import (
    Event,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedSuccessOutcome,
)
from agui_app.protocol.order import Order
from agui_app.runs.results import unanswered


class Stop(StrEnum):
    """Why a run is stopped from outside."""

    CANCELLED = "cancelled"
    SHUTDOWN = "shutdown"
    TIMEOUT = "timeout"
    BROKEN = "broken"
    """Its events cannot be stored: they never will be, or another worker has taken the run over."""


CUT_SHORT = "The call was cut short"


@dataclass(frozen=True, slots=True)
class Ending:
    """A terminal event, and what it means for what is open."""

    terminal: Event
    error: str = CUT_SHORT
    """The error of calls that are cut."""
    finished: bool = False
    """The run ends well: whole calls without an answer stay calls."""
    stopped: bool = False
    """The reader cancelled."""


SERVER_STOPPED = "The server was stopped"


def interrupted() -> Ending:
    """The server stops, or stopped, in the middle of the run."""
    return failed("interrupted", SERVER_STOPPED, error="interrupted")


def failed(code: str, message: str, *, error: str | None = None) -> Ending:
    """The run ends in an error; open calls get `error`, or its message."""
    return Ending(RunErrorEvent(message=message, code=code), error=error or message)


def stopped_by(stop: Stop, run: RunFinishedEvent, timeout_s: float) -> Ending:
    """The run was stopped; `run` is a RUN_FINISHED with its ids."""
    match stop:
        case Stop.CANCELLED:
            outcome = RunFinishedCancelledOutcome()
            return Ending(run.model_copy(update={"outcome": outcome}), error="cancelled", stopped=True)
        case Stop.TIMEOUT:
            return failed("timeout", f"The run took longer than {timeout_s:g} s")
        case Stop.SHUTDOWN | Stop.BROKEN:
            return interrupted()


def ended_by_agent(terminal: Event | None, conversation: Conversation, run: RunFinishedEvent) -> Ending:
    """The agent's own terminal event with our ids; without one, success."""
    if isinstance(terminal, RunErrorEvent):
        return Ending(terminal, error=terminal.message)
    if isinstance(terminal, RunFinishedEvent):
        ids = {"thread_id": run.thread_id, "run_id": run.run_id}
        outcome = terminal.outcome
        if isinstance(outcome, RunFinishedCancelledOutcome):
            return Ending(terminal.model_copy(update=ids), error="cancelled", stopped=True)
        return Ending(terminal.model_copy(update=ids), finished=True)
    pending = [call.id for call in unanswered(conversation, run.run_id)]
    outcome = RunFinishedSuccessOutcome(pending_tool_call_ids=pending or None)
    return Ending(run.model_copy(update={"outcome": outcome}), finished=True)


def last_events(conversation: Conversation, ending: Ending, locale: str, order: Order) -> list[Event]:
    """The ends of everything open, and the terminal event; `order` has heard everything that the run said.

    First the ends of what is shown, with what they mean for it; then of what began and is shown no longer.
    """
    ends = closing_events(
        conversation, stopped=ending.stopped, error=ending.error, finished=ending.finished, locale=locale
    )
    for end in ends:
        order.check(end)
    return [*ends, *order.close(), ending.terminal]
