# SPDX-License-Identifier: Apache-2.0
"""What the registry stores, as values, and how they are read from rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlmodel import Session, col, select

from toolnotary_registry_api.tables import KeyEventRow, VersionRow
from toolnotary_verifier.canonical import Digest


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


def entry_named(session: Session, server: str, version: str) -> Entry | None:
    """The stored version, if there is one."""
    statement = select(VersionRow).where(VersionRow.server == server, VersionRow.version == version)
    row = session.exec(statement).one_or_none()
    return None if row is None else as_entry(row)


def as_entry(row: VersionRow) -> Entry:
    """The value of a row."""
    return Entry(
        server=row.server,
        version=row.version,
        sequence=row.sequence,
        manifest=Digest(row.manifest),
        bundle=Digest(row.bundle),
        signer=row.signer,
        published_at=_time(row.published_at),
    )


def keys_under(session: Session, patterns: Sequence[str] | None) -> tuple[NamespaceKey, ...]:
    """The keys of these patterns, retired ones included, told from their events; of all patterns for None."""
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
