"""Items as the page's components read them: plain dicts, short, keys without a value left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agui_app.conversation.items import rows
from agui_app.conversation.model import (
    STAGES,
    CallStatus,
    Conversation,
    Item,
    ItemKind,
    MessageStatus,
    Role,
    Run,
    RunStatus,
)

Row = dict[str, Any]
"""kind, id, status, role?, text?, hot?, tool?, args?, error?, card?, cardType?, fallback?, at?, missing?, activity?,
activityType?; mark?, markText? and turn? (id of the message that it answers) on the last row of a run that ended
badly. A row that is not sent yet comes from `assets/outbox.js` and has pending, failed and waiting besides."""

UNSETTLED = frozenset({MessageStatus.STREAMING, CallStatus.PENDING, CallStatus.EXECUTING})
ENDED_BADLY = frozenset({RunStatus.FAILED, RunStatus.INTERRUPTED, RunStatus.CANCELLED})


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows of a conversation."""

    rows: tuple[Row, ...]
    hot_id: str
    """Id of the row whose text grows; its row carries no text, `hot_text` does."""
    hot_text: str
    progress: tuple[Row, ...]
    """Steps of the newest run, the three stages first; empty until one has come."""
    running: bool
    retry_from: str = ""
    """Id of the newest message, when its answer ended badly and may be tried again."""


def view(conversation: Conversation, hot_id: str = "", *, skip: frozenset[str] = frozenset()) -> View:
    """The page's view of `conversation`; rows whose id is in `skip` are left out.

    `hot_id` is the row that was hot before: it stays hot until another row grows, so that its text need not be sent
    again when it is whole.
    """
    items = [item for item in rows(conversation) if item.id not in skip]
    hot_id = _hot_id(items, hot_id)
    marks = run_marks(items, conversation.runs)
    newest = conversation.runs[-1] if conversation.runs else None
    return View(
        rows=tuple(row(item, hot=item.id == hot_id) | marks.get(item.id, {}) for item in items),
        hot_id=hot_id,
        hot_text=next((growing_text(item) for item in items if item.id == hot_id), ""),
        progress=progress(newest),
        running=conversation.active_run_id is not None,
        retry_from=retry_from(conversation),
    )


def _hot_id(items: list[Item], before: str) -> str:
    if items and items[-1].status in UNSETTLED:
        return items[-1].id
    return before if any(item.id == before and item.kind is not ItemKind.TOOL_RESULT for item in items) else ""


def growing_text(item: Item) -> str:
    """The text of a row that grows while it streams: a message's text, a call's arguments."""
    return item.args_text if item.kind is ItemKind.TOOL_CALL else item.text


def row(item: Item, *, hot: bool = False) -> Row:
    """One item for the page. Shape: `Row`."""
    full: Row = {
        "kind": item.kind.value,
        "id": item.id,
        "status": item.status,
        "role": item.role,
        "text": "" if hot and item.kind is ItemKind.MESSAGE else item.text,
        "hot": hot,
        "tool": item.tool_name,
        "args": "" if hot else _args(item),
        "error": item.error if isinstance(item.error, str) else _json(item.error),
        "card": item.card if isinstance(item.card, dict) else None,
        "cardType": item.card_type,
        "fallback": item.fallback,
        "at": item.timestamp,
        "missing": item.payload_missing,
        "activity": _json(item.activity) if item.kind is ItemKind.MESSAGE else "",
        "activityType": item.activity_type,
    }
    return {key: value for key, value in full.items() if value not in (None, "", False)}


def _args(item: Item) -> str:
    if item.kind not in (ItemKind.TOOL_CALL, ItemKind.TOOL_RESULT):
        return ""
    return _json(item.args) if item.args is not None else item.args_text


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def progress(run: Run | None) -> tuple[Row, ...]:
    """The steps of `run` for the list: the three stages once any of them has come, then the others.

    A row: name, state (`pending` for a stage that has not come), stage (whether it is one of the three).
    """
    if run is None:
        return ()
    states = {step.name: str(step.state) for step in run.steps}
    stages = [{"name": name, "state": states.get(name, "pending"), "stage": True} for name in STAGES]
    others = [{"name": name, "state": state, "stage": False} for name, state in states.items() if name not in STAGES]
    any_stage = any(name in states for name in STAGES)
    return (*(stages if any_stage else ()), *others)


def retry_from(conversation: Conversation) -> str:
    """Id of the newest user message, when the run that answered it is the newest and ended badly."""
    if not conversation.runs or conversation.runs[-1].status not in ENDED_BADLY:
        return ""
    return next((message.id for message in reversed(conversation.messages) if message.role is Role.USER), "")


def run_marks(items: Sequence[Item], runs: Sequence[Run]) -> dict[str, Row]:
    """How the runs that did not end well ended: id of the run's last item -> {mark, markText?, turn?}.

    A newest run that made no item is marked at the last one; one that was replaced is not marked.
    """
    last: dict[str | None, tuple[str, str]] = {}
    here = ("", "")
    for item in items:
        here = (item.id, item.id if item.role == Role.USER else here[1])
        last[item.run_id] = here
    if runs:
        last.setdefault(runs[-1].run_id, here)
    return {
        last[run.run_id][0]: _mark(run, last[run.run_id][1])
        for run in runs
        if run.status in ENDED_BADLY and run.superseded_by is None and run.run_id in last
    }


def _mark(run: Run, turn: str) -> Row:
    mark = {"mark": run.status.value, "markText": run.error.message if run.error else "", "turn": turn}
    return {key: value for key, value in mark.items() if value}


def page_rows(page: Conversation, *, newer_run: str | None = None) -> list[Row]:
    """The rows of a page of history. A run that goes on in the page after it (`newer_run`) is marked there."""
    items = rows(page)
    marks = run_marks(items, [run for run in page.runs if run.run_id != newer_run])
    return [row(item) | marks.get(item.id, {}) for item in items]
