# SPDX-License-Identifier: Apache-2.0
"""Alembic runs this file for each command; the connection and its transaction belong to the caller."""

from alembic import context

from toolnotary_registry_api.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    render_as_batch=True,
    # Both databases can roll back a change of schema; Alembic believes it of PostgreSQL alone.
    transactional_ddl=True,
    compare_type=True,
)
context.run_migrations()
