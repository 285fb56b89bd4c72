"""Tool calls and their results: a call sits on a carrier, its result stands right after it."""

from __future__ import annotations

from dataclasses import replace

from agui_app.conversation.edits import (
    appended,
    free_id,
    index_of_call,
    index_of_result,
    inserted,
    merged_metadata,
    message_ids,
    with_message,
)
from agui_app.conversation.model import CallStatus, Conversation, Json, Message, Role, ToolCall, ToolResult
from agui_app.conversation.partial_json import read_json
from agui_app.conversation.summaries import item_text
from agui_app.protocol.events import (
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallErrorEvent,
    ToolCallResult,
    ToolCallStartEvent,
    our_metadata,
)
from agui_app.protocol.times import rfc3339


def start_call(conversation: Conversation, run_id: str, event: ToolCallStartEvent) -> Conversation:
    """A call begins; an id that the run has changes nothing."""
    if is_known_call(conversation, run_id, event.tool_call_id):
        return conversation
    call = ToolCall(event.tool_call_id, event.tool_call_name, parent_message_id=event.parent_message_id)
    return place_call(
        conversation,
        run_id,
        call,
        created_at=rfc3339(event.timestamp),
        subagent_run_id=event.subagent_run_id,
        carrier_id=our_metadata(event).get("row"),
    )


def is_known_call(conversation: Conversation, run_id: str, call_id: str) -> bool:
    """Whether the run has the call, or a result of it that came before."""
    found = index_of_call(conversation, run_id, call_id), index_of_result(conversation, run_id, call_id)
    return found != (None, None)


def place_call(
    conversation: Conversation,
    run_id: str,
    call: ToolCall,
    *,
    created_at: str | None,
    subagent_run_id: str | None = None,
    carrier_id: str | None = None,
) -> Conversation:
    """The call on the message that it names, if that one is the newest and free; else on a new carrier.

    `carrier_id`: of the new one, where it is known.
    """
    made = carrier_id or carrier_of(conversation, run_id, call.id, call.parent_message_id)
    if made is None:
        index = len(conversation.messages) - 1
        return with_message(conversation, index, replace(conversation.messages[index], call=call))
    carrier = Message(made, Role.ASSISTANT, run_id, created_at=created_at, call=call)
    return appended(conversation, replace(carrier, subagent_run_id=subagent_run_id))


def carrier_of(
    conversation: Conversation,
    run_id: str,
    call_id: str,
    parent_id: str | None,
    beyond: frozenset[str] = frozenset(),
) -> str | None:
    """The id of the message that a new call gets; None when the newest one, which it names, is free for it.

    `beyond`: ids that are taken by messages which the conversation does not have.
    """
    last = conversation.messages[-1] if conversation.messages else None
    if last and last.id == parent_id and last.run_id == run_id and last.role is Role.ASSISTANT and not last.call:
        return None
    taken = message_ids(conversation) | beyond
    free = parent_id is not None and parent_id not in taken
    return parent_id if free else free_id(taken, run_id, call_id)


def add_arguments(conversation: Conversation, run_id: str, event: ToolCallArgsEvent) -> Conversation:
    """The arguments of a call grow, until it is answered."""
    index = index_of_call(conversation, run_id, event.tool_call_id)
    call = _call_at(conversation, index)
    if index is None or call is None or call.result_message_id is not None:
        return conversation
    return _with_call(conversation, index, replace(call, args_text=call.args_text + event.delta))


def end_call(conversation: Conversation, run_id: str, event: ToolCallEndEvent) -> Conversation:
    """The arguments are whole, or were cut when somebody else ended them."""
    index = index_of_call(conversation, run_id, event.tool_call_id)
    call = _call_at(conversation, index)
    if index is None or call is None or call.status is not CallStatus.PENDING:
        return conversation
    status = CallStatus.ERROR if our_metadata(event).get("interrupted") else CallStatus.EXECUTING
    return _with_call(conversation, index, replace(call, status=status))


def refuse_call(conversation: Conversation, run_id: str, event: ToolCallErrorEvent) -> Conversation:
    """A call was not carried out. Its row says so until the result does."""
    index = index_of_call(conversation, run_id, event.tool_call_id)
    call = _call_at(conversation, index)
    if index is None or call is None or call.result_message_id is not None:
        return conversation
    refused = replace(call, status=CallStatus.ERROR, error=event.error, error_code=event.code)
    return _with_call(conversation, index, refused)


def answer_call(conversation: Conversation, run_id: str, event: ToolCallResult) -> Conversation:
    """A result came. The first result of a call stays; one of a call that nobody made stands by itself."""
    if index_of_result(conversation, run_id, event.tool_call_id) is not None:
        return conversation
    call = _call_at(conversation, index_of_call(conversation, run_id, event.tool_call_id))
    tool = ToolResult(
        call_id=event.tool_call_id,
        tool_name=event.tool_name or (call.name if call else ""),
        args=event.args if event.args is not None else call and read_json(call.args_text),
        result=event.result,
        error=event.error if is_error(event.error) else call and call.error,
        ui=event.ui,
        content=event.content,
        stage=event.stage,
        task_id=event.task_id,
    )
    message = Message(
        id=event.message_id,
        role=Role.TOOL,
        run_id=run_id,
        text=_summary(our_metadata(event).get("summary"), tool),
        created_at=rfc3339(event.timestamp),
        tool=tool,
        metadata=merged_metadata(None, event.metadata),
        subagent_run_id=event.subagent_run_id,
    )
    return place_result(conversation, message, tool)


def place_result(conversation: Conversation, message: Message, tool: ToolResult) -> Conversation:
    """A tool message right after the carrier of its call, or at the end when nobody made the call."""
    run_id, taken = message.run_id or "", message_ids(conversation)
    if message.id in taken:
        message = replace(message, id=free_id(taken, run_id, tool.call_id, "result"))
    index = index_of_call(conversation, run_id, tool.call_id)
    call = _call_at(conversation, index)
    if index is None or call is None:
        return appended(conversation, message)
    status = CallStatus.ERROR if is_error(tool.error) else CallStatus.COMPLETED
    answered = replace(call, status=status, result_message_id=message.id)
    return inserted(_with_call(conversation, index, answered), index + 1, message)


def is_error(error: Json) -> bool:
    """Whether an error is set: not null, not false, not empty."""
    return error is not None and error is not False and error not in ("", [], {})


def text_of(tool: ToolResult, locale: str = "zh") -> str:
    """The one line that stands for a result."""
    return item_text(tool.content, tool.tool_name, tool.args, tool.result, tool.error, locale)


def _summary(noted: Json, tool: ToolResult) -> str:
    """What the pipeline noted in the run's language, else the line in the default one."""
    return noted if isinstance(noted, str) else text_of(tool)


def _call_at(conversation: Conversation, index: int | None) -> ToolCall | None:
    return None if index is None else conversation.messages[index].call


def _with_call(conversation: Conversation, index: int, call: ToolCall) -> Conversation:
    return with_message(conversation, index, replace(conversation.messages[index], call=call))
