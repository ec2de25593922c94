# SPDX-License-Identifier: Apache-2.0
"""A certificate for 127.0.0.1 that nobody signed but itself, and its key."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def self_signed(folder: Path, *, until: datetime) -> tuple[Path, Path]:
    """The files of a certificate that is good for a week until then, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(until - timedelta(days=7))
        .not_valid_after(until)
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = serialization.PrivateFormat.PKCS8
    written = (folder / "certificate.pem", folder / "key.pem")
    written[0].write_bytes(certificate.public_bytes(encoding))
    written[1].write_bytes(key.private_bytes(encoding, private, serialization.NoEncryption()))
    return written


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One that is good now."""
    return self_signed(tmp_path_factory.mktemp("tls"), until=datetime.now(UTC) + timedelta(days=2))
