"""The tools that agents may call."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse

from agui_app.api.params import PREFIX, ServicesDep
from agui_app.api.problems import responses
from agui_app.api.schemas import ToolLine

router = APIRouter(prefix=PREFIX, tags=["tools"])


@router.get("/tools", responses={200: {"model": list[ToolLine]}, **responses()})
async def list_tools(services: ServicesDep) -> Response:
    """The registered tools with the JSON Schemas of their arguments."""
    return JSONResponse(
        [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in services.tools.values()
        ]
    )
