"""Migrations."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

import agui_app.storage.calendar  # noqa: F401
from agui_app.errors import SettingsError
from agui_app.storage import migrate as module
from agui_app.storage.migrate import migrate, sync_url
from agui_app.storage.tables import SQLModel


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


def _schema(file: Path) -> list[tuple[str]]:
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    connection.close()
    return rows
