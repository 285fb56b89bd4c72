"""The shapes of what the routes answer, for OpenAPI; the services make the values."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class RunAccepted(BaseModel):
    threadId: str
    runId: str
    status: str = Field(description="`running`, or how the run ended when the same request came again")
    eventsUrl: str = Field(description="the SSE stream of the thread")
    lastEventId: str = Field(description="the position just before the run; give it as Last-Event-ID")


class CancelAnswer(BaseModel):
    status: Literal["cancelling", "idle"]
    runId: str | None = None


class HistoryPage(BaseModel):
    """A page of a transcript, oldest message first."""

    threadId: str | None
    messages: list[dict[str, Any]]
    runs: list[dict[str, Any]] = Field(description="every run that touches the page")
    hasMore: bool
    nextCursor: str | None = Field(description="`before` of the page of older messages")
    lastEventId: str | None = Field(default=None, description="where the stream goes on from; newest page only")
    activeRunId: str | None = None


class ThreadLine(BaseModel):
    model_config = ConfigDict(extra="allow")

    id: str
    title: str | None
    createdAt: str
    updatedAt: str
    lastLine: str | None
    activeRunId: str | None


class ThreadPage(BaseModel):
    threads: list[ThreadLine]
    hasMore: bool
    nextCursor: str | None


class ChangeEvent(BaseModel):
    """One event of the stream of changes."""

    type: Literal[
        "thread.created", "thread.updated", "thread.deleted", "calendar.changed", "calendar.deleted", "resync"
    ]
    thread: dict[str, Any] | None = Field(
        default=None, description="of a thread: its line, as in the list; of a deleted one its `id` alone"
    )
    event: dict[str, Any] | None = Field(default=None, description="of a calendar event: its `id`")


class ToolLine(BaseModel):
    name: str
    description: str
    parameters: dict[str, Any] = Field(description="JSON Schema 2020-12 of the arguments")


class Health(BaseModel):
    status: Literal["ok"]
