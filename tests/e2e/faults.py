"""What the browser tests do to the product: cut its wires, end its process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

from tests.e2e.server import STOP_WITHIN_S, Server, free_port, running


class Wire:
    """A TCP proxy before a server: it can be cut, and closed to new connections."""

    def __init__(self, target: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._target = int(target.rpartition(":")[2])
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.StreamWriter, bytes] = {}
        """Connection -> what its client sent last."""

    @property
    def streams(self) -> int:
        """How many connections carry a stream of events."""
        return sum(b"/events" in said or b"/changes" in said for said in self._open.values())

    async def open(self) -> None:
        """Take connections."""
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)

    def cut(self) -> None:
        """End every connection; new ones are taken."""
        for writer in list(self._open):
            writer.transport.abort()

    def close(self) -> None:
        """End every connection and refuse new ones."""
        if self._server:
            self._server.close()
            self._server = None
        self.cut()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        self._open[writer] = b""

        def note(data: bytes) -> None:
            self._open[writer] = data.partition(b"\r\n")[0]

        try:
            both = (_pump(reader, there_writer, note), _pump(there_reader, writer, lambda _: None))
            await asyncio.wait([asyncio.ensure_future(way) for way in both], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._open.pop(writer, None)
            writer.transport.abort()
            there_writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, note: Callable[[bytes], None]) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            note(data)
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def wire_to(server: Server) -> AsyncIterator[Wire]:
    """An open wire to the server."""
    wire = Wire(server.url)
    await wire.open()
    try:
        yield wire
    finally:
        wire.close()


class Restartable:
    """A server that can be ended and started again, in the same folder and on the same port."""

    def __init__(self, stack: ExitStack, folder: Path, **env: str) -> None:
        self._stack, self._folder, self._port, self._env = stack, folder, free_port(), env
        self.server = self._start()

    def _start(self) -> Server:
        (self._folder / "server.log").unlink(missing_ok=True)
        return self._stack.enter_context(running(self._folder, port=self._port, **self._env))

    def end(self, how: signal.Signals) -> None:
        """End the process."""
        self.server.process.send_signal(how)
        self.server.process.wait(STOP_WITHIN_S)

    async def start(self) -> None:
        """Start it again."""
        self.server = await asyncio.to_thread(self._start)
