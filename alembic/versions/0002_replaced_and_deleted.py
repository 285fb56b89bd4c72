"""Runs that others replaced, payloads to take away, and the ids of deleted threads."""

import sqlalchemy as sa

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("superseded_by", sa.String(), nullable=True))
    op.create_table(
        "discarded_payloads",
        sa.Column("pk", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "deleted_threads",
        sa.Column("owner_id", sa.String(), primary_key=True, nullable=False),
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("last_event_id", sa.Integer(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("deleted_threads")
    op.drop_table("discarded_payloads")
    op.drop_column("runs", "superseded_by")
