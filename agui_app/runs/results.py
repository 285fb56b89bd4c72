"""The events that answer a tool call."""

from __future__ import annotations

from typing import Any

from agui_app.conversation.model import STAGES, CallStatus, Conversation, Json, StepState, ToolCall
from agui_app.conversation.summaries import build_tool_content_summary, item_text
from agui_app.errors import ToolError
from agui_app.protocol.events import (
    Event,
    ToolCallErrorEvent,
    ToolCallResult,
    our_metadata,
    read_event,
    with_our_metadata,
)
from agui_app.protocol.ids import new_id
from agui_app.runs.recorder import find_run
from agui_app.tools.registry import ToolOutcome
from agui_app.tools.run import error_card
from agui_app.tools.validation import read_arguments


def unanswered(conversation: Conversation, run_id: str) -> list[ToolCall]:
    """The calls of the run that have no answer, in the order they were made."""
    return [
        message.call
        for message in conversation.messages
        if message.run_id == run_id
        and message.call is not None
        and message.call.result_message_id is None
        and message.call.status in (CallStatus.PENDING, CallStatus.EXECUTING)
    ]


def success_event(conversation: Conversation, run_id: str, call: ToolCall, outcome: ToolOutcome, locale: str) -> Event:
    """The result of a call that was carried out."""
    args = readable_arguments(call)
    return read_event(
        {
            **_result(conversation, run_id, call, args),
            "content": build_tool_content_summary(call.name, args, outcome.result, None, locale),
            "result": outcome.result,
            **({} if outcome.ui is None else {"ui": outcome.ui}),
        }
    )


def failure_events(
    conversation: Conversation, run_id: str, call: ToolCall, error: ToolError, locale: str
) -> tuple[Event, Event]:
    """The error and the result of a call that was not carried out."""
    args = readable_arguments(call)
    failed = ToolCallErrorEvent(tool_call_id=call.id, error=error.detail, code=error.tool_code)
    result = {
        **_result(conversation, run_id, call, args),
        "content": build_tool_content_summary(call.name, args, None, error.detail, locale),
        "error": error.detail,
        "ui": error_card(error.detail, error.tool_code, call.name),
    }
    return failed, read_event(result)


def summarised(conversation: Conversation, event: Event, locale: str) -> Event:
    """A result that is not ours, with its row's text in the language of the run noted on it."""
    if not isinstance(event, ToolCallResult) or "summary" in our_metadata(event):
        return event
    call = _call(conversation, event.tool_call_id)
    name = event.tool_name or (call and call.name)
    args = event.args if event.args is not None or call is None else readable_arguments(call)
    text = item_text(event.content, name, args, event.result, event.error, locale)
    return with_our_metadata(event, summary=text)


def readable_arguments(call: ToolCall) -> Json:
    """The arguments as JSON; None when they cannot be read."""
    try:
        return read_arguments(call.args_text)
    except ToolError:
        return None


def _result(conversation: Conversation, run_id: str, call: ToolCall, args: Json) -> dict[str, Any]:
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": new_id("msg"),
        "toolCallId": call.id,
        "role": "tool",
        "callId": call.id,
        "toolName": call.name,
        "args": args,
        "stage": _stage(conversation, run_id),
    }


def _stage(conversation: Conversation, run_id: str) -> str:
    run = find_run(conversation, run_id)
    active = [
        step.name for step in (run.steps if run else ()) if step.state is StepState.ACTIVE and step.name in STAGES
    ]
    return active[-1] if active else "execution"


def _call(conversation: Conversation, call_id: str) -> ToolCall | None:
    calls = [message.call for message in conversation.messages if message.call is not None]
    return next((call for call in reversed(calls) if call.id == call_id), None)
