"""Turns a stretch of a run, its events and its fold, into one committed batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agui_app.conversation.model import Conversation, Message, Role, Run, RunStatus
from agui_app.protocol.events import Event, ToolCallStartEvent, dump_event
from agui_app.protocol.times import rfc3339
from agui_app.runs.batch import Batch, Effect, RunRef
from agui_app.runs.coalesce import coalesce
from agui_app.runs.rows import RowChanges, RunRows
from agui_app.runs.writer import Writer
from agui_app.storage.messages import message_columns, run_columns, tool_metadata
from agui_app.storage.objects import ObjectStore
from agui_app.storage.payloads import new_path, put_payload, tool_payload

HEARTBEAT = timedelta(seconds=10)  # a run is taken for dead after three of them


@dataclass(frozen=True, slots=True)
class _Payload:
    message: Message
    metadata: dict[str, Any]
    """The eight keys of its row."""
    pending: dict[str, Any] | None
    """The row to keep it in, when the object store did not take it."""


class Recorder:
    """Stores one run. `record` is called by one task at a time."""

    def __init__(
        self,
        run: RunRef,
        rows: RunRows,
        writer: Writer,
        objects: ObjectStore,
        clock: Callable[[], datetime],
        beat_at: datetime,
    ):
        self.run = run
        self.rows = rows
        self._writer = writer
        self._objects = objects
        self._clock = clock
        self.beat_at = beat_at
        """The heartbeat of the run, as it was stored last: the sign that the run is this recorder's."""
        self._call_started_at: dict[str, str | None] = {}
        self._payloads: dict[str, _Payload] = {}

    async def record(
        self,
        events: Sequence[Event],
        conversation: Conversation,
        *,
        effects: Sequence[Effect] = (),
        revised: Iterable[Message] = (),
    ) -> None:
        """Back when `events`, and the rows that `conversation` (the fold up to them) changes, are committed and shown.

        `revised`: messages of earlier runs that the events change. Payloads are stored before. Called again after
        StoreUnavailable it does the same again.

        Raises: StoreUnavailable; RunLost; whatever an effect raises. Nothing is stored then.
        """
        self.note(events)
        run = find_run(conversation, self.run.run_id)
        ends = run is not None and run.status is not RunStatus.RUNNING
        changes = self.rows.changes(conversation.messages, final=ends)
        now = self._clock()
        beats = now - self.beat_at >= HEARTBEAT
        if not events and not beats:
            return
        payloads = await self._store_payloads((*changes.inserts, *changes.updates), now)
        metadata = {payload.message.id: payload.metadata for payload in payloads}
        run_changes: dict[str, Any] = {"heartbeat_at": now} if beats or ends else {}
        thread_changes: dict[str, Any] = {}
        if ends and run is not None:
            run_changes |= run_columns(run)
            thread_changes["updated_at"] = now
        if changes.next_position != self.rows.next_position:
            thread_changes["next_position"] = changes.next_position
        await self._writer.submit(
            Batch(
                run=self.run,
                beat=self.beat_at,
                events=[dump_event(event) for event in coalesce(events)],
                ends=ends,
                inserts=[_columns(message, changes, metadata) for message in changes.inserts],
                updates=[
                    *((message.id, _columns(message, changes, metadata)) for message in changes.updates),
                    *((message.id, message_columns(message)) for message in revised),
                ],
                deletes=changes.deletes,
                run_columns=run_changes,
                thread_columns=thread_changes,
                pending=[payload.pending for payload in payloads if payload.pending is not None],
                effects=effects,
            )
        )
        self.rows.accept(changes)
        self._payloads.clear()
        self.beat_at = now if beats or ends else self.beat_at

    def note(self, events: Sequence[Event]) -> None:
        """When calls began, which their payloads say."""
        for event in events:
            if isinstance(event, ToolCallStartEvent):
                self._call_started_at.setdefault(event.tool_call_id, rfc3339(event.timestamp))

    async def _store_payloads(self, messages: Sequence[Message], now: datetime) -> list[_Payload]:
        """The payloads that are new, stored if the store takes them."""
        payloads: list[_Payload] = []
        for message in messages:
            if not self._has_new_payload(message):
                continue
            payload = self._payloads.get(message.id)
            if payload is None or payload.message.tool != message.tool:
                payload = await self._store_payload(message, now)
                self._payloads[message.id] = payload
            payloads.append(payload)
        return payloads

    async def _store_payload(self, message: Message, now: datetime) -> _Payload:
        assert message.tool is not None
        path = new_path()
        payload = tool_payload(message, self.run.thread_id, self._call_started_at.get(message.tool.call_id))
        stored = await put_payload(self._objects, path, payload)
        metadata = tool_metadata(message, self._objects.bucket, path if stored else None)
        return _Payload(message, metadata, None if stored else pending_columns(message.id, path, payload, now))

    def _has_new_payload(self, message: Message) -> bool:
        if message.role is not Role.TOOL or message.tool is None:
            return False
        written = self.rows.written.get(message.id)
        return written is None or written.tool != message.tool or written.run_id != message.run_id


def find_run(conversation: Conversation, run_id: str) -> Run | None:
    """The run of that id in the fold."""
    return next((run for run in conversation.runs if run.run_id == run_id), None)


def pending_columns(message_id: str, path: str, payload: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The row of a payload that waits for the object store."""
    return {
        "message_id": message_id,
        "path": path,
        "payload": payload,
        "attempts": 0,
        "next_attempt_at": now,
        "created_at": now,
    }


def _columns(message: Message, changes: RowChanges, metadata: Mapping[str, Any]) -> dict[str, Any]:
    columns = {**message_columns(message), "position": changes.positions[message.id]}
    if message.id in metadata:
        columns["metadata"] = metadata[message.id]
    return columns
