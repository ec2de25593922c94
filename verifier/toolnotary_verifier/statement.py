# SPDX-License-Identifier: Apache-2.0
"""in-toto Statement v1 about one manifest, and the publish predicate v1 (docs/spec/statement-and-bundle.md).

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md. A statement keeps the bytes that were
signed and is read from them alone. Statement and subject hold exactly the members below; unknown members of
the predicate are ignored, as in-toto asks of consumers: whatever would restrict acceptance gets a new
predicate type.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue, canonical_bytes, parse, plain
from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.naming import server_name, server_version, subject_name
from toolnotary_verifier.shape import array, members, text

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PUBLISH = "https://toolnotary.dev/attestation/publish/v1"

# Every reader's number type holds it exactly (RFC 8259 section 6).
MAX_SEQUENCE = 2**53 - 1
_SOURCE = ("repository", "commit", "workflow", "run")
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z", re.ASCII)


def time_text(moment: datetime) -> str:
    """RFC 3339 in UTC, whole seconds: `2026-11-30T12:00:00Z`.

    Raises:
        ValueError: `moment` has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a zone means another moment on every machine")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def time_of(value: JsonValue, where: str) -> datetime:
    """The moment that `value` spells as `time_text` does.

    Raises:
        InvalidInput: `statement-predicate`.
    """
    if isinstance(value, str) and (match := _TIME.fullmatch(value)):
        year, month, day, hour, minute, second = (int(digits) for digits in match.groups())
        try:
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            pass  # a day or hour that no calendar has
    raise InvalidInput("statement-predicate", f"{where} is not a time like 2026-11-30T12:00:00Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a release was made; said by the publisher, checked by nobody in key mode.

    Attributes:
        repository: URL of the repository.
        commit: hash of the commit.
        workflow: path of the workflow that built it.
        run: URL or number of that workflow's run.
    """

    repository: str | None = None
    commit: str | None = None
    workflow: str | None = None
    run: str | None = None

    @classmethod
    def parse(cls, value: JsonValue) -> Self:
        """The source that a predicate names; members unknown to this release are ignored.

        Raises:
            InvalidInput: `statement-predicate`.
        """
        entry = members(value, "source", code="statement-predicate", optional=None)
        known = {name: entry[name] for name in _SOURCE if name in entry}
        for name, said in known.items():
            text(said, f"source.{name}", code="statement-predicate", most=2048)
        return cls(**known)

    def to_json(self) -> JsonObject:
        """The member `source`."""
        return {name: said for name in _SOURCE if (said := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishPredicate:
    """What a publisher says about a manifest.

    Attributes:
        server: the server's name.
        version: its version.
        sequence: 1 or more, increasing with every statement about this server.
        issued_at: when it was made; decides no order and no key's validity.
        supersedes: the digest of the manifest before.
        expires_at: from when on nobody should accept it; pins that exist stay.
        source: where the release was made.
    """

    server: str
    version: str
    sequence: int
    issued_at: datetime
    supersedes: Digest | None = None
    expires_at: datetime | None = None
    source: Source | None = None

    @classmethod
    def parse(cls, value: JsonValue) -> Self:
        """The predicate that a parsed value is.

        Raises:
            InvalidInput: `statement-predicate`, `sequence`, `server-name`, `server-version`, `bad-digest`.
        """
        code = "statement-predicate"
        required = ("server", "version", "sequence", "issuedAt")
        entry = members(value, "the predicate", code=code, required=required, optional=None)
        sequence = plain(entry["sequence"])
        if isinstance(sequence, bool) or not isinstance(sequence, int) or not 1 <= sequence <= MAX_SEQUENCE:
            raise InvalidInput("sequence", f"the sequence is not an integer from 1 to {MAX_SEQUENCE}")
        issued_at = time_of(entry["issuedAt"], "issuedAt")
        expires_at = time_of(entry["expiresAt"], "expiresAt") if "expiresAt" in entry else None
        if expires_at is not None and expires_at <= issued_at:
            raise InvalidInput(code, "the statement expires before it was issued")
        return cls(
            server=server_name(entry["server"]),
            version=server_version(entry["version"]),
            sequence=sequence,
            issued_at=issued_at,
            supersedes=Digest.from_text(entry["supersedes"]) if "supersedes" in entry else None,
            expires_at=expires_at,
            source=Source.parse(entry["source"]) if "source" in entry else None,
        )

    def to_json(self) -> JsonObject:
        """The predicate as a JSON value; what is absent is left out."""
        document: JsonObject = {
            "server": self.server,
            "version": self.version,
            "sequence": self.sequence,
            "issuedAt": time_text(self.issued_at),
        }
        if self.supersedes is not None:
            document["supersedes"] = str(self.supersedes)
        if self.expires_at is not None:
            document["expiresAt"] = time_text(self.expires_at)
        if self.source is not None:
            document["source"] = self.source.to_json()
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement about one manifest, as signed.

    Attributes:
        payload: the bytes that were signed.
        subject: the subject's name, compared and never taken apart.
        manifest_digest: the digest of the manifest's bytes.
        predicate_type: the type of the predicate.
        predicate: the predicate as parsed.
    """

    payload: bytes = field(repr=False)
    subject: str
    manifest_digest: Digest
    predicate_type: str
    predicate: PublishPredicate

    @classmethod
    def parse(cls, payload: bytes, *, predicate_type: str = PUBLISH) -> Self:
        """The statement in a verified payload.

        Raises:
            CanonicalError: the payload is not strict JSON.
            Refused: `statement-type`, `predicate-type`: something else was signed.
            InvalidInput: `statement-shape`, `statement-subject`, `statement-predicate`, `sequence`,
                `server-name`, `server-version`, `bad-digest`.
        """
        document = members(parse(payload), "the statement", code="statement-shape", optional=None)
        for member, code, expected in (
            ("_type", "statement-type", STATEMENT_TYPE),
            ("predicateType", "predicate-type", predicate_type),
        ):
            got = document.get(member)
            if got != expected:
                shown = escape(got, limit=120) if isinstance(got, str) else "none"
                raise Refused(code, f"got {member} {shown}, expected {expected}")
        required = ("_type", "subject", "predicateType", "predicate")
        members(document, "the statement", code="statement-shape", required=required)
        subject, digest = _subject(document["subject"])
        return cls(
            payload=payload,
            subject=subject,
            manifest_digest=digest,
            predicate_type=predicate_type,
            predicate=PublishPredicate.parse(document["predicate"]),
        )

    @classmethod
    def build(cls, predicate: PublishPredicate, *, manifest: Digest) -> Self:
        """The statement of `predicate` about the manifest with this digest, its payload in canonical form."""
        subject = {
            "name": subject_name(predicate.server, predicate.version),
            "digest": {"sha256": manifest.hex},
        }
        document: JsonObject = {
            "_type": STATEMENT_TYPE,
            "subject": [subject],
            "predicateType": PUBLISH,
            "predicate": predicate.to_json(),
        }
        return cls.parse(canonical_bytes(document))


def _subject(value: JsonValue) -> tuple[str, Digest]:
    code = "statement-subject"
    subjects = array(value, "subject", code=code)
    if len(subjects) != 1:
        raise InvalidInput(code, f"the statement has {len(subjects)} subjects, exactly one is accepted")
    subject = members(subjects[0], "the subject", code=code, required=("name", "digest"))
    digests = members(subject["digest"], "the subject's digest", code=code, required=("sha256",))
    name = text(subject["name"], "the subject's name", code=code)
    sha256 = digests["sha256"]
    if not isinstance(sha256, str):
        raise InvalidInput(code, "the subject's sha256 is not a string")
    return name, Digest.from_text(f"sha256:{sha256}")
