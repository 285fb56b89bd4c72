"""What the server answers: events, JSON objects, and problem documents as the errors that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import httpx
from httpx_sse import EventSource

from agui_app import errors
from agui_app.errors import AguiError, FieldError, InvalidRequest, ToolError


class Unreachable(AguiError):
    """The server did not answer, or not as this API does."""

    code, status, title = "unreachable", 503, "Server unreachable"


class Ended(Exception):
    """The server has nothing more to say on this stream."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a thread, as the server sent it."""

    id: str
    """Resume after it; opaque. Empty when the server gave none."""
    event: dict[str, Any]
    """The event's JSON: not validated."""

    @property
    def page(self) -> dict[str, Any] | None:
        """The newest history page when this is a resynchronisation: it replaces the reader's window."""
        metadata = self.event.get("metadata")
        ours = cast(dict[str, Any], metadata).get("agui-app") if isinstance(metadata, dict) else None
        if self.event.get("type") != "MESSAGES_SNAPSHOT" or not isinstance(ours, dict):
            return None
        page = cast(dict[str, Any], ours)
        if page.get("partial") is not True:
            return None
        kept = {name: page.get(name) for name in ("threadId", "runs", "hasMore", "nextCursor", "activeRunId")}
        return {**kept, "messages": self.event.get("messages"), "lastEventId": self.id}


async def check_stream(source: EventSource) -> None:
    """Nothing when the answer is a stream. Raises Ended, Unreachable, the refusal."""
    response = source.response
    if response.status_code == 204:
        raise Ended
    if not response.is_success:
        await response.aread()
        raise refusal(response)
    media_type = response.headers.get("content-type", "")
    if media_type.partition(";")[0].strip().lower() != "text/event-stream":
        raise Unreachable(f"the server answered with {media_type!r}, not with a stream of events")


_BY_CODE: dict[str, type[AguiError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, AguiError) and kind is not ToolError
}


def refusal(response: httpx.Response) -> AguiError:
    """The error that a problem document names."""
    problem = json_object(response)
    try:
        kind = _BY_CODE.get(problem["code"], AguiError if response.is_server_error else InvalidRequest)
        fields = tuple(FieldError(field["pointer"], field["message"]) for field in problem.get("errors", ()))
        known = ("type", "title", "status", "detail", "code", "errors")
        extra = {name: value for name, value in problem.items() if name not in known}
        return kind(problem["detail"], errors=fields, extra=extra)
    except (KeyError, TypeError):
        return Unreachable(f"the server answered {response.status_code} and no problem document")


def json_object(response: httpx.Response) -> dict[str, Any]:
    """The JSON object that the server answered. Raises Unreachable."""
    try:
        content = response.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise Unreachable(f"the server answered {response.status_code} and no JSON object")
    return cast(dict[str, Any], content)
