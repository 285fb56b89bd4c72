"""Migrations."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

import agui_app.storage.calendar  # noqa: F401
from agui_app.errors import SettingsError
from agui_app.services import open_services
from agui_app.settings import Settings
from agui_app.storage import migrate as module
from agui_app.storage.migrate import MIGRATIONS, migrate, sync_url
from agui_app.storage.tables import SQLModel

REVISIONS = sorted(
    match[1]
    for file in (MIGRATIONS / "versions").glob("*.py")
    if (match := re.search(r'^revision = "(\w+)"$', file.read_text(encoding="utf-8"), re.MULTILINE))
)
ROWS = Path(__file__).parent / "revisions"
"""Rows for every table of a revision, in the SQL of that time: `{revision}.sql`."""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'x.db'}"


async def test_a_fresh_database_gets_exactly_the_tables_of_the_models(url: str) -> None:
    await migrate(url)
    engine = create_engine(sync_url(url))
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), SQLModel.metadata)
    engine.dispose()
    assert differences == []


async def test_migrating_again_changes_nothing(url: str, tmp_path: Path) -> None:
    await migrate(url)
    before = _schema(tmp_path / "x.db")
    await migrate(url)
    assert _schema(tmp_path / "x.db") == before


async def test_a_database_of_a_newer_program_stops_the_start_with_one_line(url: str, tmp_path: Path) -> None:
    await migrate(url)
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(SettingsError) as caught:
        await migrate(url)
    assert "'9999', which is newer than this program" in caught.value.detail
    assert "\n" not in caught.value.detail


async def test_a_file_that_is_no_database_stops_the_start_with_one_line(url: str, tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("this is no database " * 100)
    with pytest.raises(SettingsError, match=r"AGUI_DATABASE_URL=.*cannot be opened: file is not a database"):
        await migrate(url)


async def test_missing_migrations_are_named(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIGRATIONS", tmp_path / "nowhere")
    with pytest.raises(SettingsError, match="nowhere"):
        await migrate(url)


async def test_the_logging_of_the_server_stays_as_it_is(url: str) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    await migrate(url)
    assert (root.level, list(root.handlers)) == before


def test_migrations_go_through_a_driver_that_waits() -> None:
    assert sync_url("sqlite+aiosqlite:////a/b.db") == "sqlite:////a/b.db"
    assert sync_url("postgresql+asyncpg://u:p@h/d") == "postgresql+psycopg://u:p@h/d"


async def database_at(revision: str, file: Path) -> None:
    """A database with the tables of a revision, and rows in all of them."""
    await migrate(f"sqlite+aiosqlite:///{file}", revision)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((ROWS / f"{revision}.sql").read_text(encoding="utf-8"))


def test_every_revision_has_rows_to_migrate() -> None:
    found = list((MIGRATIONS / "versions").glob("*.py"))
    assert len(REVISIONS) == len(found)
    assert sorted(file.stem for file in ROWS.glob("*.sql")) == REVISIONS, "write rows for the new revision"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_rows_of_a_revision_fill_every_table_of_it(revision: str, tmp_path: Path) -> None:
    await database_at(revision, tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        empty = [name for name in tables if not connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]]
    assert empty == []


@pytest.mark.parametrize("revision", REVISIONS)
async def test_data_of_every_revision_is_read_by_this_program(revision: str, settings: Settings) -> None:
    settings.data_dir.mkdir()
    await database_at(revision, settings.data_dir / "agui.db")
    async with open_services(settings) as services:
        listed = (await services.threads.list_threads("local", None, 50))["threads"]
        assert [(one["id"], one["title"], one["lastLine"], one["activeRunId"]) for one in listed] == [
            ("t2", "Second talk", "Then", None),
            ("t1", "First talk", "There are two.", None),
        ]

        async def page() -> Any:
            async with asyncio.timeout(10):
                while True:  # until the payload that waited is stored
                    page = await services.history.page("local", "t1", None, 50)
                    if not page["messages"][2].get("payloadMissing"):
                        return page
                    await asyncio.sleep(0.01)

        first, second = await page(), await services.history.page("local", "t2", None, 50)
        assert [(one["id"], one["role"], one["content"], one["status"]) for one in first["messages"]] == [
            ("u1", "user", "remind me", "complete"),
            ("a1", "assistant", "", "complete"),
            ("tm1", "tool", "Found 2 events", "complete"),
            ("m1", "assistant", "There are two.", "complete"),
        ]
        assert first["messages"][2]["result"] == {"count": 2}
        assert [(run["runId"], run["status"], run["steps"][0]["name"]) for run in first["runs"]] == [
            ("r1", "finished", "intent")
        ]
        assert [(one["id"], one["content"], one["status"]) for one in second["messages"]] == [
            ("u2", "and then?", "complete"),
            ("m2", "Then ", "interrupted"),
        ]
        assert [(run["runId"], run["status"]) for run in second["runs"]] == [("r2", "interrupted")]
    with closing(sqlite3.connect(settings.data_dir / "agui.db")) as connection:
        assert connection.execute("SELECT title FROM calendar_events").fetchall() == [("Dentist",)]
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISIONS[-1],)]


@pytest.mark.parametrize("revision", REVISIONS[:-1])
async def test_a_database_is_copied_before_its_tables_change(revision: str, url: str, tmp_path: Path) -> None:
    await database_at(revision, tmp_path / "x.db")
    await migrate(url)
    with closing(sqlite3.connect(tmp_path / f"x.db.before-{REVISIONS[-1]}")) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [(revision,)]
        assert copy.execute("SELECT count(*) FROM threads").fetchall() == [(2,)]
    await migrate(url)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.db", f"x.db.before-{REVISIONS[-1]}"]


async def test_a_copy_that_cannot_be_made_stops_the_start_and_changes_nothing(url: str, tmp_path: Path) -> None:
    await database_at(REVISIONS[0], tmp_path / "x.db")
    (tmp_path / "x.db.part").mkdir()
    before = _schema(tmp_path / "x.db")
    with pytest.raises(SettingsError, match="cannot be copied before its change"):
        await migrate(url)
    assert _schema(tmp_path / "x.db") == before


NEXT = """
import os, signal
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "next", "{before}", None, None


