"""Runs: start one, follow its thread, stop it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from agui_app.api.body import json_body, read_json
from agui_app.api.params import (
    LOCAL_OWNER,
    PREFIX,
    After,
    LastEventId,
    OptionalRunId,
    ServicesDep,
    SettingsDep,
    ThreadId,
    position,
    require_thread,
)
from agui_app.api.problems import responses
from agui_app.api.run_input import read_cancel, read_run_input
from agui_app.api.schemas import CancelAnswer, RunAccepted
from agui_app.api.stream import EventStream, chunks
from agui_app.errors import FieldError, InvalidRequest, MalformedJson, NotFound
from agui_app.services import Services

router = APIRouter(prefix=PREFIX, tags=["runs"])


@router.post(
    "/runs",
    status_code=202,
    responses={202: {"model": RunAccepted}, **responses(400, 409, 413, 415, 422)},
    openapi_extra=json_body("RunInput", required=True),
)
async def start_run(request: Request, services: ServicesDep, settings: SettingsDep) -> Response:
    """Create a run and start it. The same `runId` with the same body is the same run again."""
    raw = await read_json(request, settings.max_body_bytes)
    if raw is None:
        raise MalformedJson("the body is empty; send a RunAgentInput as JSON")
    body = read_run_input(raw, settings.agent)
    replaces = (body.get("forwardedProps") or {}).get("replaceFrom")
    if not body["messages"] and not body.get("resume") and not replaces:
        await _require_something_to_do(services, body["threadId"])
    run = await services.runs.start(LOCAL_OWNER, body)
    return JSONResponse(
        {
            "threadId": run.thread_id,
            "runId": run.run_id,
            "status": run.status,
            "eventsUrl": f"{PREFIX}/runs/{run.thread_id}/events",
            "lastEventId": str(run.last_event_id),
        },
        status_code=202,
    )


@router.get(
    "/runs/{threadId}/events",
    status_code=200,
    response_class=EventStream,
    responses={
        200: {"description": "frames of `id` and `data` (one AG-UI event as JSON)"},
        204: {"description": "`runId` has ended and nothing comes after this position"},
        **responses(404, 422),
    },
)
async def follow_thread(
    services: ServicesDep,
    thread_id: ThreadId,
    after: After = None,
    run_id: OptionalRunId = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Follow a thread over many runs, or one run from its first event to its last."""
    reached = position(last_event_id if last_event_id is not None else after)
    if run_id is None:
        await require_thread(services, thread_id)
    else:
        _, last = await services.runs.run_bounds(LOCAL_OWNER, thread_id, run_id)
        if last is not None and reached is not None and reached >= last:
            return Response(status_code=204)
    return EventStream(chunks(services, LOCAL_OWNER, thread_id, after=reached, run_id=run_id))


@router.post(
    "/runs/{threadId}/cancel",
    status_code=202,
    responses={202: {"model": CancelAnswer}, **responses(400, 404, 413, 415, 422)},
    openapi_extra=json_body("CancelInput", required=False),
)
async def cancel_run(request: Request, services: ServicesDep, settings: SettingsDep, thread_id: ThreadId) -> Response:
    """Stop the active run of a thread, or only the run that the body names. What was said is kept."""
    run_id = read_cancel(await read_json(request, settings.max_body_bytes))
    return JSONResponse(await services.runs.cancel(LOCAL_OWNER, thread_id, run_id), status_code=202)


async def _require_something_to_do(services: Services, thread_id: str) -> None:
    try:
        await require_thread(services, thread_id)
    except NotFound as error:
        message = "a new thread needs at least one message"
        raise InvalidRequest(message, errors=(FieldError("/messages", message),)) from error
