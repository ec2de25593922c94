# SPDX-License-Identifier: Apache-2.0
"""Every SQL statement of the registry. What was stored is never changed: there are only inserts here.

Immutable bytes are read through the connection and not through an object session, which costs several times
as much as the read. SQLite has one writer at a time: a lock in this process queues the writers in order,
where SQLite alone would make them poll each other, and the busy timeout waits for other processes such as the
administration.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import BigInteger, ColumnElement, Engine, func
from sqlalchemy.exc import DatabaseError, InterfaceError, OperationalError
from sqlmodel import Session, col, select

from toolnotary_registry_api.engine import answering, begin, engine_for, place_of, unreachable
from toolnotary_registry_api.migrations import upgrade
from toolnotary_registry_api.records import Blob, Entry, NamespaceKey, as_entry, entry_named, keys_under
from toolnotary_registry_api.tables import BlobRow, KeyEventRow, VersionRow
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import ConfigurationError, InvalidInput

_MIGRATION_LOCK = 0x746F6F6C6E  # any constant of ours: PostgreSQL's advisory locks are numbers


class Writing:
    """One write transaction: what it reads stays true until it ends."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def entry(self, server: str, version: str) -> Entry | None:
        """The stored version, if there is one."""
        return entry_named(self._session, server, version)

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
        return keys_under(self._session, patterns)

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
        self._place = place_of(engine.url)
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
        storage = cls(engine_for(database))
        if not create and storage._sqlite and not Path(str(storage._engine.url.database)).exists():
            raise ConfigurationError(
                "database-missing",
                f"{storage._place} does not exist",
                remedy="toolnotary serve makes one; or name another with --database",
            )
        try:
            with storage._writer, storage._engine.connect() as connection, begin(connection):
                if not storage._sqlite:
                    connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
                upgrade(connection)
        except (OperationalError, InterfaceError) as error:
            storage.close()
            raise unreachable(error, storage._place) from error
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
            return entry_named(session, server, version)

    def entries(self, server: str, *, below: int | None = None, limit: int) -> tuple[Entry, ...]:
        """At most `limit` versions of the server, highest sequence first, all of them lower than `below`."""
        statement = select(VersionRow).where(VersionRow.server == server)
        if below is not None:
            statement = statement.where(VersionRow.sequence < below)
        with self._reading() as session:
            rows = session.exec(statement.order_by(col(VersionRow.sequence).desc()).limit(limit))
            return tuple(as_entry(row) for row in rows)

    def blob(self, digest: Digest) -> Blob | None:
        """The bytes under this digest, if they are here."""
        statement = select(BlobRow.media_type, BlobRow.content).where(BlobRow.digest == digest)
        with answering(), self._engine.connect() as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else Blob(media_type=row[0], content=row[1])

    def namespace_keys(self, patterns: Sequence[str] | None = None) -> tuple[NamespaceKey, ...]:
        """The keys of these patterns, retired ones included; of all patterns for None."""
        with self._reading() as session:
            return keys_under(session, patterns)

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
            answering(),
            self._writer,
            self._engine.connect() as connection,
            begin(connection),
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
        with answering(), Session(self._engine) as session:
            yield session


def _lock(subject: str) -> ColumnElement[int]:
    return func.hashtextextended(subject, 0, type_=BigInteger)
