"""How many event streams a caller holds open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from agui_app.errors import TooManyRequests


class OpenStreams:
    """Counts the open streams of each owner, of every route together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: Counter[str] = Counter()

    @contextmanager
    def place(self, owner_id: str) -> Generator[None, None, None]:
        """A place for one stream, taken on entering and free again however the block ends.

        Raises: TooManyRequests, on entering.
        """
        if self._open[owner_id] >= self._limit:
            raise TooManyRequests(
                f"{self._limit} streams are open; close one, or raise AGUI_MAX_OPEN_STREAMS, and come again"
            )
        self._open[owner_id] += 1
        try:
            yield
        finally:
            self._open[owner_id] -= 1
            if not self._open[owner_id]:
                del self._open[owner_id]

    def __len__(self) -> int:
        """The open streams of all owners."""
        return self._open.total()
