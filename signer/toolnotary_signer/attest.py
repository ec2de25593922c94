# SPDX-License-Identifier: Apache-2.0
"""Signing a manifest: statement, envelope, bundle, and the proof that a verifier accepts them."""

from datetime import datetime
from typing import Protocol

from toolnotary_verifier.bundle import Bundle
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.envelope import Envelope, pre_authentication_encoding
from toolnotary_verifier.keys import PublicKey
from toolnotary_verifier.manifest import Manifest
from toolnotary_verifier.statement import PAYLOAD_TYPE, PublishPredicate, Source, Statement
from toolnotary_verifier.verify import verify_publish


class SigningKey(Protocol):
    """Whatever can sign: a key file today; a KMS or hardware token has the same two members."""

    @property
    def public(self) -> PublicKey:
        """The key that verifies what `sign` makes."""

    def sign(self, message: bytes) -> bytes:
        """The signature of `message`, in the form that `PublicKey.verify` takes."""


def sign_manifest(
    manifest: Manifest,
    key: SigningKey,
    *,
    sequence: int,
    issued_at: datetime,
    supersedes: Digest | None = None,
    expires_at: datetime | None = None,
    source: Source | None = None,
) -> Bundle:
    """A bundle in which `key` publishes `manifest`; it was verified before it is returned.

    Args:
        manifest: what is published.
        key: the publisher's key.
        sequence: one more than that of the last statement about this server, 1 for the first.
        issued_at: now, with a time zone; stored in whole seconds.
        supersedes: the digest of the manifest before.
        expires_at: from when on nobody should accept it, None for never.
        source: where the release was made.

    Raises:
        InvalidInput: `sequence`, `statement-predicate`.
        Refused: the key did not sign what it was given (a broken or exchanged token): the verifier's code.
    """
    predicate = PublishPredicate(
        server=manifest.server,
        version=manifest.version,
        sequence=sequence,
        issued_at=issued_at,
        supersedes=supersedes,
        expires_at=expires_at,
        source=source,
    )
    statement = Statement.build(predicate, manifest=manifest.digest)
    public = key.public
    envelope = Envelope(
        payload_type=PAYLOAD_TYPE,
        payload=statement.payload,
        key_id=public.key_id,
        signature=key.sign(pre_authentication_encoding(PAYLOAD_TYPE, statement.payload)),
    )
    bundle = Bundle(envelope, public.key_id)
    # Nothing that its own verifier would refuse leaves this function; a release is not the place to find out.
    verify_publish(
        manifest.canonical,
        bundle.to_json(),
        trusted={public.key_id: public},
        at=issued_at,
        server=manifest.server,
        version=manifest.version,
    )
    return bundle
