"""What each tab follows: at most one thread and one stream of changes, both ended when the tab leaves or closes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio

CHANGES = "/changes"
"""What a tab follows beside its thread; no thread has this id."""

_scopes: dict[tuple[str, bool], tuple[str, anyio.CancelScope]] = {}


def _always_open(tab: str) -> bool:
    return True


_is_open: Callable[[str], bool] = _always_open


def use_presence(is_open: Callable[[str], bool]) -> None:
    """Say how to find out whether a tab still has its socket; called once, by the composition root."""
    global _is_open  # noqa: PLW0603 -- states are made by Reflex, so nothing can be handed to them
    _is_open = is_open


@contextmanager
def following(tab: str, what: str) -> Generator[anyio.CancelScope]:
    """Run the body as the one follower of `tab`; the one before it is stopped, and `stop` ends this one.

    `what` is a thread or `CHANGES`, each of which a tab may follow one of. A tab that has closed in the meantime
    follows nothing. Gives the scope of the body: after a stop its `cancelled_caught` is true.
    """
    key = (tab, what == CHANGES)
    _end(key)
    with anyio.CancelScope() as scope:
        _scopes[key] = (what, scope)
        if not _is_open(tab):
            scope.cancel()
        try:
            yield scope
        finally:
            if _scopes.get(key) == (what, scope):
                del _scopes[key]


def followed(tab: str) -> str | None:
    """The thread that `tab` follows."""
    found = _scopes.get((tab, False))
    return found[0] if found else None


def follows_changes(tab: str) -> bool:
    """Whether `tab` follows the changes."""
    return (tab, True) in _scopes


def stop(tab: str) -> None:
    """End the follower of the thread of `tab`, if there is one."""
    _end((tab, False))


def leave(tab: str) -> None:
    """End everything that `tab` follows; it has closed."""
    _end((tab, False))
    _end((tab, True))


def _end(key: tuple[str, bool]) -> None:
    found = _scopes.pop(key, None)
    if found:
        found[1].cancel()


def count() -> int:
    """How many followers there are, of threads and of changes."""
    return len(_scopes)


def stop_all() -> None:
    """End every follower; the program is stopping."""
    for key in list(_scopes):
        _end(key)
