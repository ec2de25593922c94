# SPDX-License-Identifier: Apache-2.0
"""Public keys: Ed25519 (RFC 8032) and ECDSA P-256 with SHA-256 (FIPS 186-5), and nothing else.

One key has one id, `sha256:` and the hex digest of its DER SubjectPublicKeyInfo (RFC 5280), so one key must
have one encoding: a PEM whose DER is not what we would write is refused. The algorithm is the key's own;
nothing in a signature or envelope can choose it.
"""

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Literal, Self

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import InvalidInput

Algorithm = Literal["ed25519", "ecdsa-p256-sha256"]

_MAX_PEM = 4096  # bytes; a P-256 key in PEM has 178
_PEM = re.compile(rb"\s*-----BEGIN PUBLIC KEY-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END PUBLIC KEY-----\s*")
_KEY_ID = re.compile(r"sha256:[0-9a-f]{64}")
_FIELD = 2**255 - 19
# The y coordinates of the points of order 1, 2, 4 and 8: under such a key anyone can make signatures.
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = frozenset({0, 1, _FIELD - 1, _ORDER_8, _FIELD - _ORDER_8})


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key of one of the two algorithms; equality is that of the encoded key.

    Attributes:
        algorithm: what its signatures are.
        key_id: `sha256:` and the hex digest of `spki`.
        spki: the DER SubjectPublicKeyInfo.
    """

    algorithm: Algorithm
    key_id: str
    spki: bytes = field(repr=False)

    @classmethod
    def from_pem(cls, pem: bytes) -> Self:
        """The key in a PEM file that holds one `PUBLIC KEY` block and nothing else.

        Raises:
            InvalidInput: `key-private` if it is a private key, `key-pem` if it is not one such block,
                `key-algorithm`, `key-encoding`, `key-weak`.
        """
        if len(pem) > _MAX_PEM:
            raise InvalidInput("key-pem", f"got {len(pem)} bytes, a public key has at most {_MAX_PEM}")
        if b"PRIVATE KEY" in pem:
            raise InvalidInput(
                "key-private",
                "this is a private key, expected a public one",
                remedy="give the .pub file beside it",
            )
        block = _PEM.fullmatch(pem)
        if block is None:
            raise InvalidInput("key-pem", "expected one PEM block PUBLIC KEY and nothing around it")
        try:
            spki = base64.b64decode(b"".join(block[1].split()), validate=True)
        except binascii.Error:
            raise InvalidInput("key-pem", "the PEM block is not base64") from None
        return cls.from_spki(spki)

    @classmethod
    def from_spki(cls, spki: bytes) -> Self:
        """The key in a DER SubjectPublicKeyInfo.

        Raises:
            InvalidInput: `key-algorithm`, `key-encoding`, `key-weak`.
        """
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

        try:
            key = load_der_public_key(spki)
        except UnsupportedAlgorithm:
            raise InvalidInput("key-algorithm", "the key is neither Ed25519 nor ECDSA P-256") from None
        except ValueError:
            raise InvalidInput("key-encoding", "the bytes are no public key") from None
        if isinstance(key, ed25519.Ed25519PublicKey):
            algorithm: Algorithm = "ed25519"
            _refuse_weak(key.public_bytes_raw())
        elif isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
            algorithm = "ecdsa-p256-sha256"
        else:
            raise InvalidInput("key-algorithm", "the key is neither Ed25519 nor ECDSA P-256")
        if key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) != spki:
            raise InvalidInput(
                "key-encoding",
                "the key is not in the one encoding that its id is made from",
                remedy="write it anew: openssl pkey -pubin -in KEY -ec_conv_form uncompressed",
            )
        return cls(algorithm, str(Digest.of(spki)), spki)

    def to_pem(self) -> bytes:
        """The key as a PEM block, lines of 64 characters (RFC 7468)."""
        text = base64.b64encode(self.spki)
        lines = [text[start : start + 64] for start in range(0, len(text), 64)]
        return b"\n".join([b"-----BEGIN PUBLIC KEY-----", *lines, b"-----END PUBLIC KEY-----", b""])

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Whether `signature` is this key's signature of `message`.

        Args:
            signature: 64 bytes for Ed25519, a DER SEQUENCE of r and s for ECDSA.
            message: the bytes that were signed, not their hash.
        """
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        key = load_der_public_key(self.spki)
        try:
            if self.algorithm == "ed25519" and isinstance(key, ed25519.Ed25519PublicKey):
                key.verify(signature, message)
                return True
            if self.algorithm == "ecdsa-p256-sha256" and isinstance(key, ec.EllipticCurvePublicKey):
                key.verify(signature, message, ec.ECDSA(SHA256()))
                return True
        except InvalidSignature:
            return False
        return False  # a key whose algorithm is not its own was not made by from_spki


def is_key_id(text: object) -> bool:
    """Whether `text` has the form of a key id."""
    return isinstance(text, str) and _KEY_ID.fullmatch(text) is not None


def _refuse_weak(point: bytes) -> None:
    y = int.from_bytes(point, "little") & ((1 << 255) - 1)
    if y >= _FIELD or y in _SMALL_ORDER:
        raise InvalidInput("key-weak", "the Ed25519 key is a point under which anyone can make signatures")
