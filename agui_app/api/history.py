"""Pages of a transcript, by thread or for the newest one."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse

from agui_app.api.params import (
    DEFAULT_PAGE,
    LOCAL_OWNER,
    PREFIX,
    Before,
    Limit,
    OptionalThreadId,
    ServicesDep,
    ThreadId,
)
from agui_app.api.problems import responses
from agui_app.api.schemas import HistoryPage

router = APIRouter(prefix=PREFIX, tags=["history"])


@router.get("/runs/{threadId}/history", responses={200: {"model": HistoryPage}, **responses(404, 422)})
async def thread_history(
    services: ServicesDep, thread_id: ThreadId, before: Before = None, limit: Limit = DEFAULT_PAGE
) -> Response:
    """A page of a thread's transcript: the newest, or the one before `before`."""
    return JSONResponse(await services.history.page(LOCAL_OWNER, thread_id, before, limit))


@router.get("/history", responses={200: {"model": HistoryPage}, **responses(404, 422)})
async def newest_history(
    services: ServicesDep,
    thread_id: OptionalThreadId = None,
    before: Before = None,
    limit: Limit = DEFAULT_PAGE,
) -> Response:
    """The same; without `threadId` the thread of the cursor, or else the caller's newest."""
    return JSONResponse(await services.history.page(LOCAL_OWNER, thread_id, before, limit))
