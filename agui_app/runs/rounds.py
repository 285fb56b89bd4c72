"""One round of an agent: what it is given, and its events, read and made fit for the thread."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any, NamedTuple, cast
from zoneinfo import ZoneInfo

from sqlalchemy import select

from agui_app.agents.base import Agent, AgentInput, ToolSpec
from agui_app.conversation.edits import free_id
from agui_app.conversation.model import Conversation, Message, Run
from agui_app.conversation.reducer import reduce
from agui_app.conversation.snapshots import scoped_snapshot
from agui_app.errors import AguiError
from agui_app.protocol.events import (
    OURS,
    BaseEvent,
    Event,
    MessagesSnapshotEvent,
    RunStartedEvent,
    ToolCallErrorEvent,
    ToolCallResult,
    ToolCallStartEvent,
    UnknownEvent,
)
from agui_app.protocol.ids import derived_id
from agui_app.protocol.normalise import Normaliser
from agui_app.runs.accept import Accepted
from agui_app.storage.database import Database
from agui_app.storage.messages import payload_path, read_message
from agui_app.storage.objects import ObjectStore
from agui_app.storage.payloads import read_payloads
from agui_app.storage.tables import MESSAGES
from agui_app.tools.registry import Registry

CONTEXT_PAYLOADS = 200  # tool results that an agent gets in full; of older ones it gets the summary

_log = logging.getLogger(__name__)


class AgentFailed(Exception):
    """The agent raised; the message can be shown."""


class Earlier(NamedTuple):
    """The thread before a run."""

    messages: tuple[Message, ...]
    """What the agent is told, oldest first."""
    replaced: Mapping[str, str]
    """Message id -> run id of what a retry or an edit replaced: nobody is told, but the ids are taken."""


async def earlier_messages(database: Database, objects: ObjectStore, accepted: Accepted) -> Earlier:
    """The thread before the run, with the payloads of its newest tool results."""
    ours = (MESSAGES.c.owner_id == accepted.ref.owner_id) & (MESSAGES.c.thread_pk == accepted.ref.thread_pk)
    replaced = MESSAGES.c.superseded_by.is_not(None)
    earlier = select(MESSAGES).where(ours, ~replaced, MESSAGES.c.run_id.is_distinct_from(accepted.ref.run_id))
    async with database.read() as session:
        rows = (await session.execute(earlier.order_by(MESSAGES.c.position))).mappings().all()
        left = (await session.execute(select(MESSAGES.c.id, MESSAGES.c.run_id).where(ours, replaced))).all()
    paths = [payload_path(row) or "" for row in rows]
    payloads = await read_payloads(objects, [path for path in paths if path][-CONTEXT_PAYLOADS:])
    messages = tuple(read_message(row, payloads.get(path)) for row, path in zip(rows, paths, strict=True))
    return Earlier(messages, {id: run_id or "" for id, run_id in left})


def agent_input(accepted: Accepted, registry: Registry, messages: tuple[Message, ...]) -> AgentInput:
    """What the agent may know for one round."""
    request = accepted.request
    return AgentInput(
        thread_id=accepted.ref.thread_id,
        run_id=accepted.ref.run_id,
        messages=messages,
        tools=(*_own_tools(registry), *_client_tools(request.body.get("tools"), registry)),
        now=accepted.started_at.astimezone(ZoneInfo(request.timezone)),
        timezone=request.timezone,
        locale=request.locale,
        state=request.body.get("state"),
        context=tuple(request.body.get("context") or ()),
        forwarded_props=request.forwarded,
    )


async def agent_events(agent: Agent, input: AgentInput) -> AsyncGenerator[Event, None]:
    """The events of one round, normalised. However the round ends, the agent's iterator is closed.

    Raises: AgentFailed.
    """
    normaliser = Normaliser()
    try:
        iterator = agent.run(input)
        try:
            async for raw in iterator:
                for event in normaliser.feed(raw):
                    yield event
        finally:
            await _close(iterator)
    except AguiError as error:
        raise AgentFailed(error.detail) from error
    except Exception as error:
        _log.exception("the agent failed in run %s", input.run_id)
        raise AgentFailed(f"The agent failed with {type(error).__name__}") from error
    for event in normaliser.close():
        yield event


async def _close(iterator: object) -> None:
    close = getattr(iterator, "aclose", None)
    if close is None:
        return
    try:
        await close()
    except Exception:
        _log.exception("the agent did not close well")


class Admission:
    """Makes the events of an agent fit for a thread in which other runs have spoken.

    Whatever a reader has of the thread, the newest page or all of it, an admitted event means the same to it.
    """

    def __init__(self, run_id: str, earlier: Earlier, given: Iterable[Message]):
        self._run_id = run_id
        self.earlier = earlier.messages
        """The messages of earlier runs, as the snapshots of this run have left them."""
        self._replaced = earlier.replaced
        self._said_again: dict[str, str] = {}
        """Ids of replaced messages that the agent gave to others in this run -> the ids that those have."""
        self._runs = {**earlier.replaced, **{message.id: message.run_id for message in earlier.messages}}
        self._taken = frozenset((*self._runs, *(message.id for message in given)))
        self._calls: dict[str, str] = {}
        self._earlier_calls: set[str] = set()

    def begin_round(self) -> None:
        """The agent speaks anew: a call with the id of one that it made before is another call."""
        self._earlier_calls.update(self._calls.values())
        self._calls = {}

    def admit(self, event: Event) -> tuple[Event | None, tuple[Message, ...]]:
        """The event as it is logged (None: it is not), and the messages of earlier runs that it changes.

        A message cannot have the id of one that was there before, replaced or not: it gets the run's id before its
        own. In a snapshot such an id means the replaced message, which stays away, unless the agent said it again.
        """
        match event:
            case RunStartedEvent():
                return None, ()
            case MessagesSnapshotEvent():
                return self._admit_snapshot(event)
            case UnknownEvent():
                return event, ()
            case _:
                return self._renamed(event), ()

    def _renamed(self, event: BaseEvent | ToolCallErrorEvent) -> Event:
        renamed: dict[str, Any] = {
            name: self._rename(id)
            for name in ("message_id", "parent_message_id")
            if (id := getattr(event, name, None)) in self._taken
        }
        call_id = getattr(event, "tool_call_id", None)
        if call_id is not None and (call := self._call(event, call_id)) != call_id:
            renamed |= {"tool_call_id": call} | ({"call_id": call} if isinstance(event, ToolCallResult) else {})
        return event.model_copy(update=renamed) if renamed else event

    def _rename(self, id: str) -> str:
        name = derived_id(self._run_id, id)
        if id in self._replaced:
            self._said_again[id] = name
        return name

    def _call(self, event: BaseEvent | ToolCallErrorEvent, call_id: str) -> str:
        """The id of the call in its run. Some models count their calls from nothing in every round."""
        if isinstance(event, ToolCallStartEvent) and call_id not in self._calls:
            again = call_id in self._earlier_calls
            self._calls[call_id] = free_id(self._earlier_calls, call_id) if again else call_id
        return self._calls.get(call_id, call_id)

    def _admit_snapshot(self, event: MessagesSnapshotEvent) -> tuple[Event, tuple[Message, ...]]:
        scoped = without_notes(scoped_snapshot(event, self._runs, self._said_again))
        before = Conversation(self.earlier, (Run(self._run_id),), self._run_id)
        after = reduce(before, scoped).messages[: len(self.earlier)]
        changed = tuple(new for old, new in zip(self.earlier, after, strict=True) if new is not old)
        self.earlier = after
        return scoped, changed


def without_notes(event: Event) -> Event:
    """Without what only this program may note about an event: an agent has no say in it."""
    noted = getattr(event, "metadata", None)
    if isinstance(event, UnknownEvent) or not isinstance(noted, dict) or OURS not in noted:
        return event
    rest = {key: value for key, value in cast(dict[str, Any], noted).items() if key != OURS}
    return event.model_copy(update={"metadata": rest or None})


def _own_tools(registry: Registry) -> Iterable[ToolSpec]:
    return (ToolSpec(tool.name, tool.description, tool.parameters) for tool in registry.values())


def client_tool_names(tools: object, registry: Registry) -> frozenset[str]:
    """The tools that the client carries out itself."""
    return frozenset(spec.name for spec in _client_tools(tools, registry))


def _client_tools(tools: object, registry: Registry) -> Iterable[ToolSpec]:
    for tool in cast(list[Any], tools) if isinstance(tools, list) else []:
        if isinstance(tool, dict):
            fields = cast(dict[str, Any], tool)
            name, parameters = str(fields.get("name", "")), fields.get("parameters")
            if name and name not in registry:
                known = cast(dict[str, Any], parameters) if isinstance(parameters, dict) else {"type": "object"}
                yield ToolSpec(name, str(fields.get("description", "")), known)
