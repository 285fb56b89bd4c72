"""Runs and their steps: how they start, and what their end makes of everything that is open."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any, cast

from agui_app.conversation.calls import is_error
from agui_app.conversation.edits import active_run, with_run
from agui_app.conversation.model import (
    CallStatus,
    Conversation,
    Json,
    Message,
    MessageStatus,
    Run,
    RunFailure,
    RunStatus,
    Step,
    StepState,
    ToolCall,
)
from agui_app.conversation.partial_json import is_readable
from agui_app.conversation.replacing import REPLACES, without_replaced
from agui_app.conversation.snapshots import take_in
from agui_app.protocol.events import (
    RunErrorEvent,
    RunFinishedEvent,
    RunStartedEvent,
    StepFinishedEvent,
    StepStartedEvent,
    our_metadata,
    write_event,
)
from agui_app.protocol.times import rfc3339

INTERRUPTED = "interrupted"
"""Code of the RUN_ERROR that ends a run whose process died, or whose agent went away."""

_STATUS_OF_OUTCOME = {"interrupt": RunStatus.WAITING, "cancelled": RunStatus.CANCELLED}
_ENDED_WELL = frozenset({RunStatus.FINISHED, RunStatus.WAITING})


def start_run(conversation: Conversation, event: RunStartedEvent) -> Conversation:
    """A run begins, with what it was given; an id that is known changes nothing.

    A run that is still active then never got its end: it is interrupted. What the run replaces leaves before.
    """
    if any(run.run_id == event.run_id for run in conversation.runs):
        return conversation
    unfinished = active_run(conversation)
    if unfinished is not None:
        conversation = _ended(conversation, replace(unfinished, status=RunStatus.INTERRUPTED))
    conversation = without_replaced(conversation, event.run_id, our_metadata(event).get(REPLACES))
    started_at = rfc3339(event.timestamp)
    run = Run(event.run_id, started_at=started_at)
    started = replace(conversation, runs=(*conversation.runs, run), active_run_id=run.run_id)
    given: Any = write_event(event).get("input")
    messages: Any = cast(dict[str, Any], given).get("messages") if isinstance(given, dict) else None
    return take_in(started, run.run_id, cast(list[object], messages) if isinstance(messages, list) else [], started_at)


def finish_run(conversation: Conversation, run: Run, event: RunFinishedEvent) -> Conversation:
    """The active run ends as its outcome says. The end of another run changes nothing."""
    if event.run_id not in ("", run.run_id):
        return conversation
    wire = write_event(event)
    outcome: dict[str, Any] = wire.get("outcome", {})
    finished = replace(
        run,
        status=_STATUS_OF_OUTCOME.get(outcome.get("type", ""), RunStatus.FINISHED),
        outcome=wire.get("outcome"),
        finished_at=rfc3339(event.timestamp),
        usage=wire.get("usage"),
        result=wire.get("result"),
        interrupts=tuple(outcome.get("interrupts", ())),
    )
    asked = (interrupt.get("toolCallId") for interrupt in finished.interrupts)
    return _ended(conversation, finished, waiting={*outcome.get("pendingToolCallIds", ()), *asked})


def fail_run(conversation: Conversation, run: Run, event: RunErrorEvent) -> Conversation:
    """The active run ends with an error."""
    failed = replace(
        run,
        status=RunStatus.INTERRUPTED if event.code == INTERRUPTED else RunStatus.FAILED,
        error=RunFailure(event.message, event.code),
        finished_at=rfc3339(event.timestamp),
        usage=write_event(event).get("usage"),
    )
    return _ended(conversation, failed)


def start_step(conversation: Conversation, run: Run, event: StepStartedEvent) -> Conversation:
    """A step begins, or goes on when it was over."""
    known = _step(run, event.step_name)
    if known is None:
        step = Step(event.step_name, StepState.ACTIVE, rfc3339(event.timestamp))
        return with_run(conversation, replace(run, steps=(*run.steps, step)))
    return _with_step(conversation, run, replace(known, state=StepState.ACTIVE, finished_at=None))


def finish_step(conversation: Conversation, run: Run, event: StepFinishedEvent) -> Conversation:
    """A step of the run is over; it is in error when somebody else than the agent ended it."""
    known = _step(run, event.step_name)
    if known is None or known.state is not StepState.ACTIVE:
        return conversation
    noted = our_metadata(event)
    cut = StepState.STOPPED if noted.get("stopped") else StepState.ERROR
    state = cut if noted.get("interrupted") else StepState.DONE
    return _with_step(conversation, run, replace(known, state=state, finished_at=rfc3339(event.timestamp)))


def _step(run: Run, name: str) -> Step | None:
    return next((step for step in run.steps if step.name == name), None)


def _with_step(conversation: Conversation, run: Run, step: Step) -> Conversation:
    steps = tuple(step if known.name == step.name else known for known in run.steps)
    return with_run(conversation, replace(run, steps=steps))


@dataclass(frozen=True, slots=True)
class _End:
    well: bool
    waiting: Container[Json]
    """Calls that wait for an answer from outside."""


def _ended(conversation: Conversation, run: Run, waiting: Container[Json] = ()) -> Conversation:
    """The conversation with `run` at its end: what it left open is settled."""
    end = _End(run.status in _ENDED_WELL, waiting)
    messages = tuple(
        _settled(message, end) if message.run_id == run.run_id else message for message in conversation.messages
    )
    steps = tuple(replace(step, state=_settled_step(step, run.status)) for step in run.steps)
    settled = replace(conversation, messages=messages, active_run_id=None, open_reasoning=())
    return with_run(settled, replace(run, steps=steps))


def _settled(message: Message, end: _End) -> Message:
    if message.status is MessageStatus.STREAMING:
        message = replace(message, status=MessageStatus.INTERRUPTED)
    call = message.call
    if call is None or call.result_message_id is not None:
        return message
    return replace(message, call=replace(call, status=_settled_call(call, end)))


def _settled_call(call: ToolCall, end: _End) -> CallStatus:
    """The status of a call that has no result."""
    if is_error(call.error) or not end.well:
        return CallStatus.ERROR
    if call.id in end.waiting:
        return CallStatus.PENDING
    whole = call.status is CallStatus.EXECUTING and is_readable(call.args_text)
    return CallStatus.COMPLETED if whole else CallStatus.ERROR


def _settled_step(step: Step, status: RunStatus) -> StepState:
    """A step that is over keeps its state; but what a cancel cut, also with an end that we wrote, was stopped."""
    if step.state is StepState.DONE:
        return step.state
    return StepState.STOPPED if status is RunStatus.CANCELLED else StepState.ERROR
