"""Whether the process is up, and whether what it stands on answers."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse

from agui_app.api.params import ServicesDep
from agui_app.api.problems import responses
from agui_app.api.schemas import Health
from agui_app.errors import StoreUnavailable

CHECK_TIMEOUT_S = 2

router = APIRouter(tags=["health"])


@router.get("/healthz", responses={200: {"model": Health}, **responses()})
async def healthz() -> Response:
    """The process is up."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", responses={200: {"model": Health}, **responses()})
async def readyz(services: ServicesDep) -> Response:
    """The database and the payload storage answer."""
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            await services.database.check()
            await services.objects.check()
    except TimeoutError as error:
        raise StoreUnavailable(f"the store did not answer within {CHECK_TIMEOUT_S} s") from error
    return JSONResponse({"status": "ok"})
