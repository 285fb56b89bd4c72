"""Streams through a network that cuts, delays, falls silent and answers for the server: each event comes once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from agui_app.client import AguiClient, ServerEvent
from tests.e2e.server import Server
from tests.faults import proxy as network
from tests.faults.conftest import Report
from tests.faults.proxy import Fault, proxy
from tests.faults.scale import choose, rng
from tests.faults.truth import API, WITHIN_S, Obj, Shown, run_log

SILENCE_S = 0.3  # the client's patience in these tests
PIECES = choose(short=10, soak=40)  # of text in the recorded run

Told = list[tuple[str, Obj]]


@pytest.fixture
async def http(fault_server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=fault_server.url, timeout=WITHIN_S) as client:
        yield client


async def start(http: httpx.AsyncClient, text: str) -> tuple[str, str]:
    """Thread and run of a new run that does what `text` says."""
    body = {"messages": [{"role": "user", "content": text}]}
    started = (await http.post(f"{API}/runs", json=body)).raise_for_status().json()
    return started["threadId"], started["runId"]


async def recorded(http: httpx.AsyncClient) -> tuple[str, str, list[Shown]]:
    """A run that is over, with every kind of event, and its log."""
    thread, run = await start(http, f"whole {PIECES}")
    return thread, run, await run_log(http, thread, run)


async def received(port: int, faults: Iterator[Fault], thread: str, run: str) -> tuple[Told, int]:
    """What our client makes of the run behind such a network, and the number of connections that it took."""
    return await _received(port, faults, thread, run, silence_s=WITHIN_S)


async def _received(port: int, faults: Iterator[Fault], thread: str, run: str, *, silence_s: float) -> tuple[Told, int]:
    async def at_once(_: float) -> None:
        await asyncio.sleep(0)

    async with proxy(port, faults) as standing, asyncio.timeout(10 * WITHIN_S):
        async with AguiClient(standing.url, silence_s=silence_s, sleep=at_once) as client:
            events: list[ServerEvent] = [event async for event in client.follow(thread, run_id=run)]
        assert client.skipped == 0
        return [(event.id, event.event) for event in events], standing.connections


def port_of(server: Server) -> int:
    return int(server.url.rpartition(":")[2])


def as_told(log: list[Shown]) -> Told:
    return [(frame.id, frame.event) for frame in log]


async def test_a_recorded_run_cut_after_every_event_is_whole(
    fault_server: Server, http: httpx.AsyncClient, report: Report
) -> None:
    thread, run, log = await recorded(http)
    faults = network.always(network.CutAfterEvents)

    events, connections = await received(port_of(fault_server), faults, thread, run)

    assert events == as_told(log)
    assert connections == len(log) + 1  # the last one is told that nothing comes
    report(f"cut after every event: {len(log)} events of a recorded run over {connections} connections, each once")


async def test_a_run_cut_after_every_event_while_it_streams_is_whole(
    fault_server: Server, http: httpx.AsyncClient
) -> None:
    thread, run = await start(http, f"talk {10 * PIECES}")
    faults = network.always(network.CutAfterEvents)

    events, connections = await received(port_of(fault_server), faults, thread, run)

    log = await run_log(http, thread, run)
    assert events == as_told(log)
    assert connections == len(log) + 1


async def test_a_recorded_run_cut_after_any_number_of_bytes_is_whole(
    fault_server: Server, http: httpx.AsyncClient, report: Report
) -> None:
    thread, run, log = await recorded(http)
    size = sum(len(f"id: {frame.id}\ndata: {frame.data}\n\n".encode()) for frame in log)
    places = range(0, size + 40, choose(short=197, soak=5))  # the stream has a comment and chunk marks besides

    for place in places:
        faults = network.first(network.CutAfterBytes(place))
        events, _ = await received(port_of(fault_server), faults, thread, run)
        assert events == as_told(log), f"cut after {place} bytes"
    report(f"cut once, after every {places.step} bytes: {len(places)} cuts of a run of {size} bytes, each event once")


async def test_a_recorded_run_cut_again_and_again_wherever_it_is_is_whole(
    fault_server: Server, http: httpx.AsyncClient, report: Report
) -> None:
    thread, run, log = await recorded(http)
    random_ = rng("bytes")
    longest = max(len(frame.data.encode()) for frame in log) + 100  # so that it gets on, cut by cut
    for _ in range(choose(short=3, soak=200)):
        faults = network.always(lambda: network.CutAfterBytes(random_.randint(0, 2 * longest)))
        events, _ = await received(port_of(fault_server), faults, thread, run)
        assert events == as_told(log)


async def test_a_stream_that_comes_byte_by_byte_is_whole(fault_server: Server, http: httpx.AsyncClient) -> None:
    thread, run, log = await recorded(http)

    events, connections = await received(
        port_of(fault_server), network.first(network.Whole(byte_by_byte=True)), thread, run
    )

    assert (events, connections) == (as_told(log), 1)


async def test_a_stream_that_comes_late_is_whole(fault_server: Server, http: httpx.AsyncClient) -> None:
    thread, run = await start(http, f"mixed {PIECES}")

    events, connections = await received(port_of(fault_server), network.first(network.Whole(delay_s=0.1)), thread, run)

    assert (events, connections) == (as_told(await run_log(http, thread, run)), 1)


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param([network.SilentAfterEvents(3), network.SilentAfterEvents(4)], id="half-open"),
        pytest.param([network.NeverAnswers(), network.NeverAnswers()], id="no answer"),
    ],
)
async def test_a_connection_that_falls_silent_is_given_up_and_resumed(
    fault_server: Server, http: httpx.AsyncClient, faults: list[Fault]
) -> None:
    thread, run, log = await recorded(http)

    events, connections = await _received(
        port_of(fault_server), network.first(*faults), thread, run, silence_s=SILENCE_S
    )

    assert (events, connections) == (as_told(log), len(faults) + 1)


@pytest.mark.parametrize("answer", [network.BAD_GATEWAY, network.SIGN_IN], ids=["502 with HTML", "200 with HTML"])
async def test_an_answer_that_is_not_the_servers_is_waited_out(
    fault_server: Server, http: httpx.AsyncClient, answer: bytes
) -> None:
    thread, run, log = await recorded(http)
    faults = network.first(network.CutAfterEvents(5), *(network.Answers(answer) for _ in range(5)))

    events, connections = await received(port_of(fault_server), faults, thread, run)

    assert (events, connections) == (as_told(log), 7)
