"""The API as one FastAPI application."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from agui_app.api import changes, docs, health, history, runs, threads, tools
from agui_app.api.open_streams import OpenStreams
from agui_app.api.problems import install_problem_handlers
from agui_app.services import Services
from agui_app.settings import Settings


def create_api(get_services: Callable[[], Services], settings: Settings) -> FastAPI:
    """The API over the services that `get_services` gives at each request.

    It has no lifespan of its own: whoever opens the services closes them. Other routes may be mounted behind it;
    paths under /api never reach them.
    """
    api = FastAPI(
        title="agui-app",
        version=docs.API_VERSION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api.state.get_services = get_services
    api.state.settings = settings
    api.state.open_streams = OpenStreams(settings.max_open_streams)
    install_problem_handlers(api)
    for resource in (runs, history, threads, changes, tools, health, docs):
        api.include_router(resource.router)
    docs.install(api)
    unmatched = Unmatched(list(api.routes))
    api.router.routes += [Route("/api", unmatched), Route("/api/{rest:path}", unmatched)]
    return api


METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


class Unmatched:
    """What answers under /api when no route does: 405 when the path is one of ours, else 404."""

    def __init__(self, routes: list[BaseRoute]) -> None:
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = [method for method in METHODS if self._takes({**scope, "method": method})]
        if taken:
            raise HTTPException(405, headers={"Allow": ", ".join(taken)})
        raise HTTPException(404)

    def _takes(self, scope: Scope) -> bool:
        return any(route.matches(scope)[0] is Match.FULL for route in self._routes)
