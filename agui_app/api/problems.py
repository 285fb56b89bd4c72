"""Every error as one shape: RFC 9457 `application/problem+json`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agui_app.errors import (
    AguiError,
    FieldError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    StoreUnavailable,
    TooManyRequests,
)

MEDIA_TYPE = "application/problem+json"
DOCS_PATH = "/api/docs"
RETRY_AFTER_S = "1"
_RETRY_AFTER = {"Retry-After": {"description": "seconds to wait", "required": True, "schema": {"type": "integer"}}}

log = logging.getLogger(__name__)


class FieldProblem(BaseModel):
    pointer: str = Field(description="JSON pointer into the body, or the name of a parameter")
    message: str


class Problem(BaseModel):
    """An error, as RFC 9457 writes it."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="where the code is documented")
    title: str
    status: int
    detail: str
    code: str = Field(description="stable; one of the documented list")
    errors: list[FieldProblem] = Field(default=[], description="what is wrong with which field")


def problem_response(error: AguiError, headers: dict[str, str] | None = None) -> Response:
    """The response that says `error`."""
    content: dict[str, Any] = {
        "type": f"{DOCS_PATH}#{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
    }
    if error.errors:
        content["errors"] = [{"pointer": field.pointer, "message": field.message} for field in error.errors]
    retry = {"retry-after": RETRY_AFTER_S} if isinstance(error, StoreUnavailable | TooManyRequests) else {}
    return JSONResponse(
        {**error.extra, **content},
        status_code=error.status,
        headers={**retry, **(headers or {})},
        media_type=MEDIA_TYPE,
    )


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem responses of a route, for OpenAPI: these and the ones that every route can give."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            **({"headers": _RETRY_AFTER} if status in (429, 503) else {}),
        }
        for status in sorted({*statuses, 403, 421, 500, 503})
    }


def install_problem_handlers(app: FastAPI) -> None:
    """Make `app` say every error as a problem."""
    unavailable = (OperationalError, InterfaceError, PoolTimeout, OSError)
    app.add_exception_handler(AguiError, _handler(lambda error: error))
    app.add_exception_handler(RequestValidationError, _handler(_invalid_parameters))
    for kind in unavailable:
        app.add_exception_handler(kind, _handler(_store_unavailable))
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_middleware(UnexpectedErrors)


class UnexpectedErrors:
    """Logs what nobody foresaw and answers with a 500 that tells nothing of the inside."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched_send)
        except ClientDisconnect:
            return
        except Exception:
            if started or scope["type"] != "http":
                raise
            log.exception("unexpected error in %s %s", scope["method"], scope["path"])
            await problem_response(AguiError("an unexpected error; the server's log has it"))(scope, receive, send)


def _handler(convert: Callable[[Any], AguiError]) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(_request: Request, error: Exception) -> Response:
        return problem_response(convert(error))

    return handle


def _store_unavailable(error: Exception) -> AguiError:
    log.warning("the store does not answer: %s", error)
    return StoreUnavailable("the store does not answer at the moment; try again")


async def _http_exception(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    match error.status_code:
        case 404:
            return problem_response(NotFound("there is nothing at this path"), headers)
        case 405:
            return problem_response(
                MethodNotAllowed(f"this path takes {headers.get('Allow', 'no such method')}"), headers
            )
        case _:
            return problem_response(_as_error(error), headers)


def _as_error(error: HTTPException) -> AguiError:
    """A framework's exception with a status that we raise no error for, as the nearest error of ours."""
    if error.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
        return InvalidRequest(str(error.detail))
    return AguiError("an unexpected error")


def _invalid_parameters(error: RequestValidationError) -> AguiError:
    problems: Sequence[dict[str, Any]] = error.errors()
    fields = tuple(
        FieldError(str(problem["loc"][-1]), str(problem["msg"]).removeprefix("Value error, ")) for problem in problems
    )
    return InvalidRequest("; ".join(f"{field.pointer}: {field.message}" for field in fields), errors=fields)
