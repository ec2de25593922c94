# SPDX-License-Identifier: Apache-2.0
"""Manifest, bundle, keys that policy names and a time in; a `VerifiedManifest` out, or one refusal.

Pure: no file, no socket, no clock. The steps are those of docs/spec/statement-and-bundle.md, in its order;
each has its own code. No byte of the payload is read before its signature is verified, none of the manifest
before its digest is found in the payload.
"""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from datetime import datetime

from toolnotary_verifier.bundle import Bundle
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.envelope import Envelope
from toolnotary_verifier.errors import ConfigurationError, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.keys import PublicKey, is_key_id
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.manifest import Manifest
from toolnotary_verifier.naming import subject_name
from toolnotary_verifier.statement import PAYLOAD_TYPE, Statement, time_text

_SEAL = object()
_ONE_PUBLICATION = "take manifest and bundle of one publication, byte for byte"


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed.

    Attributes:
        identity: `key:` and the key's id; what lockfiles pin and policy names.
    """

    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedManifest:
    """A manifest with a publish statement that a trusted key signed; only `verify_publish` makes one.

    Attributes:
        manifest: what the server advertises.
        statement: what the publisher said about it, with the bytes that were signed.
        signer: who said it.
    """

    manifest: Manifest
    statement: Statement
    signer: Signer
    # Not a field: `dataclasses.replace` cannot carry the seal over to another manifest.
    seal: InitVar[object]

    def __post_init__(self, seal: object) -> None:
        """Refuse to be made anywhere else.

        Raises:
            TypeError: the caller is not `verify_publish`.
        """
        if seal is not _SEAL:
            raise TypeError("only verify_publish makes a VerifiedManifest")

    @property
    def sequence(self) -> int:
        """The position in the server's history."""
        return self.statement.predicate.sequence


def verify_publish(
    manifest: bytes,
    bundle: bytes,
    *,
    trusted: Mapping[str, PublicKey],
    at: datetime,
    server: str | None = None,
    version: str | None = None,
    already_pinned: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> VerifiedManifest:
    """What `bundle` proves about `manifest`.

    Args:
        manifest: the manifest's bytes.
        bundle: the bundle's bytes.
        trusted: the keys that may publish this server, by key id, as policy gives them.
        at: now, with a time zone.
        server: the server that was asked for, None where any will do (`trusted` then bounds nothing by name).
        version: the version that was asked for.
        already_pinned: the manifest was accepted before; its expiry bounds accepting, not pins that exist.
        limits: bounds on sizes.

    Raises:
        CanonicalError: bundle, payload or manifest are not strict JSON, or too large.
        InvalidInput: bundle, statement or manifest have another shape.
        Refused: one code a step, see docs/spec/statement-and-bundle.md.
        ConfigurationError: `trusted-key-id` if `trusted` files a key under another key's id.
        ValueError: `at` has no time zone.
    """
    if at.tzinfo is None:
        raise ValueError("a time without a zone means another moment on every machine")
    # 1. A bundle v0.3 in key mode with exactly one signature.
    parsed = Bundle.parse(bundle, limits=limits)
    # 2. The payload is an in-toto statement.
    _in_toto(parsed.envelope)
    # 3. to 5. The signature is that of the trusted key which the bundle names.
    key = _signing_key(parsed, trusted)
    # 6. to 8. The verified bytes, and they alone, are a publish statement about one manifest.
    statement = Statement.parse(parsed.envelope.payload)
    # 9. The statement is about these bytes.
    _about(statement, manifest)
    # 10. The bytes are a manifest.
    content = Manifest.parse(manifest, limits=limits)
    # 11. and 12. Statement and manifest name one server and version, the one that was asked for.
    _same_server(statement, content)
    _asked_for(content, server, version)
    # 13. It is not too late to accept it.
    if not already_pinned:
        _in_time(statement, at)
    return VerifiedManifest(
        manifest=content, statement=statement, signer=Signer(f"key:{key.key_id}"), seal=_SEAL
    )


def _in_toto(envelope: Envelope) -> None:
    if envelope.payload_type != PAYLOAD_TYPE:
        shown = escape(envelope.payload_type, limit=120)
        message = f"got payload type {shown}, expected {PAYLOAD_TYPE}"
        raise Refused("payload-type", message, remedy="give the bundle that toolnotary sign wrote")


def _about(statement: Statement, manifest: bytes) -> None:
    said, digest = statement.manifest_digest, Digest.of(manifest)
    if said != digest:
        raise Refused(
            "subject-digest",
            f"the statement is about {said}, the manifest is {digest}",
            remedy=_ONE_PUBLICATION,
        )


def _in_time(statement: Statement, at: datetime) -> None:
    expires_at = statement.predicate.expires_at
    if expires_at is not None and at >= expires_at:
        raise Refused(
            "expired",
            f"the statement expired at {time_text(expires_at)}, now is {time_text(at)}",
            remedy="ask the publisher for a new statement, or correct this machine's clock",
        )


def _signing_key(bundle: Bundle, trusted: Mapping[str, PublicKey]) -> PublicKey:
    envelope: Envelope = bundle.envelope
    # 3. One key id, in both places (sigstore protobuf-specs: PublicKeyIdentifier).
    if bundle.key_hint != envelope.key_id or not is_key_id(envelope.key_id):
        raise Refused(
            "key-hint-mismatch",
            f"the bundle names the key {escape(bundle.key_hint, limit=80)}, its signature "
            f"{escape(envelope.key_id, limit=80)}; expected one id of the form sha256:HEX in both",
        )
    # 4. A key that policy names. The id is only a hint: the key itself comes from policy.
    key = trusted.get(envelope.key_id)
    if key is None:
        raise Refused(
            "unknown-key",
            f"signed by {envelope.key_id}{_among(len(trusted))}",
            remedy="if the publisher confirms this key id elsewhere, name the key in policy or with --key",
        )
    if key.key_id != envelope.key_id:
        raise ConfigurationError("trusted-key-id", f"{key.key_id} is filed under {envelope.key_id}")
    # 5. Its signature, by its own algorithm, over payload type and payload.
    if not envelope.is_signed_by(key):
        raise Refused(
            "signature-invalid",
            f"this is no signature of {key.key_id} over this statement",
            remedy="fetch the bundle anew; if it stays so, somebody changed it: ask the publisher",
        )
    return key


def _among(count: int) -> str:
    if count == 0:
        return "; no key is named that may sign for it"
    return (
        ", which is "
        + (f"none of the {count} keys" if count > 1 else "not the key")
        + " that may sign for it"
    )


def _same_server(statement: Statement, manifest: Manifest) -> None:
    predicate = statement.predicate
    expected = subject_name(manifest.server, manifest.version)
    if statement.subject != expected:
        shown = escape(statement.subject, limit=300)
        raise Refused("subject-name", f"the subject is {shown}, expected {expected}", remedy=_ONE_PUBLICATION)
    for code, said, holds in (
        ("predicate-server", predicate.server, manifest.server),
        ("predicate-version", predicate.version, manifest.version),
    ):
        if said != holds:
            message = f"the statement says {said}, the manifest {holds}"
            raise Refused(code, message, remedy=_ONE_PUBLICATION)


def _asked_for(manifest: Manifest, server: str | None, version: str | None) -> None:
    for code, asked, got in (
        ("other-server", server, manifest.server),
        ("other-version", version, manifest.version),
    ):
        if asked is not None and asked != got:
            message = f"asked for {escape(asked, limit=300)}, this is {got}"
            raise Refused(code, message, remedy="take the files of the publication that is meant")
