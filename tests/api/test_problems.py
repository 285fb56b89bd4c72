from __future__ import annotations

import logging
from typing import Annotated

import httpx
import pytest
from fastapi import FastAPI, Query
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agui_app.api.problems import install_problem_handlers, responses
from agui_app.client import AsgiTransport
from agui_app.errors import (
    AguiError,
    FieldError,
    InvalidRequest,
    NotFound,
    RunActive,
    StoreUnavailable,
    TooManyRequests,
)

SECRET = "/home/somebody/.agui/agui.db"


def app_that_raises(error: Exception) -> FastAPI:
    app = FastAPI(openapi_url=None)
    install_problem_handlers(app)

    @app.get("/api/thing")
    async def thing(limit: Annotated[int, Query(ge=1)] = 1) -> None:
        raise error

    return app


async def ask(app: FastAPI, path: str = "/api/thing", method: str = "GET") -> httpx.Response:
    async with httpx.AsyncClient(transport=AsgiTransport(app), base_url="http://localhost") as http:
        return await http.request(method, path)


async def problem(error: Exception) -> dict[str, object]:
    response = await ask(app_that_raises(error))
    assert response.headers["content-type"] == "application/problem+json"
    assert response.status_code == response.json()["status"]
    return response.json()


async def test_an_error_of_ours_is_said_with_its_fields_and_extra_members() -> None:
    assert await problem(RunActive("one at a time", extra={"activeRunId": "r1", "status": "never"})) == {
        "type": "/api/docs#run_active",
        "title": "A run is active",
        "status": 409,
        "detail": "one at a time",
        "code": "run_active",
        "activeRunId": "r1",
    }
    assert (await problem(InvalidRequest("no", errors=(FieldError("/a", "b"),))))["errors"] == [
        {"pointer": "/a", "message": "b"}
    ]


@pytest.mark.parametrize("error", [StoreUnavailable("away"), TooManyRequests("slowly")])
async def test_what_passes_says_when_to_come_again(error: AguiError) -> None:
    response = await ask(app_that_raises(error))
    assert (response.status_code, response.headers["retry-after"]) == (error.status, "1")


@pytest.mark.parametrize(
    "error", [OperationalError(SECRET, {}, Exception(SECRET)), PoolTimeout(SECRET), OSError(28, "full", SECRET)]
)
async def test_a_store_that_fails_is_unavailable_and_its_words_stay_inside(error: Exception) -> None:
    assert await problem(error) == {
        "type": "/api/docs#store_unavailable",
        "title": "Store unavailable",
        "status": 503,
        "detail": "the store does not answer at the moment; try again",
        "code": "store_unavailable",
    }


async def test_what_nobody_foresaw_is_logged_and_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert await problem(RuntimeError(SECRET)) == {
            "type": "/api/docs#internal",
            "title": "Internal error",
            "status": 500,
            "detail": "an unexpected error; the server's log has it",
            "code": "internal",
        }
    assert SECRET in caplog.text


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(HTTPException(400, "odd"), 422, "invalid_request"), (HTTPException(502), 500, "internal")],
)
async def test_a_framework_exception_becomes_the_nearest_of_ours(error: Exception, status: int, code: str) -> None:
    content = await problem(error)
    assert (content["status"], content["code"]) == (status, code)


async def test_an_unknown_path_and_a_wrong_method_are_problems() -> None:
    app = app_that_raises(NotFound("x"))
    missing, wrong = await ask(app, "/api/none"), await ask(app, method="PUT")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["code"], wrong.headers["allow"]) == (405, "method_not_allowed", "GET")


async def test_a_wrong_parameter_is_named() -> None:
    response = await ask(app_that_raises(NotFound("x")), "/api/thing?limit=0")
    assert response.json() == {
        "type": "/api/docs#invalid_request",
        "title": "Invalid request",
        "status": 422,
        "detail": "limit: Input should be greater than or equal to 1",
        "code": "invalid_request",
        "errors": [{"pointer": "limit", "message": "Input should be greater than or equal to 1"}],
    }


def broken_stream() -> FastAPI:
    async def start_and_fail(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("in the middle")

    app = FastAPI(openapi_url=None)
    install_problem_handlers(app)
    app.mount("/api/stream", start_and_fail)
    return app


async def test_an_error_in_the_middle_of_a_response_breaks_it_off() -> None:
    with pytest.raises(httpx.ReadError):
        await ask(broken_stream(), "/api/stream/")


async def test_a_client_that_leaves_while_it_sends_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    app = FastAPI(openapi_url=None)
    install_problem_handlers(app)

    @app.post("/api/thing")
    async def thing(request: Request) -> Response:
        return Response(await request.body())

    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    async def send(message: object) -> None:
        raise AssertionError(message)

    scope = {"type": "http", "method": "POST", "path": "/api/thing", "query_string": b"", "headers": []}
    await app(scope, receive, send)
    assert caplog.records == []


def test_the_documented_problems_of_a_route_include_those_of_every_route() -> None:
    assert list(responses(404, 503)) == [403, 404, 421, 500, 503]
