# SPDX-License-Identifier: Apache-2.0
"""Blobs, versions and key events, none of which can be changed or removed."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = ("blobs", "versions", "key_events")
_FUNCTION = """
CREATE FUNCTION toolnotary_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'append-only: %', TG_TABLE_NAME; END $$
"""


def upgrade() -> None:
    """Create the first tables and the triggers that keep them append-only."""
    op.create_table(
        "blobs",
        sa.Column("digest", sa.String(71), nullable=False),
        sa.Column("media_type", sa.String(100), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_blobs"),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", sa.String(200), nullable=False),
        sa.Column("version", sa.String(255), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("manifest", sa.String(71), nullable=False),
        sa.Column("bundle", sa.String(71), nullable=False),
        sa.Column("signer", sa.String(300), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
        sa.ForeignKeyConstraint(["manifest"], ["blobs.digest"], name="fk_versions_manifest"),
        sa.ForeignKeyConstraint(["bundle"], ["blobs.digest"], name="fk_versions_bundle"),
        sa.UniqueConstraint("server", "version", name="uq_versions_server_version"),
        sa.UniqueConstraint("server", "sequence", name="uq_versions_server_sequence"),
    )
    op.create_table(
        "key_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pattern", sa.String(200), nullable=False),
        sa.Column("key_id", sa.String(71), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("event", sa.String(10), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_key_events"),
    )
    op.create_index("ix_key_events_pattern", "key_events", ["pattern"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_FUNCTION)
    for table in _TABLES:
        _forbid_changes(table)


def downgrade() -> None:
    """Remove everything."""
    op.drop_index("ix_key_events_pattern", "key_events")
    for table in ("key_events", "versions", "blobs"):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION toolnotary_append_only()")


def _forbid_changes(table: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION toolnotary_append_only()"
        )
        return
    for event in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table}"
            f" BEGIN SELECT RAISE(ABORT, 'append-only: {table}'); END"
        )
