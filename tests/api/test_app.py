from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from agui_app.api.app import create_api
from agui_app.client import AsgiTransport
from agui_app.errors import ERROR_CODES
from agui_app.settings import Settings
from tests.api.routes import walk

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


async def page(_request: Any) -> PlainTextResponse:
    return PlainTextResponse("the page")


@pytest.fixture
async def bare(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The API before its services are open, with a page mounted behind it."""

    def closed() -> Any:
        raise LookupError

    api = create_api(closed, settings)
    api.mount("", Starlette(routes=[Route("/", page), Route("/ping", page), Route("/t/{id}", page)]))
    async with httpx.AsyncClient(transport=AsgiTransport(api), base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1", "/api/v1/agent/none", "/api/v1/agent/runs/t/none"])
async def test_an_unknown_path_under_api_is_a_problem_and_never_the_page(
    bare: httpx.AsyncClient, method: str, path: str
) -> None:
    response = await bare.request(method, path)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {
        "type": "/api/docs#not_found",
        "title": "Not found",
        "status": 404,
        "detail": "there is nothing at this path",
        "code": "not_found",
    }


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/api/v1/agent/runs", "POST"),
        ("DELETE", "/api/v1/agent/history", "GET"),
        ("PUT", "/api/v1/agent/runs/t/cancel", "POST"),
        ("PATCH", "/api/openapi.json", "GET"),
        ("GET", "/api/v1/agent/threads/t", "DELETE, PATCH"),
    ],
)
async def test_a_method_that_a_path_does_not_take_is_a_problem(
    bare: httpx.AsyncClient, method: str, path: str, allow: str
) -> None:
    response = await bare.request(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, allow)
    assert response.json()["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["/", "/ping", "/t/1", "/apis"])
async def test_other_paths_belong_to_the_page(bare: httpx.AsyncClient, path: str) -> None:
    response = await bare.get(path)
    assert response.text == ("Not Found" if path == "/apis" else "the page")


async def test_a_route_whose_services_are_not_open_is_unavailable(bare: httpx.AsyncClient) -> None:
    response = await bare.get("/api/v1/agent/tools")
    assert (response.status_code, response.json()["code"]) == (503, "store_unavailable")
    assert (await bare.get("/healthz")).json() == {"status": "ok"}


async def test_the_documentation_names_every_route_and_every_code(bare: httpx.AsyncClient, settings: Settings) -> None:
    document = (await bare.get("/api/openapi.json")).json()
    documented = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    routes = set(walk(create_api(lambda: None, settings).routes))  # type: ignore[arg-type,return-value]
    served = {(method, path) for method, path in routes if not path.startswith("/api/x") and path != "/api"}
    undocumented = {("GET", "/api/openapi.json"), ("GET", "/api/docs")}
    assert {(method, re.sub(r"{\w+}", "x", path)) for method, path in documented} == served - undocumented

    shown = (await bare.get("/api/docs")).text
    assert all(f"<code>{method} {path}</code>" in shown for method, path in documented)
    assert all(f'id="{code}"' in shown for code in ERROR_CODES)
    assert "http://" not in shown
    assert "https://" not in shown


async def test_what_stands_in_backticks_is_code_on_the_page(bare: httpx.AsyncClient) -> None:
    page = (await bare.get("/api/docs")).text

    assert "`" not in page
    assert "The same <code>runId</code> with the same body is the same run again." in page


async def test_every_reference_of_the_documentation_leads_somewhere(bare: httpx.AsyncClient) -> None:
    text = (await bare.get("/api/openapi.json")).text
    document = (await bare.get("/api/openapi.json")).json()
    names = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert names
    assert names <= set(document["components"]["schemas"])
    assert "$defs" not in text
    assert "HTTPValidationError" not in text


async def test_every_operation_documents_the_problems_that_it_can_answer_with(bare: httpx.AsyncClient) -> None:
    document = (await bare.get("/api/openapi.json")).json()
    statuses = {
        f"{method.upper()} {path}": sorted(int(status) for status in operation["responses"])
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }
    assert statuses == {
        "POST /api/v1/agent/runs": [202, 400, 403, 409, 413, 415, 421, 422, 500, 503],
        "GET /api/v1/agent/runs/{threadId}/events": [200, 204, 403, 404, 421, 422, 429, 500, 503],
        "POST /api/v1/agent/runs/{threadId}/cancel": [202, 400, 403, 404, 413, 415, 421, 422, 500, 503],
        "GET /api/v1/agent/runs/{threadId}/history": [200, 403, 404, 421, 422, 500, 503],
        "GET /api/v1/agent/history": [200, 403, 404, 421, 422, 500, 503],
        "GET /api/v1/agent/threads": [200, 403, 421, 422, 500, 503],
        "PATCH /api/v1/agent/threads/{threadId}": [200, 400, 403, 404, 413, 415, 421, 422, 500, 503],
        "DELETE /api/v1/agent/threads/{threadId}": [204, 403, 404, 421, 422, 500, 503],
        "GET /api/v1/agent/changes": [200, 403, 421, 422, 429, 500, 503],
        "GET /api/v1/agent/tools": [200, 403, 421, 500, 503],
        "GET /healthz": [200, 403, 421, 500, 503],
        "GET /readyz": [200, 403, 421, 500, 503],
    }
