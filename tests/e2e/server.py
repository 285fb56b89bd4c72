"""Starts the real product as a person would, in a data folder and on a port of its own."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agui_app.settings import ENV_PREFIX

PROJECT = Path(__file__).parents[2]
START_WITHIN_S = 300  # the first start builds the page, on a slow machine too
STOP_WITHIN_S = 10


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    url: str
    data_dir: Path
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def api(self) -> str:
        """The root of the agent's API."""
        return f"{self.url}/api/v1/agent"

    def printed(self) -> str:
        """Everything that it wrote so far."""
        return self.log.read_text(errors="replace")


def free_port() -> int:
    """A port that nothing uses, below those that systems hand out to outgoing connections (a browser makes many)."""
    while True:
        port = random.randint(20_000, 30_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def spawn(data_dir: Path, port: int, log: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Starts the process and does not wait; `env` comes over the settings, `AGUI_AGENT` for one."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}
    given = {"AGUI_DATA_DIR": str(data_dir), "AGUI_PORT": str(port)} | env
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "agui_app.serve"],
            cwd=PROJECT,
            env=inherited | given,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


@contextmanager
def running(folder: Path, *, port: int | None = None, **env: str) -> Iterator[Server]:
    """A server with its data in `folder`, ready to answer; ended, and seen to end, at the end of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    log = folder / "server.log"
    server = Server(f"http://127.0.0.1:{port}", folder / "data", log, spawn(folder / "data", port, log, env))
    try:
        _wait_until_ready(server)
        yield server
    finally:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
        try:
            server.process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


def _wait_until_ready(server: Server) -> None:
    deadline = time.monotonic() + START_WITHIN_S
    while f"agui-app is ready on {server.url}" not in server.printed():
        assert server.process.poll() is None, f"the server ended by itself:\n{server.printed()}"
        assert time.monotonic() < deadline, f"the server was not ready in time:\n{server.printed()}"
        time.sleep(0.05)
