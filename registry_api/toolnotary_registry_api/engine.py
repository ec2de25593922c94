# SPDX-License-Identifier: Apache-2.0
"""Connecting to SQLite or PostgreSQL, how a transaction begins there, and what it means if none can."""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from toolnotary_registry_api.settings import database_url
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape

BUSY_SECONDS = 10
CONNECT_SECONDS = 5
_THREADS = 40  # what the web framework's thread pool runs at once


@contextmanager
def answering() -> Iterator[None]:
    """Tell it where the database does not answer.

    Raises:
        CannotTell: `database-unreachable`.
    """
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise unreachable(error) from error


def unreachable(error: Exception, place: str = "the database") -> CannotTell:
    """The error that a database which does not answer is; `place` is escaped and holds no password."""
    # The driver's text may name hosts and users; the operator finds it in the chained exception. Only who
    # opens the database is told where it is, not who asks the registry.
    message = f"{place} does not answer ({type(error).__name__})"
    return CannotTell(
        "database-unreachable", message, remedy="see that the database is up and its file writable"
    )


def place_of(url: URL) -> str:
    """Which database this is, without user and password."""
    server = "" if url.host is None else f"{url.host}{f':{url.port}' if url.port else ''}/"
    return f"the database {escape(f'{server}{url.database}', limit=300)}"


def begin(connection: Connection) -> AbstractContextManager[Any]:
    """Begin a transaction that is going to write."""
    connection.execution_options(toolnotary_writes=True)
    return connection.begin()


def engine_for(database: str) -> Engine:
    """An engine for a database URL; nothing is connected yet.

    Raises:
        ConfigurationError: `database-url`.
    """
    url = database_url(database)
    if url.get_backend_name() == "postgresql":
        arguments = {"connect_timeout": CONNECT_SECONDS}
        return create_engine(
            url, pool_size=10, max_overflow=_THREADS, pool_pre_ping=True, connect_args=arguments
        )
    arguments = {"timeout": BUSY_SECONDS}
    engine = create_engine(url, pool_size=10, max_overflow=_THREADS, connect_args=arguments)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _pooled: object) -> None:
    connection.isolation_level = None  # `_begin_sqlite` begins every transaction, the driver none
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later fails at once when another has written in between,
    # whatever the busy timeout; one that is to write says so at its start, and waits.
    writes = connection.get_execution_options().get("toolnotary_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
