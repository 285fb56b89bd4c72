"""What every test may use: settings of its own, states without a browser, and a session that counts what it skips."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from agui_app.settings import ENV_PREFIX, Settings

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}

for _name in [name for name in os.environ if name.startswith(ENV_PREFIX)]:
    del os.environ[_name]  # a developer's own settings do not decide what a test sees

hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if IN_CI else "dev")

_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if IN_CI and _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if IN_CI and _skipped:
        terminalreporter.write_line(f"{len(_skipped)} skipped, which is a failure in CI:", red=True)
        for nodeid in _skipped:
            terminalreporter.write_line(f"  {nodeid}")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a fresh installation whose data folder is the test's own."""
    return Settings(_env_file=None, data_dir=tmp_path / "data")


@pytest.fixture
def new_state() -> Callable[[type], object]:
    """Makes a state of the page without a browser; the one place that knows how Reflex lets that be done."""

    def make(cls: type) -> object:
        return cls(_reflex_internal_init=True)

    return make
