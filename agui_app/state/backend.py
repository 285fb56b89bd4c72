"""Where the states find the API: one client for the process, given by the composition root."""

from __future__ import annotations

from agui_app.client import AguiClient

_client: AguiClient | None = None


def use_client(client: AguiClient) -> None:
    """Give the page its client; called once, before the first page is served."""
    global _client  # noqa: PLW0603 -- states are made by Reflex, so nothing can be handed to them
    _client = client


def client() -> AguiClient:
    """The page's client of the public API.

    Raises: RuntimeError: before `use_client`.
    """
    if _client is None:
        raise RuntimeError("the page has no client: call use_client() in the composition root")
    return _client
