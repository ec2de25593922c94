# SPDX-License-Identifier: Apache-2.0
"""A publisher for tests: a key, and releases signed with it, good ones and ones that lie."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from toolnotary_verifier.bundle import Bundle
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.envelope import Envelope, pre_authentication_encoding
from toolnotary_verifier.keys import PublicKey
from toolnotary_verifier.manifest import Artifact, Manifest, Profile, UnnamedManifest
from toolnotary_verifier.statement import PAYLOAD_TYPE, PublishPredicate, Statement
from toolnotary_verifier.surface import assemble

SERVER = "io.github.acme/weather"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Release:
    """A signed manifest, as two files hold it."""

    manifest: bytes
    bundle: bytes

    @property
    def digest(self) -> Digest:
        return Digest.of(self.manifest)

    @property
    def submission(self) -> dict[str, str]:
        """The body of a publication."""
        return {
            "manifest": base64.b64encode(self.manifest).decode(),
            "bundle": base64.b64encode(self.bundle).decode(),
        }


def manifest(
    server: str = SERVER,
    version: str = "1.0.0",
    description: str = "Tells the weather.",
    artifacts: Iterable[Artifact] = (),
    remotes: Iterable[str] = (),
) -> Manifest:
    """The manifest of a server with one tool."""
    tool = {"name": "get_forecast", "description": description, "inputSchema": {"type": "object"}}
    surface = assemble({Kind.TOOL: [tool]}, inspected=[Kind.TOOL], protocol_version="2025-11-25")
    unnamed = UnnamedManifest.build(profiles={"default": (Profile.of(surface, transport="stdio"), surface)})
    return unnamed.named(server=server, version=version, artifacts=artifacts, remotes=remotes)


class Publisher:
    """Someone with an Ed25519 key."""

    def __init__(self) -> None:
        self._key = Ed25519PrivateKey.generate()
        self.pem = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        self.public_key = PublicKey.from_pem(self.pem)

    def release(
        self,
        version: str = "1.0.0",
        *,
        sequence: int = 1,
        server: str = SERVER,
        description: str = "Tells the weather.",
        artifacts: Iterable[Artifact] = (),
        issued_at: datetime = NOW,
        expires_at: datetime | None = None,
    ) -> Release:
        """A version of the server, signed."""
        made = manifest(server, version, description, artifacts)
        return self.sign(made, sequence=sequence, issued_at=issued_at, expires_at=expires_at)

    def sign(
        self,
        made: Manifest,
        *,
        sequence: int,
        issued_at: datetime = NOW,
        expires_at: datetime | None = None,
    ) -> Release:
        """This manifest, signed."""
        predicate = PublishPredicate(
            server=made.server,
            version=made.version,
            sequence=sequence,
            issued_at=issued_at,
            expires_at=expires_at,
        )
        payload = Statement.build(predicate, manifest=made.digest).payload
        signature = self._key.sign(pre_authentication_encoding(PAYLOAD_TYPE, payload))
        envelope = Envelope(
            payload_type=PAYLOAD_TYPE, payload=payload, key_id=self.public_key.key_id, signature=signature
        )
        return Release(made.canonical, Bundle(envelope, self.public_key.key_id).to_json())
