# SPDX-License-Identifier: Apache-2.0
"""`toolnotary keygen` with a person at a terminal: real prompts on a real pseudo-terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolnotary_signer.keyfile import PrivateKey

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a Unix thing", allow_module_level=True)

# Run as the leader of a session of its own, which takes its standard input as controlling terminal.
CHILD = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from toolnotary_cli.main import main
sys.exit(main(sys.argv[1:]))
"""
PASSPHRASE = "correct horse battery"


class Terminal:
    """A command whose controlling terminal is ours."""

    def __init__(self, *arguments: str) -> None:
        self._terminal, inside = os.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD, *arguments],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)
        self.shown = ""

    def until(self, prompt: str) -> None:
        """Read what the command shows until a prompt stands there."""
        start = len(self.shown)
        while prompt not in self.shown[start:]:
            chunk = self._read()
            assert chunk, f"no {prompt!r} in {self.shown!r}"

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def end(self) -> int:
        """The exit code, after everything that was shown has been read."""
        while self._read():
            pass
        os.close(self._terminal)
        return self._process.wait()

    def _read(self) -> str:
        try:
            chunk = os.read(self._terminal, 4096).decode(errors="replace")
        except OSError:  # Linux says EIO where the other side is closed
            return ""
        self.shown += chunk
        return chunk


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_new_passphrase_is_asked_twice_and_never_echoed() -> None:
    terminal = Terminal("keygen", "-o", "release")
    terminal.until("new passphrase")
    terminal.type(PASSPHRASE + "\n")
    terminal.until("again")
    terminal.type(PASSPHRASE + "\n")
    assert terminal.end() == 0
    assert "horse" not in terminal.shown
    PrivateKey.from_pem(Path("release.key").read_bytes(), passphrase=PASSPHRASE.encode())


def test_two_different_passphrases_make_no_key() -> None:
    terminal = Terminal("keygen", "-o", "release")
    terminal.until("new passphrase")
    terminal.type(PASSPHRASE + "\n")
    terminal.until("again")
    terminal.type("something else\n")
    assert terminal.end() == 1
    assert "passphrase-mismatch" in terminal.shown
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_an_aborted_prompt_ends_with_130_and_leaves_nothing(key: str) -> None:
    terminal = Terminal("keygen", "-o", "release")
    terminal.until("new passphrase")
    terminal.type(key)
    assert terminal.end() == 130
    assert "Traceback" not in terminal.shown
    assert list(Path.cwd().iterdir()) == []
