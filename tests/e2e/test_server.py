"""A whole server, as a person starts and stops it."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx

from tests.e2e.server import START_WITHIN_S, STOP_WITHIN_S, Server, free_port, running, spawn


async def test_the_server_tells_its_process_id_and_serves_its_page(server: Server) -> None:
    assert (server.data_dir / "agui.pid").read_text() == f"{server.process.pid}\n"

    async with httpx.AsyncClient(base_url=server.url) as client:
        page = await client.get("/")

    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_a_second_start_builds_nothing_and_says_that_it_is_ready(server: Server, tmp_path: Path) -> None:
    with running(tmp_path) as second:
        assert second.printed() == f"agui-app is ready on {second.url}\n"


def test_a_second_server_in_the_same_data_folder_is_refused_with_one_line(server: Server, tmp_path: Path) -> None:
    log = tmp_path / "log"
    second = spawn(server.data_dir, free_port(), log, {})

    assert second.wait(STOP_WITHIN_S) == 2
    assert log.read_text() == (
        f"agui-app: AGUI_DATA_DIR={str(server.data_dir)!r} is in use by process {server.process.pid}; "
        "stop it or choose another folder\n"
    )


def test_a_stop_ends_the_server_within_its_time_also_with_readers(server: Server, tmp_path: Path) -> None:
    with running(tmp_path) as second, httpx.Client(base_url=second.api, timeout=5) as client:
        body = {"messages": [{"id": "m1", "role": "user", "content": "hello"}]}
        run = client.post("/runs", json=body).raise_for_status().json()
        with client.stream("GET", f"/runs/{run['threadId']}/events") as stream:
            assert stream.status_code == 200

            second.process.send_signal(signal.SIGTERM)

            assert second.process.wait(STOP_WITHIN_S) == 0
        assert not (second.data_dir / "agui.pid").exists()
        assert "Traceback" not in second.printed()


def test_a_database_of_a_newer_program_stops_the_start_with_one_line(server: Server, tmp_path: Path) -> None:
    data_dir, log = tmp_path / "data", tmp_path / "log"
    data_dir.mkdir()
    with closing(sqlite3.connect(data_dir / "agui.db")) as database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
        database.commit()
    process = spawn(data_dir, free_port(), log, {})

    assert process.wait(START_WITHIN_S) == 2
    assert log.read_text() == (
        f"agui-app: AGUI_DATABASE_URL='sqlite+aiosqlite:///{data_dir / 'agui.db'}': its tables have revision '9999', "
        "which is newer than this program; start the newer version, or use another data folder\n"
    )
    assert not (data_dir / "agui.pid").exists()
