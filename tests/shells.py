# SPDX-License-Identifier: Apache-2.0
"""The shells of the gate that a host dials, each a process in front of a pinned server, until a block ends.

A shell has files of its own, whatever home a test has: `pin` first, then put it before the server.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT
from pinned_servers import YES
from terminal import at_terminal

SERVER = "acme/files"
# Nothing here depends on it: it only ends a test that would hang.
DEADLINE = 60.0


@dataclass(frozen=True)
class Front:
    """A running shell: where a host dials it, and what it says to people."""

    url: str
    errors: Path
    process: "subprocess.Popen[bytes]"

    @property
    def said(self) -> str:
        """What it said so far, without the line that tells its URL."""
        lines = self.errors.read_text(encoding="utf-8").split("\n")
        return "\n".join(line for line in lines if self.url not in line)


Shell = Callable[[str, Path], AbstractContextManager[Front]]


def pin(home: Path, *source: str) -> None:
    """Pin what a server shows, as a person does, in the files of a shell."""
    home.mkdir(mode=0o700, exist_ok=True)
    words = ["lock", "--server", SERVER, "--lockfile", str(home / "toolnotary.lock"), *source]
    session = at_terminal(words, *YES, environment={"TOOLNOTARY_HOME": str(home)}, directory=home)
    assert session.code == 0, session.shown


@contextlib.contextmanager
def _running(argv: Sequence[str], home: Path) -> Iterator[Front]:
    errors = home / "errors.log"
    with errors.open("wb") as stream:
        process = subprocess.Popen(
            argv,
            cwd=home,
            env={**os.environ, "TOOLNOTARY_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
        )
    try:
        yield Front(_announced(process, errors), errors, process)
    finally:
        process.terminate()
        process.wait(DEADLINE)


def gateway(url: str, home: Path) -> AbstractContextManager[Front]:
    """`toolnotary gateway` before a server."""
    words = ["gateway", "--port", "0", "--upstream", url, "--server", SERVER]
    return _running([sys.executable, "-m", "toolnotary_cli", *words], home)


def embedded(library: str) -> Shell:
    """A program that embeds the transport for this library."""
    program = str(ROOT / "tests" / "clients" / "relay.py")
    return lambda url, home: _running([sys.executable, program, library, url, SERVER], home)


def _announced(process: "subprocess.Popen[bytes]", errors: Path) -> str:
    deadline = time.monotonic() + DEADLINE
    while process.poll() is None and time.monotonic() < deadline:
        for line in errors.read_text(encoding="utf-8").splitlines():
            if " listening on " in line:
                return line.rpartition(" ")[2]
        time.sleep(0.02)
    raise AssertionError(errors.read_text(encoding="utf-8"))


# By the name that a test shows.
SHELLS: dict[str, Shell] = {"gateway": gateway, "httpx2": embedded("httpx2")}
