"""The description of the API: OpenAPI, and a page of our own that shows it without a script or another server."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from starlette.responses import HTMLResponse, JSONResponse, Response

from agui_app.api.problems import DOCS_PATH, Problem
from agui_app.api.run_input import CancelInput, RunInput
from agui_app.api.schemas import ChangeEvent
from agui_app.api.thread_input import RenameInput
from agui_app.errors import ERROR_CODES

API_VERSION = "1"
OPENAPI_PATH = "/api/openapi.json"
DESCRIPTION = """\
Every error is `application/problem+json` with a stable `code`. A method that a path does not take is 405 with `Allow`;
a path under /api that there is not is 404. A host name that is not this server's is 421, another page's origin 403, on
every path. A body that is too long is 413, as nobody has read it; a field that is too large, or wrong in any other way,
is 422 with its JSON pointer, and nothing is stored. 429 and 503 say in `Retry-After` when to come again."""
_BODIES: tuple[type[BaseModel], ...] = (Problem, RunInput, CancelInput, RenameInput, ChangeEvent)
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "code{font-family:ui-monospace,monospace}td,th{text-align:left;padding:.2rem 1rem .2rem 0;vertical-align:top}"
)

router = APIRouter(include_in_schema=False)


@router.get(OPENAPI_PATH)
async def openapi(request: Request) -> Response:
    """The OpenAPI document."""
    return JSONResponse(request.app.openapi())


@router.get(DOCS_PATH)
async def page(request: Request) -> Response:
    """The same for people."""
    return HTMLResponse(_page(request.app.openapi()))


def install(api: FastAPI) -> None:
    """Give `api` its OpenAPI document, made once."""

    def document() -> dict[str, Any]:
        if api.openapi_schema is None:
            api.openapi_schema = _document(api)
        return api.openapi_schema

    api.openapi = document


def _document(api: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=api.title, version=api.version, description=DESCRIPTION, routes=api.routes)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for model in _BODIES:
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs", {}))
        schemas[model.__name__] = schema
    return document


def _page(document: dict[str, Any]) -> str:
    operations = "".join(
        _operation(method.upper(), path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    )
    codes = "".join(
        f'<tr id="{escape(code)}"><td><code>{escape(code)}</code><td>{escape(title)}'
        for code, title in sorted(ERROR_CODES.items())
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>agui-app API</title><style>{_STYLE}</style>'
        f"<h1>agui-app API</h1><p>{_prose(DESCRIPTION)}</p>"
        f'<p>As OpenAPI: <a href="{OPENAPI_PATH}">{OPENAPI_PATH}</a></p>{operations}'
        f"<h2>Error codes</h2><table>{codes}</table></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    parameters = "".join(
        f"<tr><td><code>{escape(parameter['name'])}</code><td>{parameter['in']}"
        f"<td>{_prose(parameter.get('description', ''))}"
        for parameter in operation.get("parameters", ())
    )
    answers = " ".join(f"<code>{status}</code>" for status in operation["responses"])
    return (
        f"<h2><code>{method} {escape(path)}</code></h2><p>{_prose(operation.get('description', ''))}</p>"
        f"<table>{parameters}</table><p>Answers: {answers}</p>"
    )


def _prose(text: str) -> str:
    """Text as HTML; what stands in backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
