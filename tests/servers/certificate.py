# SPDX-License-Identifier: Apache-2.0
"""A certificate for 127.0.0.1 that nobody signed but itself, and its key."""

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    pair = (folder / "certificate.pem", folder / "key.pem")
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    about = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-out", str(pair[0]), "-keyout", str(pair[1])]
    subprocess.run([*make, *about, *files], check=True, capture_output=True)
    return pair