def upgrade():
    op.create_table("novel", sa.Column("pk", sa.Integer(), primary_key=True))
    op.execute("INSERT INTO novel VALUES (1)")
    op.add_column("threads", sa.Column("novel", sa.String()))
    op.execute("UPDATE threads SET title = 'changed'")
    {then}
"""


async def test_a_migration_that_is_killed_in_the_middle_never_was_and_starts_again(url: str, tmp_path: Path) -> None:
    await database_at(REVISIONS[-1], tmp_path / "x.db")
    before = _schema(tmp_path / "x.db")
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    script = folder / "versions" / "next.py"
    migrating = (
        "import asyncio, pathlib; from agui_app.storage import migrate as m; "
        f"m.MIGRATIONS = pathlib.Path({str(folder)!r}); asyncio.run(m.migrate({url!r}))"
    )

    script.write_text(NEXT.format(before=REVISIONS[-1], then="os.kill(os.getpid(), signal.SIGKILL)"))
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", migrating])
    assert killed.returncode == -signal.SIGKILL
    assert _schema(tmp_path / "x.db") == before

    script.write_text(NEXT.format(before=REVISIONS[-1], then=""))
    again = await asyncio.to_thread(subprocess.run, [sys.executable, "-B", "-c", migrating])
    assert again.returncode == 0
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        assert connection.execute("SELECT pk FROM novel").fetchall() == [(1,)]
        assert connection.execute("SELECT title, novel FROM threads").fetchall() == [("changed", None)] * 2
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("next",)]


def _schema(file: Path) -> list[tuple[str]]:
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    connection.close()
    return rows
