"""What the program can do for an agent: tools, each a name, a JSON Schema and a handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from agui_app.storage.change import Change


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a handler may use. It reads through `session` and must not write through it."""

    owner_id: str
    thread_id: str
    run_id: str
    call_id: str
    timezone: str
    """IANA name of the reader's zone."""
    locale: str
    """`zh` or `en`."""
    now: datetime
    """Aware, in the reader's zone."""
    session: AsyncSession


Commit = Callable[[AsyncSession], Awaitable[Sequence[Change] | None]]
"""Writes what a call does, and gives what changed by it: the owner's readers are told once it is committed."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a handler gives back. `commit` runs inside the transaction that stores the tool message and logs its
    event, so that the effect and the message that reports it are never half done. It may be tried more than once."""

    result: Any
    ui: dict[str, Any] | None = None
    commit: Commit | None = None


Handler = Callable[[ToolContext, dict[str, Any]], Awaitable[ToolOutcome]]


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema 2020-12 of the arguments, an object."""
    handler: Handler


Registry = Mapping[str, Tool]
