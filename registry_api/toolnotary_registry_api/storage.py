# SPDX-License-Identifier: Apache-2.0
"""Every SQL statement of the registry. What was stored is never changed: there are only inserts here.

Immutable bytes are read through the connection and not through an object session, which costs several times
as much as the read. SQLite has one writer at a time: a lock in this process queues the writers in order,
where SQLite alone would make them poll each other, and the busy timeout waits for other processes such as the
administration.
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, create_engine, event, func
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session, col, select

from toolnotary_registry_api.migrations import upgrade
from toolnotary_registry_api.settings import database_url
from toolnotary_registry_api.tables import BlobRow, KeyEventRow, VersionRow
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape

BUSY_SECONDS = 10
CONNECT_SECONDS = 5
_MIGRATION_LOCK = 0x746F6F6C6E  # any constant of ours: PostgreSQL's advisory locks are numbers
_THREADS = 40  # what the web framework's thread pool runs at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Bytes and what they are; their digest is their address."""

    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One published version."""

    server: str
    version: str
    sequence: int
    manifest: Digest
    bundle: Digest
    signer: str
    published_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceKey:
    """A key that may publish under a pattern; `retired_at` is None while it still may."""

    pattern: str
    key_id: str
    public_key: bytes
    added_at: datetime
    retired_at: datetime | None = None


class Writing:
    """One write transaction: what it reads stays true until it ends."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def entry(self, server: str, version: str) -> Entry | None:
        """The stored version, if there is one."""
        return _entry(self._session, server, version)

    def last_sequence(self, server: str) -> int:
        """The highest sequence number of the server, 0 before its first version."""
        found = self._session.exec(
            select(func.max(col(VersionRow.sequence))).where(VersionRow.server == server)
        )
        return found.one() or 0

    def add(self, entry: Entry, blobs: Mapping[Digest, Blob]) -> None:
        """Store a version with the bytes that it refers to."""
        for digest, blob in blobs.items():
            if self._session.get(BlobRow, digest) is None:
                self._session.add(BlobRow(digest=digest, media_type=blob.media_type, content=blob.content))
        self._session.flush()
        self._session.add(
            VersionRow(
                server=entry.server,
                version=entry.version,
                sequence=entry.sequence,
                manifest=entry.manifest,
                bundle=entry.bundle,
                signer=entry.signer,
                published_at=int(entry.published_at.timestamp()),
            )
        )

    def namespace_keys(self, patterns: Sequence[str] | None = None) -> tuple[NamespaceKey, ...]:
        """The keys of these patterns, retired ones included; of all patterns for None."""
        return _keys(self._session, patterns)

    def add_key(self, key: NamespaceKey) -> None:
        """Record that the key may publish under its pattern from now on."""
        self._append(key, "add", key.added_at)

    def retire_key(self, key: NamespaceKey, *, at: datetime) -> None:
        """Record that the key may publish no more under its pattern; what it signed stays."""
        self._append(key, "retire", at)

    def _append(self, key: NamespaceKey, happened: str, at: datetime) -> None:
        row = KeyEventRow(
            pattern=key.pattern,
            key_id=key.key_id,
            public_key=key.public_key,
            event=happened,
            at=int(at.timestamp()),
        )
        self._session.add(row)


