# SPDX-License-Identifier: Apache-2.0
"""The tables. They store and check nothing: what goes over the wire has its own schemas in `wire`.

Nothing is ever updated or deleted: a key is retired by a further event, and triggers of the first migration
refuse both statements. Bytes are stored as bytes; a JSON column would let the database reorder keys and round
numbers. Times are whole seconds since 1970 in UTC, since SQLite has no time with a zone.
"""

from typing import ClassVar

from sqlalchemy import BigInteger, Column, LargeBinary, MetaData, UniqueConstraint
from sqlmodel import Field, SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
APPEND_ONLY = ("blobs", "versions", "key_events")


class Table(SQLModel):
    """Base of the tables; every constraint has a name, so that a migration can name it."""

    metadata: ClassVar[MetaData] = MetaData(naming_convention=NAMING)


class BlobRow(Table, table=True):
    """Bytes under their digest."""

    __tablename__ = "blobs"

    digest: str = Field(primary_key=True, max_length=71)
    media_type: str = Field(max_length=100)
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class VersionRow(Table, table=True):
    """One published version of a server: its manifest, its bundle, its number in the sequence."""

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("server", "version"), UniqueConstraint("server", "sequence"))

    id: int | None = Field(default=None, primary_key=True)
    server: str = Field(max_length=200)
    version: str = Field(max_length=255)
    sequence: int = Field(sa_column=Column(BigInteger, nullable=False))
    manifest: str = Field(foreign_key="blobs.digest", max_length=71)
    bundle: str = Field(foreign_key="blobs.digest", max_length=71)
    signer: str = Field(max_length=300)
    published_at: int = Field(sa_column=Column(BigInteger, nullable=False))


class KeyEventRow(Table, table=True):
    """A key was added to a namespace or retired from it; the latest event of a pattern and key counts."""

    __tablename__ = "key_events"

    id: int | None = Field(default=None, primary_key=True)
    pattern: str = Field(max_length=200, index=True)
    key_id: str = Field(max_length=71)
    public_key: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    event: str = Field(max_length=10)
    at: int = Field(sa_column=Column(BigInteger, nullable=False))
