"""The caller's threads."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator
from starlette.responses import JSONResponse

from agui_app.api.params import DEFAULT_PAGE, LOCAL_OWNER, PREFIX, Before, Limit, ServicesDep
from agui_app.api.problems import responses
from agui_app.api.schemas import ThreadPage
from agui_app.protocol.sanitise import sanitise_text

router = APIRouter(prefix=PREFIX, tags=["threads"])


@router.get("/threads", responses={200: {"model": ThreadPage}, **responses(422)})
async def list_threads(
    services: ServicesDep,
    before: Before = None,
    limit: Limit = DEFAULT_PAGE,
    q: Annotated[str, AfterValidator(sanitise_text), Query(max_length=200, description="in title or text")] = "",
) -> Response:
    """The threads, the one that changed last first."""
    return JSONResponse(await services.threads.list_threads(LOCAL_OWNER, before, limit, q or None))
