"""A conversation as rows. A row depends on one message alone, so any page of a thread renders by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from agui_app.conversation.calls import is_error
from agui_app.conversation.model import (
    CallStatus,
    Conversation,
    Item,
    ItemKind,
    Json,
    Message,
    Role,
    ToolCall,
    ToolResult,
)
from agui_app.conversation.partial_json import read_json, read_partial
from agui_app.conversation.summaries import item_text
from agui_app.protocol.cards import CALENDAR_CARD, error_card, make_card, read_card

SCHEDULE = "schedule"
"""The activity type whose content is the data of a calendar card."""


def rows(conversation: Conversation) -> tuple[Item, ...]:
    """The rows of the transcript, oldest first."""
    return tuple(item for message in conversation.messages for item in message_rows(message))


def message_rows(message: Message) -> Sequence[Item]:
    """The rows that one message makes: none, one, or its text and its call."""
    match message.role:
        case Role.SYSTEM | Role.DEVELOPER:
            return ()
        case Role.TOOL:
            return (_result_row(message, message.tool),) if message.tool is not None else ()
        case Role.ACTIVITY:
            return (_activity_row(message),)
        case Role.SUBAGENT:
            return (_text_row(message),)
        case _:  # user, assistant, reasoning
            said = (_text_row(message),) if message.text or message.parts else ()
            open_call = message.call is not None and message.call.result_message_id is None
            return (*said, _call_row(message, message.call)) if message.call and open_call else said


def call_row_id(run_id: str | None, call_id: str) -> str:
    """The id of a call's row, which its result takes over."""
    return f"call:{run_id or ''}:{call_id}"


def _text_row(message: Message) -> Item:
    return Item(
        id=message.id,
        kind=ItemKind.MESSAGE,
        status=message.status,
        run_id=message.run_id,
        timestamp=message.created_at,
        sender=_sender(message),
        role=message.role,
        text=message.text,
        parts=message.parts,
        activity_type=message.activity_type,
        activity=message.activity,
    )


def _activity_row(message: Message) -> Item:
    if message.activity_type != SCHEDULE:
        return _text_row(message)
    card = make_card(CALENDAR_CARD, message.activity)
    return Item(
        id=message.id,
        kind=ItemKind.SCHEDULE,
        status=message.status,
        run_id=message.run_id,
        timestamp=message.created_at,
        sender=_sender(message),
        card=card,
        card_type=CALENDAR_CARD,
        fallback=read_card(card).fallback,
        activity_type=message.activity_type,
        activity=message.activity,
    )


def _call_row(message: Message, call: ToolCall) -> Item:
    """An unanswered call; one that was not carried out is drawn as the result that says so."""
    if is_error(call.error):
        tool = ToolResult(call.id, call.name, args=read_json(call.args_text), error=call.error)
        return _result_row(message, tool, call.error_code)
    coming = call.status is CallStatus.PENDING
    return Item(
        id=call_row_id(message.run_id, call.id),
        kind=ItemKind.TOOL_CALL,
        status=call.status,
        run_id=message.run_id,
        timestamp=message.created_at,
        sender=_sender(message),
        call_id=call.id,
        tool_name=call.name,
        args_text=call.args_text,
        args=read_partial(call.args_text) if coming else read_json(call.args_text),
    )


def _result_row(message: Message, tool: ToolResult, code: str | None = None) -> Item:
    failed = is_error(tool.error)
    text = message.text if message.tool is tool else item_text(None, tool.tool_name, tool.args, None, tool.error)
    ui = tool.ui if tool.ui is not None or not failed else error_card_of(tool, code)
    reading = None if ui is None else read_card(ui)
    return Item(
        id=call_row_id(message.run_id, tool.call_id),
        kind=ItemKind.TOOL_RESULT,
        status=CallStatus.ERROR if failed else CallStatus.COMPLETED,
        run_id=message.run_id,
        timestamp=message.created_at,
        sender=Role.ASSISTANT,
        text=text,
        call_id=tool.call_id,
        tool_name=tool.tool_name,
        args=tool.args,
        error=tool.error,
        card=ui,
        card_type=None if reading is None else reading.card_type,
        fallback=reading is not None and reading.fallback,
        payload_missing=tool.payload_missing,
    )


def error_card_of(tool: ToolResult, code: str | None = None) -> Json:
    """The card of a result that has an error and brought none."""
    error: object = tool.error
    members = cast(dict[str, Json], error) if isinstance(error, dict) else {"message": error}
    texts = [members.get(key) for key in ("message", "error", "code")]
    message = next((text for text in texts if isinstance(text, str) and text), str(tool.error))
    given = members.get("code")
    named = code or (given if isinstance(given, str) else None)
    return error_card(message, code=named, tool_name=tool.tool_name or None)


def _sender(message: Message) -> str:
    """Who speaks: the name that came with the message, else its role."""
    return message.name or message.role
