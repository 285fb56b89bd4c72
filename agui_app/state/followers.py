"""Which tab follows which thread: at most one follower a tab, stopped when the tab leaves or closes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio

_scopes: dict[str, tuple[str, anyio.CancelScope]] = {}


@contextmanager
def following(tab: str, thread_id: str) -> Generator[anyio.CancelScope]:
    """Run the body as the one follower of `tab`; the one before it is stopped, and `stop` ends this one.

    Gives the scope of the body: after a stop its `cancelled_caught` is true.
    """
    stop(tab)
    with anyio.CancelScope() as scope:
        _scopes[tab] = (thread_id, scope)
        try:
            yield scope
        finally:
            if _scopes.get(tab) == (thread_id, scope):
                del _scopes[tab]


def followed(tab: str) -> str | None:
    """The thread that `tab` follows."""
    found = _scopes.get(tab)
    return found[0] if found else None


def stop(tab: str) -> None:
    """End the follower of `tab`, if there is one."""
    found = _scopes.pop(tab, None)
    if found:
        found[1].cancel()


def count() -> int:
    """How many tabs follow a thread."""
    return len(_scopes)


def stop_all() -> None:
    """End every follower; the program is stopping."""
    for tab in list(_scopes):
        stop(tab)
