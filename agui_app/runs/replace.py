"""A retry or an edit: which messages of the thread a run replaces, and how they and their runs are marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.conversation.messages import read_standard
from agui_app.conversation.model import Conversation, Message, Role
from agui_app.conversation.replacing import replaces_note
from agui_app.errors import FieldError, InvalidRequest
from agui_app.protocol.events import wire_of
from agui_app.runs.requests import REPLACE_FROM, RunRequest, title_of
from agui_app.storage.messages import read_message
from agui_app.storage.tables import MESSAGES, RUNS


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands that the thread has."""

    position: int
    superseded: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """What a run replaces: every message of the thread from `position` on that is not replaced already."""

    message_id: str
    """The message that the request names; the first that is replaced, or, when it is `kept`, the last that is not."""
    run_id: str | None
    """The run of that message."""
    position: int
    kept: bool

    @property
    def note(self) -> dict[str, Any]:
        """What RUN_STARTED notes about it."""
        return replaces_note(self.message_id, kept=self.kept)


async def find_cut(
    session: AsyncSession, thread_pk: int, request: RunRequest, known: Mapping[str, Place]
) -> Cut | None:
    """What the request replaces; None when it replaces nothing.

    A message of the reader stays when the request brings no new one: an answer to it is what is wanted. `known`: the
    messages of the request that the thread has.

    Raises: InvalidRequest: the thread has no such message, or the request brings one by the id of a replaced one.
    """
    if request.replace_from is None:
        return None
    named = await _named(session, thread_pk, request.replace_from)
    kept = named["role"] == Role.USER and all(message.get("id") in known for message in request.messages)
    if kept:
        _refuse_changed(named, request.messages)
    cut = Cut(named["id"], named["run_id"], named["position"] + kept, kept)
    _refuse_replaced(cut, request.messages, known)
    return cut


async def supersede(session: AsyncSession, thread_pk: int, cut: Cut, by: str) -> None:
    """The messages leave the thread, for the run `by`; so do their runs: that of the named message and all later."""
    first = select(RUNS.c.pk).where(RUNS.c.thread_pk == thread_pk, RUNS.c.id == cut.run_id).scalar_subquery()
    for table, replaced in ((MESSAGES, MESSAGES.c.position >= cut.position), (RUNS, RUNS.c.pk >= first)):
        ours = (table.c.thread_pk == thread_pk) & table.c.superseded_by.is_(None)
        await session.execute(update(table).where(ours, replaced).values(superseded_by=by))


async def retitled(session: AsyncSession, thread: RowMapping, cut: Cut, said: Conversation) -> str:
    """The title of the thread with what is newly `said`: it follows when the message that it was made of is replaced.

    Ask before the messages are marked.
    """
    found = await session.execute(
        select(MESSAGES.c.position, MESSAGES.c.content)
        .where(
            MESSAGES.c.thread_pk == thread["pk"],
            MESSAGES.c.superseded_by.is_(None),
            MESSAGES.c.role == Role.USER.value,
            MESSAGES.c.content != "",
        )
        .order_by(MESSAGES.c.position)
        .limit(1)
    )
    first = found.one_or_none()
    follows = first is not None and first.position >= cut.position and _titles(first.content) == thread["title"]
    return (title_of(said.messages) if follows or not thread["title"] else "") or thread["title"]


def _titles(text: str) -> str:
    return title_of([Message("", Role.USER, text=text)])


async def _named(session: AsyncSession, thread_pk: int, message_id: str) -> RowMapping:
    found = await session.execute(
        select(MESSAGES).where(MESSAGES.c.thread_pk == thread_pk, MESSAGES.c.id == message_id)
    )
    row = found.mappings().one_or_none()
    if row is None:
        raise _wrong(REPLACE_FROM, f"the thread has no message {message_id!r}")
    if row["superseded_by"] is not None:
        raise _wrong(REPLACE_FROM, f"the message {message_id!r} was replaced already, by {row['superseded_by']!r}")
    if row["role"] not in (Role.USER, Role.ASSISTANT):
        raise _wrong(REPLACE_FROM, f"{message_id!r} is of role {row['role']}; name a message of user or assistant")
    return row


def _refuse_changed(named: RowMapping, messages: Sequence[dict[str, Any]]) -> None:
    """A message that stays cannot be said differently by its own id."""
    stored = read_message(named)
    for index, message in enumerate(messages):
        if message.get("id") == named["id"]:
            said = read_standard(wire_of(message))
            if said is None or (said.message.text, said.message.parts) != (stored.text, stored.parts):
                raise _taken(index, named["id"])


def _refuse_replaced(cut: Cut, messages: Sequence[dict[str, Any]], known: Mapping[str, Place]) -> None:
    for index, message in enumerate(messages):
        place = known.get(message.get("id", ""))
        if place is not None and (place.superseded or place.position >= cut.position):
            raise _taken(index, message["id"])


def _taken(index: int, message_id: str) -> InvalidRequest:
    return _wrong(f"/messages/{index}/id", f"{message_id!r} is the id of a replaced message; an edit needs a new id")


def _wrong(pointer: str, message: str) -> InvalidRequest:
    return InvalidRequest(f"{pointer}: {message}", errors=(FieldError(pointer, message),))
