# SPDX-License-Identifier: Apache-2.0
"""A running registry for tests: a real service on loopback over a database of its own.

    from servers.registry import registry          # a fixture: once over SQLite, once over PostgreSQL
    from servers.registry import sqlite_registry   # a fixture: over SQLite alone, for tests of something else

PostgreSQL is looked for where libpq looks (PGHOST and its like), then on 127.0.0.1 and the local socket as
user postgres. Where there is none the test is skipped; with CI=true its absence is a failure.
"""

import os
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest
import uvicorn
from servers.publisher import NOW, Publisher

from toolnotary_registry_api.app import create_app
from toolnotary_registry_api.publication import claim, retire
from toolnotary_registry_api.serve import configuration
from toolnotary_registry_api.settings import Settings
from toolnotary_registry_api.storage import Storage

_SERVERS = ("", "host=127.0.0.1 user=postgres", "host=/var/run/postgresql user=postgres")
DATABASES = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class RunningRegistry:
    """A registry that answers at `url`; the operator's commands go straight to its database.

    `connections` are those that are open now.
    """

    url: str
    settings: Settings
    connections: Collection[object]

    def claim(self, publisher: Publisher, pattern: str = "io.github.acme/*") -> None:
        with closing(Storage.open(self.settings.database)) as storage:
            claim(storage, pattern, publisher.pem, at=NOW)

    def retire(self, publisher: Publisher, pattern: str = "io.github.acme/*") -> None:
        with closing(Storage.open(self.settings.database)) as storage:
            retire(storage, pattern, publisher.public_key.key_id, at=NOW)


@contextmanager
def serving(settings: Settings, *, now: datetime = NOW) -> Iterator[RunningRegistry]:
    """A service in a thread of this process, until the block ends."""
    app = create_app(settings, clock=lambda: now)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        server = uvicorn.Server(configuration(app, settings, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield RunningRegistry(f"http://127.0.0.1:{port}", settings, server.server_state.connections)
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of a new, empty database, which is gone afterwards."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'registry.sqlite'}"
        return
    with closing(postgresql()) as connection:
        name = f"toolnotary_test_{uuid4().hex}"
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield _url(connection, name)
        finally:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def postgresql() -> psycopg.Connection:
    """A connection to a server on which databases may be made and dropped."""
    failures = []
    for server in _SERVERS:
        try:
            return psycopg.connect(f"{server} dbname=postgres connect_timeout=5", autocommit=True)
        except psycopg.OperationalError as error:
            failures.append(f"{server or 'the environment'}: {error}")
    message = "no PostgreSQL server answers: " + "; ".join(failures)
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def _url(connection: psycopg.Connection, name: str) -> str:
    where = connection.info
    user = quote(where.user, safe="") + (f":{quote(where.password, safe='')}" if where.password else "")
    return f"postgresql://{user}@/{name}?host={quote(where.host, safe='')}&port={where.port}"


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database, once of each kind."""
    with database(request.param, tmp_path) as url:
        yield url


@pytest.fixture
def registry(database_url: str) -> Iterator[RunningRegistry]:
    """A running registry without any version or key, once over each kind of database."""
    with serving(Settings(database=database_url)) as running:
        yield running


@pytest.fixture
def sqlite_registry(tmp_path: Path) -> Iterator[RunningRegistry]:
    """A running registry without any version or key, over SQLite."""
    with serving(Settings(database=f"sqlite:///{tmp_path / 'registry.sqlite'}")) as running:
        yield running
