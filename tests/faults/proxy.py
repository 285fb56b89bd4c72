"""A TCP proxy that does to streams what networks do: cuts, delays, falls silent, answers for the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

HEAD_END = b"\r\n\r\n"
READ_BYTES = 65_536
LEAVE_WITHIN_S = 10
BAD_GATEWAY = (
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 26\r\nConnection: close\r\n\r\n"
    b"<html>502, try later</html"
)
SIGN_IN = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 26\r\nConnection: close\r\n\r\n"
    b"<html>please sign in</html"
)


class Fault(Protocol):
    """What happens to the answer on one connection."""

    async def carry(self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Bytes from the server to the client. The connection is cut when this returns."""
        ...


@dataclass
class Whole:
    """Everything passes; `byte_by_byte`: in pieces of one byte; `delay_s` before each piece."""

    byte_by_byte: bool = False
    delay_s: float = 0.0

    async def carry(self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        while chunk := await upstream.read(READ_BYTES):
            for piece in [chunk[at : at + 1] for at in range(len(chunk))] if self.byte_by_byte else [chunk]:
                client.write(piece)
                await client.drain()
                await asyncio.sleep(self.delay_s)


@dataclass
class CutAfterEvents:
    """The answer ends after so many events, comments not counted."""

    count: int = 1

    async def carry(self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        client.write(await upstream.readuntil(HEAD_END))
        left = self.count
        while left:
            line = await upstream.readline()
            client.write(line)
            if line.startswith(b"data:"):
                client.write(await upstream.readexactly(1))  # the empty line that ends the event
                left -= 1
            if not line:
                break
        await client.drain()


@dataclass
class CutAfterBytes:
    """The answer ends after so many bytes, those of its head not counted, wherever that is."""

    count: int

    async def carry(self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        client.write(await upstream.readuntil(HEAD_END))
        left = self.count
        while left and (chunk := await upstream.read(left)):
            client.write(chunk)
            left -= len(chunk)
        await client.drain()


@dataclass
class SilentAfterEvents(CutAfterEvents):
    """After so many events nothing comes any more, not even an end: a half-open connection."""

    async def carry(self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        await super().carry(upstream, client)
        await asyncio.Event().wait()  # until the client gives up


@dataclass
class NeverAnswers:
    """The connection is taken, and that is all."""

    async def carry(self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()  # until the client gives up


@dataclass
class Answers:
    """Somebody else answers."""

    answer: bytes

    async def carry(self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        client.write(self.answer)
        await client.drain()


@dataclass
class Proxy:
    """Stands before a server; each connection meets the next fault."""

    upstream_port: int
    faults: Iterator[Fault]
    port: int = 0
    connections: int = 0
    broken: list[BaseException] = field(default_factory=list)
    """What went wrong in the proxy itself."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def connected(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self.connections += 1
        fault = next(self.faults)
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        asking = asyncio.create_task(_relay(from_client, to_server))
        carrying = asyncio.create_task(fault.carry(from_server, to_client))
        try:
            await asyncio.wait((asking, carrying), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asking, carrying):
                task.cancel()
            ends = await asyncio.gather(asking, carrying, return_exceptions=True)
            self.broken += [end for end in ends if isinstance(end, Exception) and not isinstance(end, OSError)]
            to_client.close()
            to_server.close()
            for writer in (to_client, to_server):
                with suppress(OSError):
                    await writer.wait_closed()


async def _relay(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Back when the client has gone."""
    with suppress(ConnectionError):
        while chunk := await source.read(READ_BYTES):
            sink.write(chunk)
            await sink.drain()


@asynccontextmanager
async def proxy(upstream_port: int, faults: Iterator[Fault]) -> AsyncIterator[Proxy]:
    """A proxy before the server of that port. At the end of the block the client must have closed its connections."""
    standing = Proxy(upstream_port, faults)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(standing.connected(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    standing.port = server.sockets[0].getsockname()[1]
    async with server:
        yield standing
        _, left = await asyncio.wait(tasks, timeout=LEAVE_WITHIN_S)
    assert (standing.broken, [task.exception() for task in tasks if task.done()]) == ([], [None] * len(tasks))
    assert left == set(), "the client left a connection open"


def always(make: Callable[[], Fault]) -> Iterator[Fault]:
    """The same fault for every connection."""
    while True:
        yield make()


def first(*faults: Fault) -> Iterator[Fault]:
    """These, one a connection, and then everything passes."""
    yield from faults
    yield from always(Whole)