class Storage:
    """An open database with the current schema."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sqlite = engine.dialect.name == "sqlite"
        self._place = _place(engine.url)
        self._writer: AbstractContextManager[Any] = threading.Lock() if self._sqlite else nullcontext()

    @classmethod
    def open(cls, database: str, *, create: bool = True) -> Self:
        """Connect and bring the schema up to date.

        Args:
            database: its URL.
            create: whether a SQLite file that does not exist is made; PostgreSQL's are made by its own tools.

        Raises:
            ConfigurationError: `database-url`, `database-newer`, `database-missing`.
            InvalidInput: `database-corrupt`, if the file is no SQLite database.
            CannotTell: `database-unreachable`, if the file cannot be opened or the server does not answer.
        """
        storage = cls(_engine(database))
        if not create and storage._sqlite and not Path(str(storage._engine.url.database)).exists():
            raise ConfigurationError(
                "database-missing",
                f"{storage._place} does not exist",
                remedy="toolnotary serve makes one; or name another with --database",
            )
        try:
            with storage._writer, storage._engine.connect() as connection, _begin(connection):
                if not storage._sqlite:
                    connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
                upgrade(connection)
        except (OperationalError, InterfaceError) as error:
            storage.close()
            raise _unreachable(error, storage._place) from error
        except BaseException as error:
            storage.close()
            if type(error) is not DatabaseError:
                raise
            message = f"{storage._place} is no database of SQLite, or damaged"
            raise InvalidInput("database-corrupt", message, remedy="restore it from a backup") from error
        return storage

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def entry(self, server: str, version: str) -> Entry | None:
        """The stored version, if there is one."""
        with self._reading() as session:
            return _entry(session, server, version)

    def entries(self, server: str, *, below: int | None = None, limit: int) -> tuple[Entry, ...]:
        """At most `limit` versions of the server, highest sequence first, all of them lower than `below`."""
        statement = select(VersionRow).where(VersionRow.server == server)
        if below is not None:
            statement = statement.where(VersionRow.sequence < below)
        with self._reading() as session:
            rows = session.exec(statement.order_by(col(VersionRow.sequence).desc()).limit(limit))
            return tuple(_as_entry(row) for row in rows)

    def blob(self, digest: Digest) -> Blob | None:
        """The bytes under this digest, if they are here."""
        statement = select(BlobRow.media_type, BlobRow.content).where(BlobRow.digest == digest)
        with _answering(), self._engine.connect() as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else Blob(media_type=row[0], content=row[1])

    def namespace_keys(self, patterns: Sequence[str] | None = None) -> tuple[NamespaceKey, ...]:
        """The keys of these patterns, retired ones included; of all patterns for None."""
        with self._reading() as session:
            return _keys(session, patterns)

    def ping(self) -> None:
        """Ask the database for a row.

        Raises:
            CannotTell: `database-unreachable`.
        """
        with self._reading() as session:
            session.exec(select(VersionRow.id).limit(1)).first()

    @contextmanager
    def writing(self, subject: str, *, under: Sequence[str] = ()) -> Iterator[Writing]:
        """A write transaction about `subject`, a server or a key pattern; one at a time per subject.

        Args:
            subject: what is written about.
            under: the patterns whose keys decide about it: while the transaction runs nobody writes about
                these, so that a key which it reads as registered is so until it has ended.

        Raises:
            CannotTell: `database-unreachable`, if the database is down or stays locked by another process.
        """
        with (
            _answering(),
            self._writer,
            self._engine.connect() as connection,
            _begin(connection),
            Session(bind=connection) as session,
        ):
            if not self._sqlite:
                # A server's name can be a pattern too: what is locked alone below is not shared first.
                for pattern in sorted({*under} - {subject}):
                    session.exec(select(func.pg_advisory_xact_lock_shared(_lock(pattern))))
                session.exec(select(func.pg_advisory_xact_lock(_lock(subject))))
            yield Writing(session)
            session.flush()

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with _answering(), Session(self._engine) as session:
            yield session


def _lock(subject: str) -> ColumnElement[int]:
    return func.hashtextextended(subject, 0, type_=BigInteger)


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise _unreachable(error) from error


def _unreachable(error: Exception, place: str = "the database") -> CannotTell:
    # The driver's text may name hosts and users; the operator finds it in the chained exception. Only who
    # opens the database is told where it is, not who asks the registry.
    message = f"{place} does not answer ({type(error).__name__})"
    return CannotTell(
        "database-unreachable", message, remedy="see that the database is up and its file writable"
    )


def _place(url: URL) -> str:
    """Which database this is, without user and password."""
    server = "" if url.host is None else f"{url.host}{f':{url.port}' if url.port else ''}/"
    return f"the database {escape(f'{server}{url.database}', limit=300)}"


def _begin(connection: Connection) -> AbstractContextManager[Any]:
    connection.execution_options(toolnotary_writes=True)
    return connection.begin()


def _engine(database: str) -> Engine:
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


def _entry(session: Session, server: str, version: str) -> Entry | None:
    statement = select(VersionRow).where(VersionRow.server == server, VersionRow.version == version)
    row = session.exec(statement).one_or_none()
    return None if row is None else _as_entry(row)


def _as_entry(row: VersionRow) -> Entry:
    return Entry(
        server=row.server,
        version=row.version,
        sequence=row.sequence,
        manifest=Digest(row.manifest),
        bundle=Digest(row.bundle),
        signer=row.signer,
        published_at=_time(row.published_at),
    )


def _keys(session: Session, patterns: Sequence[str] | None) -> tuple[NamespaceKey, ...]:
    statement = select(KeyEventRow).order_by(col(KeyEventRow.id))
    if patterns is not None:
        statement = statement.where(col(KeyEventRow.pattern).in_(patterns))
    found: dict[tuple[str, str], NamespaceKey] = {}
    for row in session.exec(statement):
        earlier = found.get((row.pattern, row.key_id))
        found[row.pattern, row.key_id] = NamespaceKey(
            pattern=row.pattern,
            key_id=row.key_id,
            public_key=row.public_key,
            added_at=earlier.added_at if earlier and row.event == "retire" else _time(row.at),
            retired_at=_time(row.at) if row.event == "retire" else None,
        )
    return tuple(found.values())


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
