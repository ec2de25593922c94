# SPDX-License-Identifier: Apache-2.0
"""`toolnotary keygen` with a person at a terminal: real prompts on a real pseudo-terminal."""

import sys
from pathlib import Path

import pytest

from toolnotary_signer.keyfile import PrivateKey

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a Unix thing", allow_module_level=True)

from terminal import at_terminal

PASSPHRASE = "correct horse battery"
KEYGEN = ["keygen", "-o", "release"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_new_passphrase_is_asked_twice_and_never_echoed() -> None:
    session = at_terminal(KEYGEN, ("new passphrase", PASSPHRASE + "\n"), ("again", PASSPHRASE + "\n"))
    assert session.code == 0
    assert "horse" not in session.shown
    PrivateKey.from_pem(Path("release.key").read_bytes(), passphrase=PASSPHRASE.encode())


def test_two_different_passphrases_make_no_key() -> None:
    session = at_terminal(KEYGEN, ("new passphrase", PASSPHRASE + "\n"), ("again", "something else\n"))
    assert session.code == 1
    assert "passphrase-mismatch" in session.shown
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_an_aborted_prompt_ends_with_130_and_leaves_nothing(key: str) -> None:
    session = at_terminal(KEYGEN, ("new passphrase", key))
    assert session.code == 130
    assert "Traceback" not in session.shown
    assert list(Path.cwd().iterdir()) == []
