# SPDX-License-Identifier: Apache-2.0
"""Private keys: encrypted, unreadable for others, never overwritten, never shown."""

import os
import stat
from pathlib import Path

import forge
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from toolnotary_signer.keyfile import PrivateKey, is_encrypted, write_pair
from toolnotary_verifier.errors import ConfigurationError, InvalidInput, Refused, ToolnotaryError
from toolnotary_verifier.keys import Algorithm, PublicKey

ALGORITHMS: tuple[Algorithm, ...] = ("ed25519", "ecdsa-p256-sha256")
BOTH = pytest.mark.parametrize("algorithm", ALGORITHMS)
PASSPHRASE = b"correct horse battery"


@BOTH
def test_an_encrypted_key_opens_with_its_passphrase_alone(algorithm: Algorithm) -> None:
    key = PrivateKey.generate(algorithm)
    pem = key.to_pem(passphrase=PASSPHRASE)
    assert b"ENCRYPTED PRIVATE KEY" in pem
    opened = PrivateKey.from_pem(pem, passphrase=PASSPHRASE)
    assert opened.public == key.public
    assert key.public.verify(opened.sign(b"message"), b"message")
    with pytest.raises(Refused) as wrong:
        PrivateKey.from_pem(pem, passphrase=b"incorrect horse")
    assert wrong.value.code == "wrong-passphrase"
    with pytest.raises(ConfigurationError) as absent:
        PrivateKey.from_pem(pem)
    assert absent.value.code == "passphrase-needed"


@BOTH
def test_an_unencrypted_key_needs_no_passphrase_and_ignores_one(algorithm: Algorithm) -> None:
    key = PrivateKey.generate(algorithm)
    pem = key.to_pem(passphrase=None)
    assert not is_encrypted(pem)
    assert PrivateKey.from_pem(pem).public == key.public
    assert PrivateKey.from_pem(pem, passphrase=PASSPHRASE).public == key.public


def test_two_keys_are_never_the_same() -> None:
    assert PrivateKey.generate("ed25519").public != PrivateKey.generate("ed25519").public


@pytest.mark.parametrize(
    "pem",
    [
        b"",
        b"hello",
        forge.PUBLISHER.public.to_pem(),
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        forge.PUBLISHER.pem + b"\n" * 9000,
    ],
)
def test_a_file_without_a_private_key_is_refused(pem: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        PrivateKey.from_pem(pem)
    assert caught.value.code == "key-file"


@pytest.mark.parametrize("curve", [ec.SECP384R1(), ec.SECP256K1()])
def test_a_key_on_another_curve_is_refused(curve: ec.EllipticCurve) -> None:
    key = ec.generate_private_key(curve)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(InvalidInput) as caught:
        PrivateKey.from_pem(pem)
    assert caught.value.code == "key-algorithm"


def test_an_rsa_key_is_refused_even_with_the_right_passphrase() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(PASSPHRASE))
    with pytest.raises(InvalidInput) as caught:
        PrivateKey.from_pem(pem, passphrase=PASSPHRASE)
    assert caught.value.code == "key-algorithm"


def test_a_key_that_openssl_wrote_in_its_older_form_is_read() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(PASSPHRASE)
    )
    assert is_encrypted(pem)
    assert PrivateKey.from_pem(pem, passphrase=PASSPHRASE).public.algorithm == "ecdsa-p256-sha256"


def test_a_damaged_encrypted_file_ends_in_a_typed_error() -> None:
    pem = PrivateKey.generate("ed25519").to_pem(passphrase=PASSPHRASE)
    *_, last_line, _end = pem.splitlines()
    start = pem.index(last_line)
    for damaged in forge.mutations(pem, range(start, start + len(last_line), 3)):
        with pytest.raises(ToolnotaryError) as caught:
            PrivateKey.from_pem(damaged, passphrase=PASSPHRASE)
        assert caught.value.code == "wrong-passphrase"


@BOTH
def test_nothing_that_prints_a_key_shows_it(algorithm: Algorithm) -> None:
    key = PrivateKey.generate(algorithm)
    secret = key.to_pem(passphrase=None).decode().splitlines()[1]
    assert secret not in f"{key!r} {key}"
    assert "_key" not in repr(key)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no mode bits")
def test_the_private_file_is_readable_by_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        private, public = write_pair(
            tmp_path / "release", PrivateKey.generate("ed25519"), passphrase=PASSPHRASE
        )
    finally:
        os.umask(before)
    assert (private.name, public.name) == ("release.key", "release.pub")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    opened = PrivateKey.from_pem(private.read_bytes(), passphrase=PASSPHRASE)
    assert PublicKey.from_pem(public.read_bytes()) == opened.public


@pytest.mark.parametrize("existing", ["release.key", "release.pub"])
def test_no_key_file_is_ever_overwritten_and_no_half_is_left(tmp_path: Path, existing: str) -> None:
    (tmp_path / existing).write_bytes(b"precious")
    with pytest.raises(ConfigurationError) as caught:
        write_pair(tmp_path / "release", PrivateKey.generate("ed25519"), passphrase=None)
    assert caught.value.code == "file-exists"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {existing: b"precious"}


def test_a_link_that_points_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "release.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError) as caught:
        write_pair(tmp_path / "release", PrivateKey.generate("ed25519"), passphrase=None)
    assert caught.value.code == "file-exists"
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        write_pair(tmp_path / "absent" / "release", PrivateKey.generate("ed25519"), passphrase=None)
    assert caught.value.code == "file-not-writable"
    assert "absent" in caught.value.message


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_leaves_no_key_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def full(path: str | Path, flags: int, mode: int = 0o777) -> int:
        opened_file = opened(path, flags, mode)
        os.dup2(opened("/dev/full", os.O_WRONLY), opened_file)
        return opened_file

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(ConfigurationError) as caught:
        write_pair(tmp_path / "release", PrivateKey.generate("ed25519"), passphrase=None)
    assert caught.value.code == "file-not-writable"
    assert list(tmp_path.iterdir()) == []
