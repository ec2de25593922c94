# SPDX-License-Identifier: Apache-2.0
"""The documents that go over the wire, in JSON (docs/reference/registry-api.md). None of them is a table."""

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from toolnotary_registry_api.admission import Submission
from toolnotary_registry_api.records import Entry
from toolnotary_registry_api.settings import Settings
from toolnotary_verifier.canonical import parse
from toolnotary_verifier.errors import InvalidInput


class Document(BaseModel):
    """Base of all documents: camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class SubmissionIn(Document):
    """A publication: both documents in base64, so that not one byte of what was signed changes on the way."""

    manifest: str = Field(json_schema_extra={"contentEncoding": "base64"})
    bundle: str = Field(json_schema_extra={"contentEncoding": "base64"})


class VersionOut(Document):
    """One published version; the digests are addresses under `/v1/blobs/`."""

    server: str
    version: str
    sequence: int
    manifest: str
    bundle: str
    signer: str
    published_at: datetime

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """The document about a stored version."""
        return cls(
            server=entry.server,
            version=entry.version,
            sequence=entry.sequence,
            manifest=entry.manifest,
            bundle=entry.bundle,
            signer=entry.signer,
            published_at=entry.published_at,
        )


class ServerOut(Document):
    """A server and its latest version, which is the one with the highest sequence number."""

    server: str
    latest: VersionOut


class VersionsOut(Document):
    """One page of a server's versions, highest sequence number first."""

    server: str
    versions: list[VersionOut]
    next_cursor: str | None

    @classmethod
    def of(cls, server: str, entries: Sequence[Entry], *, more: bool) -> Self:
        """The page of these versions; the next page begins below its last sequence number."""
        cursor = str(entries[-1].sequence) if more else None
        return cls(server=server, versions=[VersionOut.of(entry) for entry in entries], next_cursor=cursor)


class ProblemOut(Document):
    """An error (RFC 9457). Programs compare `code`, people read `detail` and `remedy`."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    remedy: str


class AliveOut(Document):
    """The service runs."""

    status: str


def read_submission(body: bytes, settings: Settings) -> Submission:
    """The two documents that a body carries.

    Raises:
        InvalidInput: `bad-submission`, if it is not an object with exactly the two strings, or not base64;
            `too-large`, if one of them exceeds its limit; else that of the strict parser.
    """
    value: Any = parse(body, max_bytes=settings.body_bytes)
    if not isinstance(value, dict) or set(value) != {"manifest", "bundle"}:
        raise InvalidInput("bad-submission", "expected an object with manifest and bundle, and nothing else")
    return Submission(
        manifest=_part(value["manifest"], "manifest", settings.manifest_bytes),
        bundle=_part(value["bundle"], "bundle", settings.bundle_bytes),
    )


def _part(text: object, name: str, limit: int) -> bytes:
    if not isinstance(text, str):
        raise InvalidInput("bad-submission", f"{name}: expected a string in base64")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("bad-submission", f"{name}: not base64") from None
    if len(content) > limit:
        raise InvalidInput("too-large", f"{name}: got {len(content)} bytes, at most {limit} are taken")
    return content
