"""Carries out the tool calls that an agent leaves unanswered."""

from __future__ import annotations

import logging
from zoneinfo import ZoneInfo

from agui_app.conversation.model import ToolCall
from agui_app.errors import StoreUnavailable, ToolError
from agui_app.protocol.events import UnknownEvent
from agui_app.runs.accept import Accepted
from agui_app.runs.parts import Parts
from agui_app.runs.results import failure_events, success_event
from agui_app.runs.stream import RunStream, TakenBack
from agui_app.tools.registry import ToolContext, ToolOutcome
from agui_app.tools.run import carry_out

_log = logging.getLogger(__name__)


async def answer(call: ToolCall, accepted: Accepted, parts: Parts, stream: RunStream) -> None:
    """Back when the call has its result, a good one or an error, committed with what it did. Raises Broken."""
    try:
        _refuse_large(call, parts.settings.max_arguments_chars)
        await _succeed(call, accepted, parts, stream)
    except ToolError as error:
        failure = error
    except (StoreUnavailable, TakenBack):
        _log.exception("tool %s could not be stored in run %s", call.name, accepted.ref.run_id)
        failure = ToolError(f"{call.name} could not be stored")
    else:
        return
    for event in failure_events(stream.conversation, accepted.ref.run_id, call, failure, accepted.request.locale):
        stream.say(event)
    await stream.settle()


def _refuse_large(call: ToolCall, limit: int) -> None:
    length = len(call.args_text)
    if length > limit:
        message = (
            f"the arguments have {length} characters; {call.name} takes at most {limit} (AGUI_MAX_ARGUMENTS_CHARS)"
        )
        raise ToolError(message, tool_code="invalid_arguments")


async def _succeed(call: ToolCall, accepted: Accepted, parts: Parts, stream: RunStream) -> None:
    await stream.settle()  # what it reads is what was said
    outcome = await _carry_out(call, accepted, parts)
    event = success_event(stream.conversation, accepted.ref.run_id, call, outcome, accepted.request.locale)
    if isinstance(event, UnknownEvent):
        raise ToolError(f"the result of {call.name} is no JSON: {event.reason}")
    if outcome.commit is None:
        stream.say(event)
        await stream.settle()
    else:
        await stream.do(event, outcome.commit)


async def _carry_out(call: ToolCall, accepted: Accepted, parts: Parts) -> ToolOutcome:
    ref, request = accepted.ref, accepted.request
    async with parts.database.read() as session:
        context = ToolContext(
            owner_id=ref.owner_id,
            thread_id=ref.thread_id,
            run_id=ref.run_id,
            call_id=call.id,
            timezone=request.timezone,
            locale=request.locale,
            now=accepted.started_at.astimezone(ZoneInfo(request.timezone)),
            session=session,
        )
        return await carry_out(parts.tools, context, call.name, call.args_text, parts.settings.tool_timeout_s)
