# SPDX-License-Identifier: Apache-2.0
"""One key has one encoding and one id; only two algorithms exist."""

import base64
import hashlib

import forge
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from interpreter import printed_by

from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.keys import PublicKey, is_key_id

BOTH = pytest.mark.parametrize("key", [forge.PUBLISHER, forge.SECOND], ids=["ed25519", "p256"])
# RFC 8410 section 4: the DER prefix of an Ed25519 SubjectPublicKeyInfo.
ED25519_PREFIX = bytes.fromhex("302a300506032b6570032100")
P = 2**255 - 19


def pem_of(spki: bytes) -> bytes:
    return (
        b"-----BEGIN PUBLIC KEY-----\n"
        + base64.encodebytes(spki).replace(b"\n", b"")
        + b"\n-----END PUBLIC KEY-----\n"
    )


def code_of(pem: bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        PublicKey.from_pem(pem)
    return caught.value.code


@BOTH
def test_the_key_id_is_the_digest_of_the_subject_public_key_info(key: forge.FixedKey) -> None:
    assert key.public.key_id == "sha256:" + hashlib.sha256(key.public.spki).hexdigest()
    assert is_key_id(key.public.key_id)


@BOTH
def test_a_key_survives_its_pem(key: forge.FixedKey) -> None:
    pem = key.public.to_pem()
    assert PublicKey.from_pem(pem) == key.public
    assert PublicKey.from_pem(pem.replace(b"\n", b"\r\n")) == key.public
    assert all(len(line) <= 64 for line in pem.splitlines())


@BOTH
def test_a_signature_verifies_under_its_key_and_message_alone(key: forge.FixedKey) -> None:
    signature = key.sign(b"message")
    assert key.public.verify(signature, b"message")
    assert not key.public.verify(signature, b"massage")
    assert not forge.STRANGER.public.verify(signature, b"message")
    assert not key.public.verify(b"", b"message")
    assert not key.public.verify(signature + b"\0", b"message")
    for mutated in forge.mutations(signature, range(len(signature))):
        assert not key.public.verify(mutated, b"message")


def test_an_ed25519_signature_whose_scalar_is_not_reduced_is_refused() -> None:
    """RFC 8032 section 5.1.7: S must be below the group order, else every signature has a twin."""
    signature = forge.PUBLISHER.sign(b"message")
    order = 2**252 + 27742317777372353535851937790883648493
    scalar = int.from_bytes(signature[32:], "little") + order
    assert not forge.PUBLISHER.public.verify(signature[:32] + scalar.to_bytes(32, "little"), b"message")


def test_an_ecdsa_signature_in_other_der_is_refused() -> None:
    signature = forge.SECOND.sign(b"message")
    r, s = decode_dss_signature(signature)
    assert encode_dss_signature(r, s) == signature
    long_form = b"\x30\x81" + signature[1:]
    assert not forge.SECOND.public.verify(long_form, b"message")
    assert not forge.SECOND.public.verify(r.to_bytes(32, "big") + s.to_bytes(32, "big"), b"message")


def spki_of(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    "key",
    [
        rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key(),
        ec.generate_private_key(ec.SECP384R1()).public_key(),
        ec.generate_private_key(ec.SECP256K1()).public_key(),
        ed448.Ed448PrivateKey.generate().public_key(),
        x25519.X25519PrivateKey.generate().public_key(),
    ],
    ids=["rsa", "p384", "secp256k1", "ed448", "x25519"],
)
def test_a_key_of_another_algorithm_is_refused(key: PublicKeyTypes) -> None:
    assert code_of(pem_of(spki_of(key))) == "key-algorithm"


def test_a_compressed_point_is_refused_because_it_gives_the_key_a_second_id() -> None:
    public = ec.derive_private_key(7, ec.SECP256R1()).public_key()
    point = public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    # RFC 5480: AlgorithmIdentifier of id-ecPublicKey with prime256v1, then the BIT STRING.
    algorithm = bytes.fromhex("301306072a8648ce3d020106082a8648ce3d030107")
    spki = (
        b"\x30"
        + bytes([len(algorithm) + 3 + len(point)])
        + algorithm
        + b"\x03"
        + bytes([len(point) + 1])
        + b"\0"
        + point
    )
    assert code_of(pem_of(spki)) == "key-encoding"


@BOTH
def test_bytes_after_the_key_are_refused(key: forge.FixedKey) -> None:
    assert code_of(pem_of(key.public.spki + b"\0")) == "key-encoding"


def test_der_that_is_no_key_is_refused() -> None:
    assert code_of(pem_of(b"\x30\x03\x02\x01\x01")) == "key-encoding"


ORDER_8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)


@pytest.mark.parametrize("y", [1, 0, P - 1, ORDER_8, P - ORDER_8])
def test_the_points_that_are_refused_are_those_under_which_anyone_can_sign(y: int) -> None:
    """The signature (identity, 0) is nobody's work, and yet one message in eight or more verifies."""
    weak = ed25519.Ed25519PublicKey.from_public_bytes(y.to_bytes(32, "little"))
    nobodys = (1).to_bytes(32, "little") + bytes(32)

    def accepted(message: bytes) -> bool:
        try:
            weak.verify(nobodys, message)
        except InvalidSignature:
            return False
        return True

    assert any(accepted(b"message %d" % number) for number in range(200))


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("y", [0, 1, P - 1, P, P + 1, ORDER_8, P - ORDER_8, 2**255 - 1])
def test_an_ed25519_point_of_small_order_or_odd_encoding_is_refused(y: int, sign: int) -> None:
    """Under a key of small order a signature of any message verifies that nobody had to make."""
    assert code_of(pem_of(ED25519_PREFIX + (y | sign << 255).to_bytes(32, "little"))) == "key-weak"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda _: b"", "key-pem"),
        (lambda pem: pem + pem, "key-pem"),
        (lambda pem: b"# a comment\n" + pem, "key-pem"),
        (lambda pem: pem.replace(b"PUBLIC KEY", b"CERTIFICATE"), "key-pem"),
        (lambda pem: pem.replace(b"PUBLIC KEY", b"EC PUBLIC KEY"), "key-pem"),
        (lambda pem: pem[:-10], "key-pem"),
        (lambda pem: pem.replace(b"MC", b"M=C", 1), "key-pem"),
        (lambda pem: pem.replace(b"MC", b"M C", 1), "key-pem"),
        (lambda pem: pem + b" " * 5000, "key-pem"),
        (lambda _: forge.PUBLISHER.pem, "key-private"),
    ],
)
def test_a_file_that_is_not_one_public_key_is_refused(change: object, code: str) -> None:
    assert callable(change)
    assert code_of(change(forge.PUBLISHER.public.to_pem())) == code


@pytest.mark.parametrize(
    "text", ["", "sha256:", "sha256:" + "0" * 63, "sha256:" + "A" * 64, "SHA256:" + "0" * 64, None, 1]
)
def test_other_text_is_no_key_id(text: object) -> None:
    assert not is_key_id(text)


def test_importing_keys_and_verify_costs_no_cryptography() -> None:
    """Whoever only compares digests pays nothing for signatures."""
    program = (
        "import sys, toolnotary_verifier.verify; "
        "print(*[m for m in sys.modules if m.split('.')[0] in ('cryptography', 'asyncio', 'urllib', 'ssl')])"
    )
    assert printed_by(program).split() == []
