"""Runs migrations, from the server (which hands its connection over) or from the command line."""

from sqlalchemy import Connection

# The import of a table module puts its tables into the metadata.
import agui_app.storage.calendar  # noqa: F401  # pyright: ignore[reportUnusedImport] -- its table
from agui_app.settings import load_settings
from agui_app.storage.migrate import migration_engine
from agui_app.storage.tables import SQLModel
from alembic import context


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=SQLModel.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        transaction_per_migration=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def main() -> None:
    handed_over = context.config.attributes.get("connection")
    if handed_over is not None:
        migrate(handed_over)
        return
    engine = migration_engine(load_settings().resolved_database_url)
    with engine.connect() as connection:
        migrate(connection)
    engine.dispose()


main()
