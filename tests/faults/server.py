"""Servers that are killed and started again over the same data, and what one holds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.server import START_WITHIN_S, Server, free_port, spawn
from tests.faults.agents import COUNTS_FILE, NAME
from tests.faults.scale import NO_COVERAGE

POLL_S = 0.01
SETTLE_WITHIN_S = 60  # a bound on hangs


@dataclass
class Lives:
    """One data folder and one port, and the server over them, again and again. End it with `stop`."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    count: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """What the newest one printed."""
        return self.folder / f"server{self.count}.log"

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def spawn(self) -> None:
        """Starts the next one and does not wait."""
        assert self.process is None
        self.count += 1
        self.process = spawn(self.data_dir, self.port, self.log, {"AGUI_AGENT": NAME, **NO_COVERAGE, **self.env})

    async def ready(self) -> None:
        """Back when the server answers. Raises AssertionError with what it printed when it does not."""
        ready = f"agui-app is ready on {self.url}"
        async with asyncio.timeout(START_WITHIN_S):
            while ready not in (printed := self.log.read_text(errors="replace")):
                assert self.running, printed
                await asyncio.sleep(POLL_S)

    async def start(self) -> None:
        self.spawn()
        await self.ready()

    async def kill(self) -> None:
        """`kill -9`, and the end of it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(self.process.wait)
        self.process = None

    async def stop(self) -> None:
        """Whatever its state, it is gone."""
        if self.process is not None:
            await self.kill()


async def counts(server: Server) -> dict[str, Any]:
    """What the process of `server` holds: see `tests.faults.agents`. It must have COUNTS_FILE in its environment."""
    file = counts_file(server.data_dir.parent)
    file.unlink(missing_ok=True)
    os.kill(server.process.pid, signal.SIGUSR1)
    async with asyncio.timeout(SETTLE_WITHIN_S):
        while not file.exists():
            await asyncio.sleep(POLL_S)
    return json.loads(file.read_text())


def counts_file(folder: Path) -> Path:
    """Where the server that runs in `folder` writes its counts; for its environment."""
    return folder / "counts.json"


def counting(folder: Path) -> dict[str, str]:
    """The environment of a server in `folder` that tells its counts."""
    return {"AGUI_AGENT": NAME, COUNTS_FILE: str(counts_file(folder))}
