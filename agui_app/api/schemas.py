"""The shapes of what the routes answer, for OpenAPI; the services make the values."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict  # pydantic reads those of Python 3.11 only from here


class RunAccepted(BaseModel):
    threadId: str
    runId: str
    status: str = Field(description="`running`, or how the run ended when the same request came again")
    eventsUrl: str = Field(description="the SSE stream of the thread")
    lastEventId: str = Field(description="the position just before the run; give it as Last-Event-ID")


class CancelAnswer(BaseModel):
    status: Literal["cancelling", "idle"]
    runId: str | None = None


Moment: TypeAlias = Annotated[
    str, Field(description="RFC 3339 with an offset", json_schema_extra={"format": "date-time"})
]


class _Closed(TypedDict):
    """Exactly these members; optional ones are absent, never null."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # pyright: ignore[reportGeneralTypeIssues]


class _Said(_Closed):
    id: str
    runId: str | None
    createdAt: Moment | None
    status: Literal["complete", "streaming", "interrupted"]
    name: NotRequired[str]
    subagentRunId: NotRequired[Annotated[str, Field(description="the subagent's invocation that this belongs to")]]
    encryptedValue: NotRequired[Annotated[str, Field(description="a provider's opaque value")]]


class Attachment(_Closed):
    type: str
    id: NotRequired[str]
    mimeType: NotRequired[str]
    url: NotRequired[str]


class UserRow(_Said):
    role: Literal["user"]
    content: str
    attachments: list[Attachment]
    parts: NotRequired[Annotated[list[dict[str, Any]], Field(description="the content's parts, when it is no text")]]
    metadata: NotRequired[dict[str, Any]]


class Call(_Closed):
    id: str
    name: str
    argsText: Annotated[str, Field(description="the arguments as the agent wrote them")]
    status: Literal["pending", "executing", "completed", "error"]
    args: NotRequired[Annotated[Any, Field(description="the arguments, when they can be read")]]
    resultMessageId: NotRequired[Annotated[str, Field(description="the tool message that draws the row")]]
    parentMessageId: NotRequired[str]
    error: NotRequired[Annotated[Any, Field(description="why it was not carried out, as long as no result says so")]]
    code: NotRequired[str]
    encryptedValue: NotRequired[str]


class AssistantRow(_Said):
    role: Literal["assistant"]
    content: str
    toolCalls: NotRequired[Annotated[list[Call], Field(min_length=1, max_length=1)]]
    metadata: NotRequired[dict[str, Any]]


class ToolMetadata(_Closed):
    """Where the payload lies; all eight always."""

    tool_call_id: str
    tool_name: str
    run_id: str | None
    stage: str | None
    task_id: str | None
    storage_bucket: str | None
    storage_path: str | None
    summary_version: int
    storage_missing: NotRequired[Annotated[Literal[True], Field(description="while the payload is not stored")]]


class ToolRow(_Said):
    role: Literal["tool"]
    content: Annotated[str, Field(max_length=200, description="a summary of one line")]
    toolCallId: str
    toolName: str
    args: Any
    result: Any
    error: Any
    ui: Annotated[Any, Field(description="the card, if there is one")]
    payloadMissing: NotRequired[Annotated[Literal[True], Field(description="the payload could not be read")]]
    metadata: ToolMetadata


class OtherRow(_Said):
    role: Literal["system", "developer", "reasoning"]
    content: str
    metadata: NotRequired[dict[str, Any]]


class ActivityRow(_Said):
    role: Literal["activity"]
    content: dict[str, Any]
    activityType: str
    metadata: NotRequired[dict[str, Any]]


class SubagentRow(_Said):
    role: Literal["subagent"]
    content: str
    activity: Annotated[dict[str, Any], Field(description="result and outcome, or error, when it ended")]
    metadata: NotRequired[dict[str, Any]]


Row: TypeAlias = Annotated[
    UserRow | AssistantRow | ToolRow | OtherRow | ActivityRow | SubagentRow, Field(discriminator="role")
]


class StepLine(_Closed):
    name: str
    state: Literal["active", "done", "error", "stopped"]
    startedAt: Moment | None
    finishedAt: NotRequired[Moment]


class Failure(_Closed):
    message: str
    code: str | None


class RunLine(_Closed):
    runId: str
    status: Annotated[
        Literal["running", "finished", "failed", "cancelled", "interrupted", "waiting"],
        Field(description="`waiting`: the agent asked the reader something"),
    ]
    steps: list[StepLine]
    startedAt: Moment | None
    finishedAt: NotRequired[Moment]
    outcome: NotRequired[Annotated[dict[str, Any], Field(description="`outcome` of RUN_FINISHED")]]
    error: NotRequired[Failure]
    usage: NotRequired[Any]
    result: NotRequired[Any]
    interrupts: NotRequired[Annotated[list[dict[str, Any]], Field(description="what the agent asked")]]
    supersededBy: NotRequired[Annotated[str, Field(description="the run that replaced it by a retry or an edit")]]


class HistoryPage(_Closed):
    """A page of a transcript, oldest message first."""

    threadId: str | None
    messages: list[Row]
    runs: Annotated[list[RunLine], Field(description="every run that touches the page")]
    hasMore: bool
    nextCursor: Annotated[str | None, Field(description="`before` of the page of older messages")]
    lastEventId: NotRequired[
        Annotated[str | None, Field(description="where the stream goes on from; newest page only")]
    ]
    activeRunId: str | None


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
