# SPDX-License-Identifier: Apache-2.0
"""Sigstore bundle v0.3 in key mode: a DSSE envelope and the hint of the key that made it.

Format: https://github.com/sigstore/protobuf-specs (sigstore_bundle.proto, version 0.3), JSON form; what we
accept of it: docs/spec/statement-and-bundle.md. Whatever this release does not verify (certificates, log
entries, timestamps) is refused rather than ignored: evidence that nobody looked at must not look like
evidence.
"""

from dataclasses import dataclass
from typing import Self

from toolnotary_verifier.canonical import JsonObject, canonical_bytes, parse
from toolnotary_verifier.envelope import Envelope
from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.shape import array, members, text

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_CERTIFICATES = ("certificate", "x509CertificateChain")


@dataclass(frozen=True, slots=True)
class Bundle:
    """An envelope with what a verifier needs to find the key; nothing about it is verified yet.

    Attributes:
        envelope: the signed payload.
        key_hint: `verificationMaterial.publicKey.hint`, which must equal the envelope's key id.
    """

    envelope: Envelope
    key_hint: str

    @classmethod
    def parse(cls, raw: bytes, *, limits: Limits = DEFAULT_LIMITS) -> Self:
        """The bundle in these bytes.

        Raises:
            CanonicalError: the bytes are not strict JSON, or too large.
            InvalidInput: `bundle-media-type`, `bundle-shape`, `envelope-shape`.
            Refused: `certificate-bundle-unsupported`, `bundle-evidence-unsupported`, `signature-count`.
        """
        document = parse(raw, max_bytes=limits.bundle_bytes)
        if not isinstance(document, dict):
            raise InvalidInput("bundle-shape", "the bundle is not an object")
        media_type = document.get("mediaType")
        if media_type != MEDIA_TYPE:
            shown = escape(media_type, limit=80) if isinstance(media_type, str) else "none"
            raise InvalidInput("bundle-media-type", f"got the media type {shown}, expected {MEDIA_TYPE}")
        required = ("mediaType", "verificationMaterial", "dsseEnvelope")
        members(document, "the bundle", code="bundle-shape", required=required)
        return cls(Envelope.parse(document["dsseEnvelope"]), _key_hint(document["verificationMaterial"]))

    def to_json(self) -> bytes:
        """The bundle as canonical JSON."""
        document: JsonObject = {
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": {"publicKey": {"hint": self.key_hint}, "tlogEntries": []},
            "dsseEnvelope": self.envelope.to_json(),
        }
        return canonical_bytes(document)


def _key_hint(value: object) -> str:
    where = "verificationMaterial"
    if isinstance(value, dict) and any(name in value for name in _CERTIFICATES):
        raise Refused(
            "certificate-bundle-unsupported",
            "the bundle was signed with a certificate, which this release cannot verify",
            remedy="ask the publisher for a bundle signed with a key",
        )
    optional = ("tlogEntries", "timestampVerificationData")
    material = members(value, where, code="bundle-shape", required=("publicKey",), optional=optional)
    name = "timestampVerificationData"
    stamps = members(material.get(name, {}), name, code="bundle-shape", optional=("rfc3161Timestamps",))
    for evidence in (material.get("tlogEntries", []), stamps.get("rfc3161Timestamps", [])):
        if array(evidence, f"evidence in {where}", code="bundle-shape"):
            raise Refused(
                "bundle-evidence-unsupported",
                "the bundle carries log entries or timestamps, which this release cannot verify for keys",
                remedy="sign without a log",
            )
    key = members(material["publicKey"], "publicKey", code="bundle-shape", required=("hint",))
    return text(key["hint"], "hint", code="bundle-shape", most=255)
