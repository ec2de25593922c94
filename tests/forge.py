# SPDX-License-Identifier: Apache-2.0
"""Statements and bundles as a test wants them: with fixed keys, and with whatever a forger would change."""

import base64
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from toolnotary_verifier.canonical import canonical_bytes, parse_message
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.envelope import pre_authentication_encoding
from toolnotary_verifier.keys import PublicKey
from toolnotary_verifier.manifest import Artifact, Manifest, Profile
from toolnotary_verifier.statement import PAYLOAD_TYPE, PUBLISH, STATEMENT_TYPE
from toolnotary_verifier.surface import Surface, assemble

SERVER = "io.github.acme/weather"
VERSION = "1.4.0"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class FixedKey:
    """A key that is the same in every run, and signs the same message the same way; for tests alone."""

    def __init__(self, algorithm: str, number: int) -> None:
        self.algorithm = algorithm
        self._ed = ed25519.Ed25519PrivateKey.from_private_bytes(number.to_bytes(32, "big"))
        self._ec = ec.derive_private_key(number, ec.SECP256R1())
        self._key: Any = self._ed if algorithm == "ed25519" else self._ec
        spki = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.public = PublicKey.from_spki(spki)

    @property
    def pem(self) -> bytes:
        encoded: bytes = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return encoded

    def sign(self, message: bytes) -> bytes:
        if self.algorithm == "ed25519":
            return self._ed.sign(message)
        return self._ec.sign(message, ec.ECDSA(SHA256(), deterministic_signing=True))


PUBLISHER = FixedKey("ed25519", 0x746F6F6C6E6F74617279)
SECOND = FixedKey("ecdsa-p256-sha256", 0x746F6F6C6E6F74617279)
STRANGER = FixedKey("ed25519", 0x7374616E676572)
KEYS = {key.public.key_id: key.public for key in (PUBLISHER, SECOND)}


def tool(name: str, **members: Any) -> dict[str, Any]:
    """A tool definition."""
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def surface(*tools: dict[str, Any], instructions: str | None = None, **members: Any) -> Surface:
    """A surface with these tools, read from JSON as every listing is."""
    listed = parse_message(json.dumps(tools).encode())
    return assemble({Kind.TOOL: listed}, instructions=instructions, protocol_version="2026-07-28", **members)


def weather(*, server: str = SERVER, version: str = VERSION) -> Manifest:
    """The manifest that tests sign: two profiles, one tool that differs between them."""
    now = surface(
        tool("get_forecast", description="Tells the weather of tomorrow."),
        tool("get_alerts", description="Tells what to beware of."),
        instructions="Ask for a place first.",
    )
    before = assemble(
        {
            Kind.TOOL: [
                tool(
                    "get_forecast",
                    description="Tells the weather of tomorrow.",
                    execution={"taskSupport": "optional"},
                ),
                tool("get_alerts", description="Tells what to beware of."),
            ]
        },
        instructions="Ask for a place first.",
        protocol_version="2025-06-18",
    )
    profiles = {
        "default": (Profile.of(now, transport="stdio"), now),
        "legacy": (Profile.of(before, transport="stdio"), before),
    }
    return Manifest.build(
        server=server,
        version=version,
        profiles=profiles,
        artifacts=[Artifact("pkg:npm/%40acme/weather@1.4.0")],
        remotes=["https://mcp.acme.example/mcp"],
    )


def statement(manifest: Manifest, **predicate: Any) -> dict[str, Any]:
    """A publish statement about `manifest`; a predicate member given as None is left out."""
    said = {
        "server": manifest.server,
        "version": manifest.version,
        "sequence": 1,
        "issuedAt": "2026-11-30T11:00:00Z",
        **predicate,
    }
    return {
        "_type": STATEMENT_TYPE,
        "predicateType": PUBLISH,
        "subject": [
            {
                "name": f"pkg:mcp/{manifest.server}@{manifest.version}",
                "digest": {"sha256": manifest.digest.hex},
            }
        ],
        "predicate": {name: value for name, value in said.items() if value is not None},
    }


def document(
    payload: bytes | dict[str, Any],
    *signers: FixedKey,
    payload_type: str = PAYLOAD_TYPE,
    signed_type: str | None = None,
    key_id: str | None = None,
    hint: str | None = None,
) -> dict[str, Any]:
    """A bundle over `payload` as a JSON value, signed by PUBLISHER where nobody else is named.

    `signed_type` is the payload type that the signature covers, `key_id` and `hint` what the bundle claims.
    """
    content = payload if isinstance(payload, bytes) else canonical_bytes(payload)
    message = pre_authentication_encoding(signed_type or payload_type, content)
    keys = signers or (PUBLISHER,)
    claimed = key_id or keys[0].public.key_id
    signatures = [
        {"keyid": key_id or key.public.key_id, "sig": base64.b64encode(key.sign(message)).decode()}
        for key in keys
    ]
    return {
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": hint or claimed}, "tlogEntries": []},
        "dsseEnvelope": {
            "payload": base64.b64encode(content).decode(),
            "payloadType": payload_type,
            "signatures": signatures,
        },
    }


def bundle(payload: bytes | dict[str, Any], *signers: FixedKey, **claims: Any) -> bytes:
    """The same as bytes."""
    return json.dumps(document(payload, *signers, **claims)).encode()


def mutations(raw: bytes, positions: Iterable[int], step: int = 1) -> Iterable[bytes]:
    """`raw` with one byte changed, at each of these positions."""
    for position in positions:
        changed = bytearray(raw)
        changed[position] = (changed[position] + step) % 256
        yield bytes(changed)
