# SPDX-License-Identifier: Apache-2.0
"""`toolnotary keygen`."""

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from conftest import ROOT

from toolnotary_cli.main import main
from toolnotary_signer.keyfile import PrivateKey
from toolnotary_verifier.keys import PublicKey

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "keygen.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def passphrase_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "passphrase"
    path.write_text("correct horse battery\n", encoding="utf-8")
    monkeypatch.setenv("TOOLNOTARY_KEY_PASSPHRASE_FILE", str(path))
    return path


@pytest.mark.usefixtures("passphrase_file")
@pytest.mark.parametrize(
    ("option", "algorithm"), [([], "ed25519"), (["--algorithm", "p256"], "ecdsa-p256-sha256")]
)
def test_a_key_is_made_and_its_id_is_told(
    option: list[str], algorithm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keygen", *option, "-o", "release", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, SCHEMA)
    public = PublicKey.from_pem(Path("release.pub").read_bytes())
    assert told == {
        "schema": "https://toolnotary.dev/output/keygen/v1",
        "keyId": public.key_id,
        "algorithm": algorithm,
        "privateKey": "release.key",
        "publicKey": "release.pub",
    }
    private = PrivateKey.from_pem(Path("release.key").read_bytes(), passphrase=b"correct horse battery")
    assert private.public == public


def test_a_key_without_passphrase_is_made_only_when_asked_for_and_noted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["keygen", "--no-passphrase", "-o", "release"]) == 0
    told = capsys.readouterr()
    assert "not encrypted" in told.err
    assert PublicKey.from_pem(Path("release.pub").read_bytes()).key_id in told.out
    PrivateKey.from_pem(Path("release.key").read_bytes())


@pytest.mark.usefixtures("passphrase_file")
def test_nothing_secret_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", "-o", "release"]) == 0
    told = "".join(capsys.readouterr())
    assert "correct horse" not in told
    assert "PRIVATE KEY" not in told


@pytest.mark.usefixtures("passphrase_file")
def test_an_existing_key_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", "-o", "release"]) == 0
    before = Path("release.key").read_bytes()
    assert main(["keygen", "-o", "release"]) == 2
    assert "file-exists" in capsys.readouterr().err
    assert Path("release.key").read_bytes() == before


def test_a_passphrase_that_is_too_short_makes_no_key(
    passphrase_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passphrase_file.write_text("short\n", encoding="utf-8")
    assert main(["keygen", "-o", "release"]) == 2
    assert "passphrase-shape" in capsys.readouterr().err
    assert not Path("release.key").exists()


@pytest.mark.parametrize("name", [".", "/", "..", ""])
def test_a_name_that_is_a_folder_makes_no_key(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", "--no-passphrase", "-o", name]) == 2
    assert "file-not-writable" in capsys.readouterr().err
    assert not list(Path().glob("*.key"))
