"""`python -m agui_app.serve`: builds the page where it must, then serves page and API on one port, in one process.

Exit codes: 0 after SIGTERM or Ctrl-C, 2 for a setting that cannot be used (one line on stderr says which and why),
1 for everything else that stops a start.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agui_app import build
from agui_app.errors import AguiError, SettingsError
from agui_app.settings import Settings, load_settings

PID_FILE = "agui.pid"
LOCK_FILE = "agui.lock"

STOP_WITHIN_S = 8  # a container's or a service manager's patience is 10 s; then it kills
LAST_WORDS_WITHIN_S = 1  # for readers to take the last events; one that does not is cut off
READY_POLL_S = 0.05
RUNTIME_THREADS = 1  # granian's own, for bytes on sockets; Python runs in one thread all the same
BACKPRESSURE = 10_000  # requests at once; every open stream and socket is one, so it bounds how many readers may follow


def main() -> int:
    """Serves until it is told to stop; gives back the exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        settings = load_settings()
        address = resolve(settings)
        check_port_is_free(settings, address)
        with owned_data_dir(settings.data_dir):
            build.ensure_built(say)
            check_port_is_free(settings, address)
            build.prepare_to_serve()
            asyncio.run(serve(settings, address))
    except KeyboardInterrupt:
        return 0
    except AguiError as error:
        print(f"agui-app: {error.detail}", file=sys.stderr, flush=True)
        return 2 if isinstance(error, SettingsError) else 1
    return 0


def say(line: str) -> None:
    """Tells the person who started the server."""
    print(f"agui-app: {line}", flush=True)


# --- What must be true before it starts -------------------------------------------------------------------------------


