# SPDX-License-Identifier: Apache-2.0
"""Private keys in PEM files: PKCS#8 (RFC 5958), encrypted with a passphrase unless asked otherwise."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from toolnotary_verifier.errors import ConfigurationError, InvalidInput, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.files import beside, unwritable
from toolnotary_verifier.keys import Algorithm, PublicKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_MAX_PEM = 8192  # bytes; an encrypted P-256 key in PEM has about 400
_MAKE_ONE = "make one with toolnotary keygen"


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key held in memory; neither `repr` nor any message shows it.

    Attributes:
        public: its public half.
    """

    public: PublicKey
    _key: "Ed25519PrivateKey | EllipticCurvePrivateKey" = field(repr=False, compare=False)

    @classmethod
    def generate(cls, algorithm: Algorithm) -> Self:
        """A new key from the operating system's randomness."""
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519

        if algorithm == "ed25519":
            return cls._of(ed25519.Ed25519PrivateKey.generate())
        return cls._of(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def from_pem(cls, pem: bytes, *, passphrase: bytes | None = None) -> Self:
        """The key in a PEM file.

        Raises:
            InvalidInput: `key-file` if it is no private key in PEM, `key-algorithm`.
            Refused: `wrong-passphrase`.
            ConfigurationError: `passphrase-needed`.
        """
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        encrypted = is_encrypted(pem)
        if encrypted and passphrase is None:
            raise ConfigurationError(
                "passphrase-needed",
                "the key file is encrypted and no passphrase was given",
                remedy="give the passphrase that it was made with",
            )
        try:
            key = load_pem_private_key(pem, passphrase if encrypted else None)
        except UnsupportedAlgorithm:
            raise _other_algorithm() from None
        except (ValueError, TypeError):
            # A damaged file and a wrong passphrase look the same: decryption yields noise.
            if encrypted:
                raise Refused(
                    "wrong-passphrase",
                    "the passphrase does not open the key file",
                    remedy="run the command again; nobody can open a key whose passphrase is lost",
                ) from None
            message = "the file holds no private key that can be read"
            raise InvalidInput("key-file", message, remedy=_MAKE_ONE) from None
        if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
            return cls._of(key)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            return cls._of(key)
        raise _other_algorithm()

    @classmethod
    def _of(cls, key: "Ed25519PrivateKey | EllipticCurvePrivateKey") -> Self:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        spki = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return cls(PublicKey.from_spki(spki), key)

    def to_pem(self, *, passphrase: bytes | None) -> bytes:
        """The key as PKCS#8 in PEM, encrypted with `passphrase`, or in the clear for None."""
        from cryptography.hazmat.primitives.serialization import (
            BestAvailableEncryption,
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        protection = NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase)
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection)

    def sign(self, message: bytes) -> bytes:
        """The signature of `message`: 64 bytes for Ed25519, DER for ECDSA with SHA-256."""
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.hashes import SHA256

        if isinstance(self._key, ed25519.Ed25519PrivateKey):
            return self._key.sign(message)
        return self._key.sign(message, ec.ECDSA(SHA256()))


def is_encrypted(pem: bytes) -> bool:
    """Whether a private key in PEM needs a passphrase, PKCS#8 or the older OpenSSL forms.

    Raises:
        InvalidInput: `key-file` if it is no private key in PEM.
    """
    if len(pem) > _MAX_PEM or b"PRIVATE KEY-----" not in pem:
        public = b"PUBLIC KEY-----" in pem
        raise InvalidInput(
            "key-file",
            "the file holds a public key, expected a private one"
            if public
            else "the file holds no private key in PEM",
            remedy="give the .key file beside it" if public else _MAKE_ONE,
        )
    return b"ENCRYPTED" in pem


def _other_algorithm() -> InvalidInput:
    return InvalidInput("key-algorithm", "the key is neither Ed25519 nor ECDSA P-256", remedy=_MAKE_ONE)


def _write_new(path: Path, content: bytes, *, mode: int) -> None:
    """Write a file that must not exist yet, with these permissions from its first moment on."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags, mode)
    except FileExistsError:
        shown = escape(str(path), limit=300)
        raise ConfigurationError(
            "file-exists", f"{shown} exists; a key file is never overwritten", remedy="choose another name"
        ) from None
    except OSError as error:
        raise unwritable(path, error, "no key was written") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise unwritable(path, error, "no key was written") from None


def write_pair(name: Path, key: PrivateKey, *, passphrase: bytes | None) -> tuple[Path, Path]:
    """Write `NAME.key` (0600) and `NAME.pub`; neither may exist, and both are written or none.

    Returns:
        The two paths.

    Raises:
        ConfigurationError: `file-exists`, `file-not-writable`.
    """
    private, public = beside(name, ".key"), beside(name, ".pub")
    _write_new(public, key.public.to_pem(), mode=0o644)
    try:
        _write_new(private, key.to_pem(passphrase=passphrase), mode=0o600)
    except ConfigurationError:
        public.unlink(missing_ok=True)
        raise
    return private, public
