"""What an agent is: a function from the conversation so far to the events of one round."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from agui_app.conversation.model import Message
from agui_app.protocol.events import Event


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as an agent sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema 2020-12 of the arguments, an object."""


@dataclass(frozen=True, slots=True)
class AgentInput:
    """Everything an agent may know for one round."""

    thread_id: str
    run_id: str
    messages: tuple[Message, ...]
    """The thread so far, oldest first, with the results of the earlier rounds of this run."""
    tools: tuple[ToolSpec, ...]
    now: datetime
    """Start of the run, aware, in the reader's zone."""
    timezone: str
    """IANA name of the reader's zone."""
    locale: str
    """`zh` or `en`: the reader's language."""
    state: Any = None
    context: tuple[Any, ...] = ()
    forwarded_props: dict[str, Any] = field(default_factory=dict[str, Any])
    """As the client sent it: not trusted."""


class Agent(Protocol):
    """Who answers.

    `run` yields the events of one round: texts, calls, steps. It yields no RUN_STARTED; a terminal event is
    optional (the pipeline writes RUN_FINISHED when the last round ends without one). A round that ends with
    calls of tools in `input.tools` left unanswered is followed by another one, after the calls were carried
    out: its `messages` then end with their results. Cancelling closes the iterator.
    """

    def run(self, input: AgentInput) -> AsyncIterator[Event]: ...