def resolve(settings: Settings) -> str:
    """The address of AGUI_HOST as numbers.

    Raises: SettingsError
    """
    try:
        found = socket.getaddrinfo(settings.host.strip("[]"), settings.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise SettingsError(f"AGUI_HOST={settings.host!r} is no address of this machine: {error.strerror}") from error
    return str(sorted(found, key=lambda entry: entry[0] != socket.AF_INET)[0][4][0])


def check_port_is_free(settings: Settings, address: str) -> None:
    """Tries the port, since granian would share it with another server of its kind.

    Raises: SettingsError
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, settings.port))
        except OSError as error:
            raise SettingsError(
                f"AGUI_PORT={settings.port} on {settings.host} cannot be listened on: {error.strerror}; "
                "stop what uses it or choose another port"
            ) from error


@contextmanager
def owned_data_dir(folder: Path) -> Generator[None]:
    """Holds the data folder for this process alone, with its process id in `agui.pid`.

    Raises: SettingsError: the folder cannot be written, or another server has it.
    """
    lock = _open_lock(folder)
    pid_file = folder / PID_FILE
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SettingsError(
                f"AGUI_DATA_DIR={str(folder)!r} is in use by process {_read(pid_file) or 'unknown'}; "
                "stop it or choose another folder"
            ) from error
        pid_file.write_text(f"{os.getpid()}\n")
        try:
            yield
        finally:
            pid_file.unlink(missing_ok=True)


def _open_lock(folder: Path) -> IO[str]:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return (folder / LOCK_FILE).open("a")
    except OSError as error:
        raise SettingsError(
            f"AGUI_DATA_DIR={str(folder)!r} cannot be written: {error.strerror}; "
            "choose a folder that this user may write to"
        ) from error


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text().strip()
    return ""


# --- Serving ----------------------------------------------------------------------------------------------------------


async def serve(settings: Settings, address: str) -> None:
    """Opens the app, answers until SIGTERM or SIGINT, ends the runs and the open streams, and closes the app."""
    from asgi_lifespan import LifespanManager
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server.embed import Server

    from agui_app.agui_app import app

    async with LifespanManager(app(), startup_timeout=None, shutdown_timeout=STOP_WITHIN_S) as opened:
        streams = StreamsThatEnd(opened.app)
        server = Server(
            target=streams,
            address=address,
            port=settings.port,
            interface=Interfaces.ASGINL,  # the life cycle is LifespanManager's: a failed start is one clear error
            runtime_threads=RUNTIME_THREADS,
            backpressure=BACKPRESSURE,
            log_level=LogLevels.error,
        )
        with _told_to_stop(settings.data_dir / PID_FILE) as told:
            async with asyncio.TaskGroup() as tasks:
                announcing = tasks.create_task(_announce(address, settings))
                stopping = tasks.create_task(_stop_when_told(told, streams, server.stop))
                await server.serve()
                announcing.cancel()
                stopping.cancel()


async def _stop_when_told(told: asyncio.Event, streams: StreamsThatEnd, stop: Callable[[], None]) -> None:
    """Ends the runs, lets their readers have the end, and only then closes the connections."""
    from agui_app.agui_app import current_services

    await told.wait()
    services = current_services()
    try:
        await services.runs.shutdown()
        services.events.close()
        services.changes.close()
        await streams.requests_ended(LAST_WORDS_WITHIN_S)
        streams.end()
        await streams.sockets_ended(LAST_WORDS_WITHIN_S)
    finally:
        streams.end()
        stop()


@contextmanager
def _told_to_stop(pid_file: Path) -> Generator[asyncio.Event]:
    """Set at the first SIGTERM or SIGINT; the second ends the process hard, and so does a stop that hangs."""

    def end_hard() -> None:
        pid_file.unlink(missing_ok=True)
        os._exit(0)

    deadline = threading.Timer(STOP_WITHIN_S, end_hard)
    deadline.daemon = True

    def on_signal() -> None:
        if deadline.is_alive():
            end_hard()
        deadline.start()
        told.set()

    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    yield told


class StreamsThatEnd:
    """An ASGI app whose open responses and sockets see their reader leave when the server stops.

    Granian closes sockets by itself but waits for open responses, and a stream of events never ends.
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        self._ending = asyncio.Event()
        self._requests, self._sockets = _UnderWay(), _UnderWay()

    async def requests_ended(self, within_s: float) -> None:
        """Back when no request is under way, or when that takes too long."""
        await self._requests.ended(within_s)

    async def sockets_ended(self, within_s: float) -> None:
        """Back when no socket is open, or when that takes too long."""
        await self._sockets.ended(within_s)

    def end(self) -> None:
        """From now on every socket, and every request whose body has been read, is told that its reader left."""
        self._ending.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                with self._requests:
                    await self._app(scope, self._or_end(receive, {"type": "http.disconnect"}), send)
            case "websocket":
                going_away: Message = {"type": "websocket.disconnect", "code": 1001}
                with self._sockets:
                    await self._app(scope, self._or_end(receive, going_away), send)
            case _:
                await self._app(scope, receive, send)

    def _or_end(self, receive: Receive, end: Message) -> Receive:
        """`receive` that gives `end` when the server stops, but not while a request's body comes."""
        body_comes = end["type"] == "http.disconnect"

        async def receive_or_end() -> Message:
            nonlocal body_comes
            if not body_comes:
                return await self._first(receive, end)
            message = await receive()
            body_comes = message.get("more_body", False)
            return message

        return receive_or_end

    async def _first(self, receive: Receive, end: Message) -> Message:
        coming = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait((coming, ending), return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else end
        finally:
            coming.cancel()
            ending.cancel()


class _UnderWay:
    """How many calls are under way: each is a `with` block."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    def __enter__(self) -> None:
        self._count += 1
        self._none.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if not self._count:
            self._none.set()

    async def ended(self, within_s: float) -> None:
        """Back when there are none, or time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._none.wait()


async def _announce(address: str, settings: Settings) -> None:
    """Prints the one line that people and scripts wait for, once the server answers."""
    while not await _answers(address, settings.port):  # noqa: ASYNC110 - nothing tells that granian listens
        await asyncio.sleep(READY_POLL_S)
    host = f"[{address}]" if ":" in address else address
    print(f"agui-app is ready on http://{host}:{settings.port}", flush=True)


async def _answers(address: str, port: int) -> bool:
    """Whether the server, asked as from this machine, answers a request."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    try:
        reader, writer = await asyncio.open_connection(reachable, port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        status_line = await reader.readline()
        writer.close()
    except OSError:
        return False
    return status_line.startswith(b"HTTP/1.1 ")


if __name__ == "__main__":
    sys.exit(main())
