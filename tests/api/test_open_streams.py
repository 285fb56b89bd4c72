"""A caller's open streams are counted, and each gives its place back however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message

from agui_app.api.app import create_api
from agui_app.api.open_streams import OpenStreams
from agui_app.api.stream import EventStream
from agui_app.client import AsgiTransport
from agui_app.errors import StoreUnavailable, TooManyRequests
from agui_app.services import Services
from tests.api.conftest import BASE_URL
from tests.api.test_runs import RUNS, finished, run

EVENTS = f"{RUNS}/t1/events"


@pytest.fixture
def api(services: Services) -> FastAPI:
    return create_api(lambda: services, services.settings.model_copy(update={"max_open_streams": 2}))


@pytest.fixture
async def http(api: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=AsgiTransport(api), base_url=BASE_URL) as client:
        await finished(client, run())
        yield client


async def test_one_stream_more_than_the_limit_is_429_with_retry_after_and_a_free_place_is_given_again(
    http: httpx.AsyncClient, api: FastAPI
) -> None:
    async with AsyncExitStack() as held:
        streams = [await held.enter_async_context(http.stream("GET", EVENTS)) for _ in range(2)]
        assert [stream.status_code for stream in streams] == [200, 200]
        refused = await http.get(EVENTS)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json() == {
            "type": "/api/docs#too_many_requests",
            "title": "Too many requests",
            "status": 429,
            "detail": "2 streams are open; close one, or raise AGUI_MAX_OPEN_STREAMS, and come again",
            "code": "too_many_requests",
        }
        await streams[0].aclose()
        async with http.stream("GET", EVENTS) as again:
            assert again.status_code == 200
    assert len(api.state.open_streams) == 0


async def test_a_stream_that_ends_by_itself_gives_its_place_back(http: httpx.AsyncClient, api: FastAPI) -> None:
    for _ in range(5):
        assert (await http.get(f"{EVENTS}?runId=r1")).status_code == 200
        assert (await http.get(f"{RUNS}/none/events")).status_code == 404
    assert len(api.state.open_streams) == 0


async def endless() -> AsyncGenerator[bytes, None]:
    yield b"a"
    await asyncio.Event().wait()


async def failing() -> AsyncGenerator[bytes, None]:
    yield b"a"
    raise StoreUnavailable("away")


async def broken() -> AsyncGenerator[bytes, None]:
    yield b"a"
    raise LookupError


async def serve(places: OpenStreams, chunks: AsyncGenerator[bytes, None], *, sends: int, leaves: bool = False) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        if not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        assert len(places) == 1
        sent.append(message)
        if len(sent) > sends:
            raise OSError("gone")

    async with aclosing(chunks):
        await EventStream(chunks, places.place("local"))({"type": "http"}, receive, send)


async def test_the_place_is_free_after_a_client_left_a_send_failed_the_store_went_or_the_program_broke() -> None:
    places = OpenStreams(1)
    await serve(places, endless(), sends=9, leaves=True)
    await serve(places, endless(), sends=0)
    await serve(places, endless(), sends=1)
    await serve(places, failing(), sends=9)
    with pytest.raises(LookupError):
        await serve(places, broken(), sends=9)
    assert len(places) == 0


async def test_the_place_is_free_after_the_server_cancelled_the_stream() -> None:
    places = OpenStreams(1)
    serving = asyncio.create_task(serve(places, endless(), sends=9))
    while not len(places):
        await asyncio.sleep(0)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert len(places) == 0


def test_each_owner_has_places_of_its_own() -> None:
    places = OpenStreams(1)
    with places.place("a"), places.place("b"):
        assert len(places) == 2
        with pytest.raises(TooManyRequests), places.place("a"):
            pass
    assert len(places) == 0
