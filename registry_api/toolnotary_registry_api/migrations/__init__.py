# SPDX-License-Identifier: Apache-2.0
"""The database's schema, step by step; whoever opens a database brings it up to date first."""

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from toolnotary_verifier.errors import ConfigurationError


def configuration(connection: Connection) -> Config:
    """Alembic's configuration over an open connection, whose transaction the caller owns."""
    config = Config()
    config.set_main_option("script_location", "toolnotary_registry_api:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the schema up to `revision`.

    Raises:
        ConfigurationError: `database-newer`, if a later release of the registry has migrated this database.
    """
    try:
        command.upgrade(configuration(connection), revision)
    except CommandError as error:
        message = "the database holds a schema that this release does not know"
        raise ConfigurationError(
            "database-newer", message, remedy="upgrade toolnotary-registry-api"
        ) from error


def downgrade(connection: Connection, revision: str) -> None:
    """Take the schema back to `revision`; `base` removes every table and all that was published."""
    command.downgrade(configuration(connection), revision)
