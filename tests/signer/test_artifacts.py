# SPDX-License-Identifier: Apache-2.0
"""Artifacts on the command line: PURL, PURL=DIGEST, PURL=PATH."""

import hashlib
from pathlib import Path

import pytest

from toolnotary_signer.artifacts import artifact_of
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.naming import Artifact

SHA256 = "sha256:" + "a" * 64
SHA512 = "sha512-" + "A" * 86 + "=="


@pytest.mark.parametrize(
    ("text", "artifact"),
    [
        ("pkg:npm/x@1", Artifact("pkg:npm/x@1")),
        (f"pkg:npm/x@1={SHA256}", Artifact("pkg:npm/x@1", SHA256)),
        (f"pkg:npm/x@1={SHA512}", Artifact("pkg:npm/x@1", SHA512)),
        ("pkg:npm/x@1?arch=arm64", Artifact("pkg:npm/x@1?arch=arm64")),
        (f"pkg:npm/x@1?arch=arm64={SHA256}", Artifact("pkg:npm/x@1?arch=arm64", SHA256)),
    ],
)
def test_an_artifact_is_a_package_url_with_or_without_digest(text: str, artifact: Artifact) -> None:
    assert artifact_of(text) == artifact


def test_a_path_is_digested(tmp_path: Path) -> None:
    file = tmp_path / "server=1.tgz"
    file.write_bytes(b"content" * 100_000)
    expected = "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest()
    assert artifact_of(f"pkg:npm/x@1={file}") == Artifact("pkg:npm/x@1", expected)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x", "artifact"),
        ("", "artifact"),
        ("pkg:npm/x=sha256:00", "artifact"),
        ("pkg:npm/x=sha512-00", "artifact"),
        ("pkg:npm/x =" + SHA256, "artifact"),
        ("pkg:npm/x=absent", "artifact-file"),
        ("pkg:npm/x=", "artifact-file"),
    ],
)
def test_other_text_is_refused(text: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ToolnotaryError) as caught:
        artifact_of(text)
    assert caught.value.code == code
