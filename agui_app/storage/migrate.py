"""Brings the database to the tables of this program."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

import agui_app
from agui_app.errors import SettingsError
from agui_app.storage.database import own_transactions
from alembic import command

MIGRATIONS = Path(agui_app.__file__).resolve().parent.parent / "alembic"
"""The folder of the migrations, beside the package."""

_SYNC_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}


def sync_url(url: str) -> str:
    """The same database through a driver that waits, which migrations need."""
    parsed = make_url(url)
    driver = _SYNC_DRIVERS.get(parsed.get_backend_name(), parsed.drivername)
    return parsed.set(drivername=driver).render_as_string(hide_password=False)


def migration_engine(url: str) -> Engine:
    """An engine whose transactions hold the changes of tables too: a migration that is interrupted never was."""
    engine = create_engine(sync_url(url))
    if engine.dialect.name == "sqlite":
        own_transactions(engine, "BEGIN IMMEDIATE", ())
    return engine


async def migrate(url: str, revision: str = "head") -> None:
    """The database at `url` has the tables of `revision`, by default the newest ones.

    A SQLite file with data is copied first, to its name with `.before-{revision}`.

    Raises: SettingsError: it cannot be opened, or was written by a newer version of the program.
    """
    await asyncio.to_thread(_migrate, url, revision)


def _migrate(url: str, revision: str) -> None:
    if not (MIGRATIONS / "env.py").is_file():
        raise SettingsError(f"The migrations are missing: {str(MIGRATIONS)!r} must stand beside the package")
    config = Config()  # of no file: the logging of the server stays as it is
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    engine = migration_engine(url)
    try:
        with engine.connect() as connection:
            present = MigrationContext.configure(connection).get_current_heads()
            connection.rollback()
            _refuse_newer(present, scripts, url)
            wanted = scripts.get_heads() if revision == "head" else [revision]
            if present and list(present) != wanted:
                _keep_copy(connection, wanted[0])
            attributes: dict[Any, Any] = config.attributes
            attributes["connection"] = connection
            command.upgrade(config, revision)
    except DBAPIError as error:
        raise SettingsError(f"AGUI_DATABASE_URL={_shown(url)!r}: cannot be opened: {error.orig}") from error
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(
            f"AGUI_DATABASE_URL={_shown(url)!r}: cannot be copied before its change: {error}"
        ) from error
    finally:
        engine.dispose()


def _refuse_newer(present: Iterable[str], scripts: ScriptDirectory, url: str) -> None:
    known = {script.revision for script in scripts.walk_revisions()}
    for head in present:
        if head not in known:
            raise SettingsError(
                f"AGUI_DATABASE_URL={_shown(url)!r}: its tables have revision {head!r}, which is newer than this "
                "program; start the newer version, or use another data folder"
            )


def _keep_copy(connection: Connection, revision: str) -> None:
    """The data as it was, beside a SQLite file: whole, or not there."""
    file = connection.engine.url.database
    if connection.dialect.name != "sqlite" or not file or file == ":memory:":
        return
    source: Any = connection.connection.driver_connection
    aside, copy = Path(f"{file}.part"), Path(f"{file}.before-{revision}")
    aside.unlink(missing_ok=True)
    with closing(sqlite3.connect(aside)) as target:
        source.backup(target)
    os.replace(aside, copy)
    copy.chmod(Path(file).stat().st_mode)


def _shown(url: str) -> str:
    return make_url(url).render_as_string(hide_password=True)
