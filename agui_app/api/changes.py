"""The caller's changes: threads and calendar events that came, changed or went."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Response

from agui_app.api.params import LOCAL_OWNER, PREFIX, After, LastEventId, ServicesDep, position
from agui_app.api.problems import responses
from agui_app.api.stream import EventStream, encoded
from agui_app.protocol.sse import encode_frame
from agui_app.services import Services
from agui_app.storage.events import Resync

RESYNC = '{"type":"resync"}'

router = APIRouter(prefix=PREFIX, tags=["changes"])


@router.get(
    "/changes",
    status_code=200,
    response_class=EventStream,
    responses={
        200: {
            "description": "frames of `id` and `data` (one ChangeEvent as JSON), after a comment; whatever changes "
            "from then on is told"
        },
        **responses(422),
    },
)
async def follow_changes(services: ServicesDep, after: After = None, last_event_id: LastEventId = None) -> Response:
    """Follow what changes: `thread.created`, `thread.updated`, `thread.deleted`, `calendar.changed`,
    `calendar.deleted`. Without an id to resume after: what comes next.

    `resync` comes first when there is no going on after that id, as after a restart: read the lists anew.
    """
    reached = position(last_event_id if last_event_id is not None else after)
    return EventStream(change_chunks(services, LOCAL_OWNER, after=reached))


async def change_chunks(services: Services, owner_id: str, *, after: int | None) -> AsyncGenerator[bytes, None]:
    """The owner's changes after `after` as SSE bytes."""
    with services.changes.follow(owner_id, after) as frames:
        async with aclosing(encoded(frames, _resync)) as out:
            async for chunk in out:
                yield chunk


async def _resync(gap: Resync) -> tuple[int, bytes]:
    return gap.id, encode_frame(gap.id, RESYNC)
