"""The ends that a run still owes when its agent stops."""

from __future__ import annotations

from agui_app.conversation.calls import is_error
from agui_app.conversation.edits import active_run, free_id, message_ids
from agui_app.conversation.items import error_card_of
from agui_app.conversation.model import (
    CallStatus,
    Conversation,
    Message,
    MessageStatus,
    Role,
    Run,
    StepState,
    ToolCall,
    ToolResult,
)
from agui_app.conversation.partial_json import read_json
from agui_app.conversation.summaries import build_tool_content_summary
from agui_app.protocol.events import (
    OURS,
    Event,
    ReasoningEndEvent,
    ReasoningMessageEndEvent,
    StepFinishedEvent,
    SubagentErrorEvent,
    TextMessageEndEvent,
    ToolCallEndEvent,
    ToolCallResult,
)


def closing_events(
    conversation: Conversation, *, stopped: bool, error: str, finished: bool = False, locale: str = "zh"
) -> list[Event]:
    """The ends of everything that is open in the active run, in order; not its terminal event.

    A call that is not carried out gets a result whose error is `error` (or the one of its TOOL_CALL_ERROR), so that
    later turns are not poisoned. `stopped`: the reader cancelled. `finished`: the run ends well, and calls whose
    arguments are whole are left to whoever answers them.
    """
    run = active_run(conversation)
    if run is None:
        return []
    own = [message for message in conversation.messages if message.run_id == run.run_id]
    ends = [end for message in own if (end := _end_of_text(message, error)) is not None]
    for message in own:
        call = message.call
        if call is not None and call.result_message_id is None:
            ends += _ends_of_call(conversation, run, call, error=error, finished=finished, locale=locale)
    spans = [ReasoningEndEvent(message_id=id, metadata=_noted()) for id in conversation.open_reasoning]
    steps = [
        StepFinishedEvent(step_name=step.name, metadata=_noted(stopped=stopped))
        for step in run.steps
        if step.state is StepState.ACTIVE
    ]
    return [*ends, *spans, *steps]


def _noted(*, stopped: bool = False) -> dict[str, object]:
    return {OURS: {"interrupted": True, **({"stopped": True} if stopped else {})}}


def _end_of_text(message: Message, error: str) -> Event | None:
    if message.status is not MessageStatus.STREAMING:
        return None
    match message.role:
        case Role.REASONING:
            return ReasoningMessageEndEvent(message_id=message.id, metadata=_noted())
        case Role.SUBAGENT:
            return SubagentErrorEvent(subagent_run_id=message.subagent_run_id or "", message=error, metadata=_noted())
        case _:
            return TextMessageEndEvent(message_id=message.id, metadata=_noted())


def _ends_of_call(
    conversation: Conversation, run: Run, call: ToolCall, *, error: str, finished: bool, locale: str
) -> list[Event]:
    cut = call.status is CallStatus.PENDING
    ends: list[Event] = [ToolCallEndEvent(tool_call_id=call.id, metadata=_noted())] if cut else []
    if finished and call.status is CallStatus.EXECUTING:
        return ends
    cause = call.error if is_error(call.error) else error
    args = read_json(call.args_text)
    result = ToolCallResult(
        message_id=free_id(message_ids(conversation), run.run_id, call.id, "result"),
        tool_call_id=call.id,
        call_id=call.id,
        role="tool",
        content=build_tool_content_summary(call.name, args, None, cause, locale),
        tool_name=call.name,
        args=args,
        error=cause,
        ui=error_card_of(ToolResult(call.id, call.name, error=cause), call.error_code),
    )
    return [*ends, result]
