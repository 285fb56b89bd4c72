"""What stops a start, and how open streams end. A whole server is started in `tests/e2e/test_server.py`."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive

from agui_app import serve
from agui_app.errors import SettingsError
from agui_app.serve import StreamsThatEnd, check_port_is_free, main, owned_data_dir, resolve
from agui_app.settings import Settings
from tests.e2e.server import free_port


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` and no data folder of the developer's; and nothing is built."""
    monkeypatch.chdir(tmp_path)

    def unexpected(say: object) -> None:
        raise AssertionError("the start went on to the build")

    monkeypatch.setattr(serve.build, "ensure_built", unexpected)


@pytest.fixture
def busy_port() -> Iterator[int]:
    """A port that something listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("AGUI_PORT", "abc", r"agui-app: AGUI_PORT='abc': .*integer.*"),
        ("AGUI_PORT", "70000", r"agui-app: AGUI_PORT='70000': .*65535.*"),
        ("AGUI_HOST", "0.0.0.0", r"agui-app: AGUI_HOST=0\.0\.0\.0 is reachable by others .*AGUI_ALLOW_INSECURE=1"),
        ("AGUI_TIMEZONE", "Mars/Olympus", r"agui-app: AGUI_TIMEZONE='Mars/Olympus': .*no IANA time zone.*"),
        ("AGUI_DATA_DIR", "/dev/null/x", r"agui-app: AGUI_DATA_DIR='/dev/null/x' cannot be written: .*choose .*"),
    ],
)
def test_a_setting_that_cannot_be_used_stops_the_start_with_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, line: str
) -> None:
    monkeypatch.setenv("AGUI_PORT", str(free_port()))
    monkeypatch.setenv(name, value)

    assert main() == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(line + "\n", printed.err)


def test_a_busy_port_stops_the_start_with_one_line_that_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], busy_port: int
) -> None:
    monkeypatch.setenv("AGUI_PORT", str(busy_port))

    assert main() == 2

    assert capsys.readouterr().err == (
        f"agui-app: AGUI_PORT={busy_port} on 127.0.0.1 cannot be listened on: Address already in use; "
        "stop what uses it or choose another port\n"
    )


def test_a_host_name_that_nobody_knows_is_named(settings: Settings) -> None:
    with pytest.raises(SettingsError, match=r"AGUI_HOST='nowhere.invalid' is no address of this machine"):
        resolve(settings.model_copy(update={"host": "nowhere.invalid"}))


@pytest.mark.parametrize(
    ("host", "address"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("[::1]", "::1")]
)
def test_a_host_becomes_an_address(settings: Settings, host: str, address: str) -> None:
    assert resolve(settings.model_copy(update={"host": host})) == address


def test_a_free_port_is_free(settings: Settings) -> None:
    check_port_is_free(settings.model_copy(update={"port": free_port()}), "127.0.0.1")


def test_the_data_folder_holds_the_process_id_as_long_as_the_server_runs(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"

    with owned_data_dir(folder):
        assert (folder / "agui.pid").read_text() == f"{os.getpid()}\n"
        assert folder.stat().st_mode & 0o777 == 0o700

    assert not (folder / "agui.pid").exists()


def test_a_process_id_that_a_crash_left_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "agui.pid").write_text("1\n")

    with owned_data_dir(tmp_path):
        assert (tmp_path / "agui.pid").read_text() == f"{os.getpid()}\n"


def test_a_second_server_on_one_data_folder_is_refused(tmp_path: Path) -> None:
    with (
        owned_data_dir(tmp_path),
        pytest.raises(SettingsError, match=f"is in use by process {os.getpid()}; stop it or choose another folder"),
        owned_data_dir(tmp_path),
    ):
        pass


class Reader:
    """The other end: sends `messages`, or a body in two parts, then neither reads nor leaves until told."""

    def __init__(self, messages: list[dict[str, Any]] | None = None) -> None:
        self._messages = messages or [
            {"type": "http.request", "body": b"a", "more_body": True},
            {"type": "http.request", "body": b"b", "more_body": False},
        ]
        self.left = asyncio.Event()
        self.cancelled = False

    async def receive(self) -> dict[str, Any]:
        if self._messages:
            return self._messages.pop(0)
        try:
            await self.left.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return {"type": "http.disconnect", "by": "the reader"}

    async def send(self, message: object) -> None:
        """Takes anything."""


async def streaming(scope: object, receive: Receive, send: object) -> None:
    """An app whose response ends when its reader leaves; it notes what it received."""
    received: list[Any] = scope["received"]  # pyright: ignore[reportIndexIssue]
    while not received or not received[-1]["type"].endswith("disconnect"):
        received.append(await receive())


async def run_stream(end: str) -> tuple[list[Any], Reader]:
    """What the app received when its stream was ended by the reader, or by the server."""
    app, reader, received = StreamsThatEnd(streaming), Reader(), list[Any]()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(app({"type": "http", "received": received}, reader.receive, reader.send))
        while len(received) < 2:
            await asyncio.sleep(0)
        (reader.left.set if end == "reader" else app.end)()
    return received, reader


BODY = [
    {"type": "http.request", "body": b"a", "more_body": True},
    {"type": "http.request", "body": b"b", "more_body": False},
]


async def test_an_open_stream_sees_its_reader_leave_when_the_server_stops() -> None:
    received, reader = await run_stream("server")

    assert received == [*BODY, {"type": "http.disconnect"}]
    assert reader.cancelled


async def test_a_reader_that_leaves_is_seen_to_leave() -> None:
    received, reader = await run_stream("reader")

    assert received == [*BODY, {"type": "http.disconnect", "by": "the reader"}]
    assert not reader.cancelled


async def test_a_request_body_is_read_to_its_end_while_the_server_stops() -> None:
    app, reader, received = StreamsThatEnd(streaming), Reader(), list[Any]()

    app.end()
    await app({"type": "http", "received": received}, reader.receive, reader.send)

    assert received == [*BODY, {"type": "http.disconnect"}]


async def test_an_open_socket_sees_its_reader_leave_when_the_server_stops() -> None:
    app, received = StreamsThatEnd(streaming), list[Any]()
    reader = Reader([{"type": "websocket.connect"}, {"type": "websocket.receive", "text": "hi"}])
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(app({"type": "websocket", "received": received}, reader.receive, reader.send))
        while len(received) < 2:
            await asyncio.sleep(0)
        await app.requests_ended(10)
        app.end()
        await app.sockets_ended(10)

    assert [message["type"] for message in received] == [
        "websocket.connect",
        "websocket.receive",
        "websocket.disconnect",
    ]
    assert reader.cancelled


async def test_a_response_that_does_not_end_is_not_waited_for_for_ever() -> None:
    app, reader, received = StreamsThatEnd(streaming), Reader(), list[Any]()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(app({"type": "http", "received": received}, reader.receive, reader.send))
        while len(received) < 2:
            await asyncio.sleep(0)
        await app.requests_ended(0.001)
        reader.left.set()
        await app.requests_ended(10)

    assert received[-1] == {"type": "http.disconnect", "by": "the reader"}


async def test_what_is_neither_request_nor_socket_is_passed_on_as_it_is() -> None:
    seen: list[object] = []

    async def inner(*parts: object) -> None:
        seen.extend(parts)

    reader = Reader()
    parts = ({"type": "lifespan"}, reader.receive, reader.send)
    await StreamsThatEnd(inner)(*parts)

    assert seen == list(parts)
