"""The first tables: threads, messages, runs, events, pending payloads, calendar events."""

import sqlalchemy as sa

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _json(name: str) -> sa.Column:
    return sa.Column(name, sa.JSON(), nullable=True)


def _text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _name(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.String(), nullable=nullable)


def _thread() -> sa.Column:
    return sa.Column("thread_pk", sa.Integer(), sa.ForeignKey("threads.pk", ondelete="CASCADE"), nullable=False)


def _pk() -> sa.Column:
    return sa.Column("pk", sa.Integer(), primary_key=True, nullable=False)


def upgrade() -> None:
    _create_threads()
    _create_messages()
    _create_runs()
    _create_events()
    _create_pending_payloads()
    _create_calendar_events()


def _create_threads() -> None:
    op.create_table(
        "threads",
        _pk(),
        _name("owner_id"),
        _name("id"),
        _name("title"),
        _time("created_at"),
        _time("updated_at"),
        sa.Column("last_event_id", sa.Integer(), nullable=False),
        sa.Column("next_position", sa.Integer(), nullable=False),
        sa.UniqueConstraint("owner_id", "id"),
    )
    op.create_index("ix_threads_owner_updated", "threads", ["owner_id", "updated_at", "pk"])


def _create_messages() -> None:
    op.create_table(
        "messages",
        _pk(),
        _name("owner_id"),
        _thread(),
        sa.Column("position", sa.Integer(), nullable=False),
        _name("id"),
        _name("role"),
        _text("content"),
        _name("run_id", nullable=True),
        _name("status"),
        _time("created_at", nullable=True),
        _json("metadata"),
        _json("data"),
        _name("superseded_by", nullable=True),
        sa.UniqueConstraint("thread_pk", "id"),
        sa.UniqueConstraint("thread_pk", "position"),
    )
    op.create_index("ix_messages_thread_run", "messages", ["thread_pk", "run_id"])


def _create_runs() -> None:
    op.create_table(
        "runs",
        _pk(),
        _name("owner_id"),
        _thread(),
        _name("id"),
        _name("status"),
        sa.Column("position", sa.Integer(), nullable=False),
        _name("body_hash"),
        sa.Column("first_event_id", sa.Integer(), nullable=False),
        sa.Column("last_event_id", sa.Integer(), nullable=True),
        _time("heartbeat_at", nullable=True),
        *(_json(name) for name in ("outcome", "error", "steps", "usage", "result", "interrupts")),
        _time("started_at", nullable=True),
        _time("finished_at", nullable=True),
        _name("locale"),
        _name("timezone"),
        sa.UniqueConstraint("owner_id", "id"),
    )
    op.create_index("ix_runs_thread_position", "runs", ["thread_pk", "position"])
    running = sa.text("status = 'running'")
    op.create_index(
        "ux_runs_thread_running",
        "runs",
        ["thread_pk"],
        unique=True,
        sqlite_where=running,
        postgresql_where=running,
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column(
            "thread_pk", sa.Integer(), sa.ForeignKey("threads.pk", ondelete="CASCADE"), primary_key=True, nullable=False
        ),
        sa.Column("id", sa.Integer(), primary_key=True, nullable=False),
        _name("owner_id"),
        sa.Column("run_pk", sa.Integer(), sa.ForeignKey("runs.pk", ondelete="CASCADE"), nullable=False),
        _text("data"),
        _time("created_at"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_events_run_pk", "events", ["run_pk"])


def _create_pending_payloads() -> None:
    op.create_table(
        "pending_payloads",
        _pk(),
        _name("owner_id"),
        _thread(),
        _name("message_id"),
        _name("path"),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        _time("next_attempt_at"),
        _time("created_at"),
        sa.UniqueConstraint("thread_pk", "message_id"),
    )


def _create_calendar_events() -> None:
    op.create_table(
        "calendar_events",
        _pk(),
        _name("owner_id"),
        _name("id"),
        _name("title"),
        _name("description", nullable=True),
        _time("start_at", nullable=True),
        _time("end_at", nullable=True),
        sa.Column("all_day", sa.Boolean(), nullable=False),
        _name("start_date", nullable=True),
        _name("end_date", nullable=True),
        _name("timezone"),
        _name("location", nullable=True),
        _name("notes", nullable=True),
        _name("color", nullable=True),
        _name("source_type", nullable=True),
        _time("created_at"),
        _time("updated_at"),
        _time("deleted_at", nullable=True),
        sa.UniqueConstraint("owner_id", "id"),
    )
    op.create_index("ix_calendar_events_owner_start", "calendar_events", ["owner_id", "start_at"])
    op.create_index("ix_calendar_events_owner_date", "calendar_events", ["owner_id", "start_date"])


def downgrade() -> None:
    for table in ("calendar_events", "pending_payloads", "events", "runs", "messages", "threads"):
        op.drop_table(table)
