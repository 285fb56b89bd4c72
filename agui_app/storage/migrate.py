"""Brings the database to the tables of this program."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

import agui_app
from agui_app.errors import SettingsError
from alembic import command

MIGRATIONS = Path(agui_app.__file__).resolve().parent.parent / "alembic"
"""The folder of the migrations, beside the package."""

_SYNC_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}


def sync_url(url: str) -> str:
    """The same database through a driver that waits, which migrations need."""
    parsed = make_url(url)
    driver = _SYNC_DRIVERS.get(parsed.get_backend_name(), parsed.drivername)
    return parsed.set(drivername=driver).render_as_string(hide_password=False)


async def migrate(url: str) -> None:
    """The database at `url` has the newest tables.

    Raises: SettingsError: it cannot be opened, or was written by a newer version of the program.
    """
    await asyncio.to_thread(_migrate, url)


def _migrate(url: str) -> None:
    if not (MIGRATIONS / "env.py").is_file():
        raise SettingsError(f"The migrations are missing: {str(MIGRATIONS)!r} must stand beside the package")
    config = Config()  # of no file: the logging of the server stays as it is
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    engine = create_engine(sync_url(url))
    try:
        with engine.connect() as connection:
            _upgrade(connection, config, url)
    except DBAPIError as error:
        raise SettingsError(f"AGUI_DATABASE_URL={_shown(url)!r}: cannot be opened: {error.orig}") from error
    finally:
        engine.dispose()


def _upgrade(connection: Connection, config: Config, url: str) -> None:
    heads = MigrationContext.configure(connection).get_current_heads()
    connection.rollback()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    for head in heads:
        if head not in known:
            raise SettingsError(
                f"AGUI_DATABASE_URL={_shown(url)!r}: its tables have revision {head!r}, which is newer than this "
                "program; start the newer version, or use another data folder"
            )
    attributes: dict[Any, Any] = config.attributes
    attributes["connection"] = connection
    command.upgrade(config, "head")


def _shown(url: str) -> str:
    return make_url(url).render_as_string(hide_password=True)
