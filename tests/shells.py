# SPDX-License-Identifier: Apache-2.0
"""The shells of the gate that a host dials, each a process in front of a pinned server, until a block ends.

A shell has files of its own, whatever home a test has: `pin` first, then put it before the server.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from conftest import ROOT
from effort import EFFORT
from pinned_servers import YES
from terminal import at_terminal

SERVER = "acme/files"
# Nothing here depends on it: it only ends a test that would hang.
DEADLINE = 60.0


class Front:
    """A running shell.

    Attributes:
        process: the process.
        url: where a host dials it, once that was announced.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._said: list[str] = []
        self._more = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        self.url = ""

    def _listen(self) -> None:
        for line in self.process.stderr or ():
            with self._more:
                self._said.append(line.decode("utf-8", "replace"))
                self._more.notify_all()
        with self._more:
            self._ended = True
            self._more.notify_all()

    def wait_announced(self) -> None:
        """Wait until it has told its URL."""
        with self._more:
            self._more.wait_for(lambda: self._ended or " listening on " in self._text, DEADLINE)
        for line in self._said:
            if " listening on " in line:
                self.url = line.split()[-1]
        assert self.url, self._text

    @property
    def _text(self) -> str:
        return "".join(self._said)

    @property
    def said(self) -> str:
        """What it has told people so far, without the line that tells its URL."""
        return "".join(line for line in list(self._said) if self.url not in line)

    def wait_said(self, text: str) -> str:
        """Wait until it has told people this; all of it."""
        with self._more:
            assert self._more.wait_for(lambda: text in self._text, DEADLINE), self._text
        return self.said

    def end(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(DEADLINE)
        self._thread.join(DEADLINE)
        if self.process.stderr is not None:
            self.process.stderr.close()


Shell = Callable[[str, Path], AbstractContextManager[Front]]


def pin(home: Path, *source: str) -> None:
    """Pin what a server shows, as a person does, in the files of a shell."""
    home.mkdir(mode=0o700, exist_ok=True)
    words = ["lock", "--server", SERVER, "--lockfile", str(home / "toolnotary.lock"), *source]
    session = at_terminal(words, *YES, environment={"TOOLNOTARY_HOME": str(home)}, directory=home)
    assert session.code == 0, session.shown


@contextlib.contextmanager
def _running(argv: Sequence[str], home: Path) -> Iterator[Front]:
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    environment = {**os.environ, "TOOLNOTARY_HOME": str(home)}
    process = subprocess.Popen(argv, cwd=home, env=environment, stdin=none, stdout=none, stderr=pipe)
    front = Front(process)
    try:
        front.wait_announced()
        yield front
    finally:
        front.end()


def gateway(url: str, home: Path, *options: str, before: Sequence[str] = ()) -> AbstractContextManager[Front]:
    """`toolnotary gateway` before a server; `before` are the words of a command that runs it."""
    words = ["gateway", "--port", "0", "--upstream", url, "--server", SERVER, *options]
    return _running([*before, sys.executable, "-m", "toolnotary_cli", *words], home)


def embedded(library: str) -> Shell:
    """A program that embeds the transport for this library."""
    program = str(ROOT / "tests" / "clients" / "relay.py")
    return lambda url, home: _running([sys.executable, program, library, url, SERVER], home)


# By the name that a test shows.
SHELLS: dict[str, Shell] = {"gateway": gateway, "httpx2": embedded("httpx2")}
if EFFORT == "full":
    SHELLS["httpx"] = embedded("httpx")
