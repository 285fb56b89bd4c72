"""The caller's threads."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import AfterValidator
from starlette.responses import JSONResponse

from agui_app.api.body import json_body, read_json
from agui_app.api.params import DEFAULT_PAGE, LOCAL_OWNER, PREFIX, Before, Limit, ServicesDep, SettingsDep, ThreadId
from agui_app.api.problems import responses
from agui_app.api.schemas import ThreadLine, ThreadPage
from agui_app.api.thread_input import read_title
from agui_app.protocol.sanitise import sanitise_text

router = APIRouter(prefix=PREFIX, tags=["threads"])


@router.get("/threads", responses={200: {"model": ThreadPage}, **responses(422)})
async def list_threads(
    services: ServicesDep,
    before: Before = None,
    limit: Limit = DEFAULT_PAGE,
    q: Annotated[str, AfterValidator(sanitise_text), Query(max_length=200, description="in title or text")] = "",
) -> Response:
    """The threads, the one that changed last first; with `q` those that hold it, whatever the case of its letters.

    A thread that changes while pages are read comes again after the oldest one, so that none is missed.
    """
    return JSONResponse(await services.threads.list_threads(LOCAL_OWNER, before, limit, q.strip() or None))


@router.patch(
    "/threads/{threadId}",
    responses={200: {"model": ThreadLine}, **responses(400, 404, 413, 415, 422)},
    openapi_extra=json_body("RenameInput", required=True),
)
async def rename_thread(
    request: Request, services: ServicesDep, settings: SettingsDep, thread_id: ThreadId
) -> Response:
    """Give a thread another title. It keeps its place in the list."""
    title = read_title(await read_json(request, settings.max_body_bytes))
    return JSONResponse(await services.threads.rename(LOCAL_OWNER, thread_id, title))


@router.delete(
    "/threads/{threadId}",
    status_code=204,
    response_class=Response,
    responses={204: {"description": "the thread and everything that belongs to it is gone"}, **responses(404, 422)},
)
async def delete_thread(services: ServicesDep, thread_id: ThreadId) -> Response:
    """Delete a thread with its messages, runs, events and payloads; its calendar events stay.

    An active run is cancelled first. When it cannot be ended in time, nothing is deleted and the answer is 503. Streams
    of the thread end. Event ids are never used again, also when a later run uses the thread's id.
    """
    await services.runs.delete(LOCAL_OWNER, thread_id)
    return Response(status_code=204)
