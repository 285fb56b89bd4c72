"""What the fault tests share; the figures of a session, and the seed to have it again, stand at its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.server import Server, running
from tests.faults.scale import KEEPALIVE_S, PING_S, SEED, SOAK, STATES_KEPT_S, TIMEOUT_S
from tests.faults.server import Lives, counting

_figures: list[str] = []

Report = Callable[[str], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "faults" in item.path.parts:
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _figures:
        form = "long" if SOAK else "short"
        terminalreporter.section(f"faults, {form} form, FAULTS_SEED={SEED}")
        for line in _figures:
            terminalreporter.write_line(line)


@pytest.fixture
def report() -> Report:
    """`report("3 of 3")`: a line for the end of the session."""
    return _figures.append


@pytest_asyncio.fixture
async def lives(tmp_path: Path) -> AsyncIterator[Callable[..., Lives]]:
    """`lives("name", AGUI_X="1")`: a server to kill and start again, in a folder of the test's own."""
    made: list[Lives] = []

    def make(name: str = "house", **env: str) -> Lives:
        (tmp_path / name).mkdir()
        made.append(Lives(tmp_path / name, env))
        return made[-1]

    yield make
    for one in made:
        await one.stop()


@pytest.fixture(scope="session")
def fault_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server around the agent of `tests.faults.agents`, which tells its counts."""
    folder = tmp_path_factory.mktemp("faults")
    env = {
        "AGUI_KEEPALIVE_S": str(KEEPALIVE_S),
        "REFLEX_REDIS_TOKEN_EXPIRATION": str(STATES_KEPT_S),
        "REFLEX_SOCKET_INTERVAL": str(PING_S),
    }
    with running(folder, **counting(folder), **env) as server:
        yield server
