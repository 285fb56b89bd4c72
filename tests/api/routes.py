"""Every route of an application, however deep it is mounted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Mount

ANY_METHOD = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")


def walk(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """`(method, path)` of every route; method `WEBSOCKET` for sockets; parameters filled in."""
    for context in iter_route_contexts(list(routes)):
        route, path = context.original_route, prefix + re.sub(r"{[^}]+}", "x", context.path or "")
        if isinstance(route, Mount):
            yield from walk(route.routes, path)
            yield from ((method, f"{path}/x") for method in (*ANY_METHOD, "WEBSOCKET"))
        elif hasattr(route, "methods"):
            methods: Any = route.methods
            yield from ((method, path) for method in sorted(methods or ANY_METHOD))
        else:
            yield "WEBSOCKET", path
