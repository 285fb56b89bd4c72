"""Results that a client sends for calls of earlier runs, which it carried out itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.model import Conversation, Message, Role, Run
from agui_app.conversation.snapshots import take_in
from agui_app.storage.messages import read_message
from agui_app.storage.tables import MESSAGES


@dataclass(frozen=True, slots=True)
class LateResult:
    """A result and the call that it answers, in the places where they stand in the thread."""

    wire: dict[str, Any]
    """The message as it came, with the `runId` of the call's run: readers place it by that."""
    carrier: Message
    """The message of the call, answered."""
    result: Message
    position: int
    """The place that was kept for it."""


async def late_results(
    session: AsyncSession, thread_pk: int, messages: Sequence[dict[str, Any]], run_id: str, created_at: str | None
) -> list[LateResult]:
    """Those of `messages` that answer a call of an earlier run which has no result yet."""
    found: dict[str, LateResult] = {}
    for wire in messages:
        call_id = wire.get("toolCallId")
        if wire.get("role") != Role.TOOL or not isinstance(call_id, str) or call_id in found:
            continue
        row = await _carrier(session, thread_pk, call_id)
        late = None if row is None else _answered(row, wire, run_id, created_at)
        if late is not None and not await _is_taken(session, thread_pk, late.position):
            found[call_id] = late
    return list(found.values())


async def _carrier(session: AsyncSession, thread_pk: int, call_id: str) -> RowMapping | None:
    """The newest call of that id."""
    query = (
        select(MESSAGES)
        .where(
            MESSAGES.c.thread_pk == thread_pk,
            MESSAGES.c.role == Role.ASSISTANT.value,
            MESSAGES.c.superseded_by.is_(None),
            MESSAGES.c.data["call"]["id"].as_string() == call_id,
        )
        .order_by(MESSAGES.c.position.desc())
        .limit(1)
    )
    return (await session.execute(query)).mappings().one_or_none()


def _answered(row: RowMapping, wire: dict[str, Any], run_id: str, created_at: str | None) -> LateResult | None:
    scoped = {**wire, "runId": row["run_id"]}
    before = Conversation((read_message(row),), (Run(run_id),), run_id)
    after = take_in(before, run_id, [scoped], created_at).messages
    return None if len(after) < 2 else LateResult(scoped, *after, position=row["position"] + 1)


async def _is_taken(session: AsyncSession, thread_pk: int, position: int) -> bool:
    place = select(MESSAGES.c.pk).where(MESSAGES.c.thread_pk == thread_pk, MESSAGES.c.position == position)
    return (await session.execute(place)).one_or_none() is not None
