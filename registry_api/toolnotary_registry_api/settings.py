# SPDX-License-Identifier: Apache-2.0
"""What an operator decides about one registry: where it stores, and how much it takes at once."""

from dataclasses import dataclass

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.limits import DEFAULT_LIMITS

_POSTGRESQL = ("postgres", "postgresql", "postgresql+psycopg")
_REMEDY = "write sqlite:///FILE or postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One registry.

    Attributes:
        database: `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`.
        manifest_bytes: the largest manifest that is taken, in bytes (DESIGN: limits).
        bundle_bytes: the largest bundle that is taken, in bytes; a bundle holds a statement of about a
            kilobyte.
        head_seconds: how long the head of a request may take to arrive, from the connection or from the end
            of the answer before.
        body_seconds: how long the body of one request may take to arrive.
        answer_seconds: how long a caller may take to read an answer that does not go out at once.
        page: the most versions in one answer.
    """

    database: str
    manifest_bytes: int = DEFAULT_LIMITS.manifest_bytes
    bundle_bytes: int = 256 << 10
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    answer_seconds: float = 120.0
    page: int = 100

    @property
    def body_bytes(self) -> int:
        """The largest body of a publication: both parts in base64 (4 bytes for 3), and the JSON around."""
        return (self.manifest_bytes + self.bundle_bytes) * 4 // 3 + 1024


def database_url(text: str) -> URL:
    """The database that `text` names, with the driver that this distribution installs.

    Raises:
        ConfigurationError: `database-url`, if it is no URL, or names neither a SQLite file nor PostgreSQL.
            The message never repeats the URL, which may hold a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ConfigurationError(
            "database-url", "the database is not given as a URL", remedy=_REMEDY
        ) from None
    if url.drivername in _POSTGRESQL:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername != "sqlite":
        message = f"got a database of kind {url.get_backend_name()!a}, expected sqlite or postgresql"
        raise ConfigurationError("database-url", message, remedy=_REMEDY)
    if url.host or not url.database or url.database == ":memory:":
        message = "a SQLite database needs a file: what is only in memory would forget what was published"
        raise ConfigurationError("database-url", message, remedy=_REMEDY)
    return url
