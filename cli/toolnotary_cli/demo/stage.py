# SPDX-License-Identifier: Apache-2.0
"""Where the demo plays: a folder of its own that disappears, and real commands whose output is shown."""

import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Self

import click

from toolnotary_cli import places
from toolnotary_cli.output import styled
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape
from toolnotary_verifier.interrupts import uninterrupted

TOOLNOTARY = [sys.executable, "-m", "toolnotary_cli"]
# The interpreter that runs the demo's server, by a name that a person would type.
PYTHON = Path(sys.executable).name
_PATIENCE = 60.0
_FAREWELL = 5.0


class Stage:
    """A temporary folder, an environment in which nothing of the person's own is used, and what runs in it.

    Leaving it ends what was started and removes the folder, whatever happened.
    """

    def __init__(self) -> None:
        # Nothing is made before the block that removes it again has begun: see `build`.
        self.folder = Path(tempfile.gettempdir()).resolve() / f"toolnotary-demo-{secrets.token_hex(8)}"
        home = self.folder / "home"
        own = {name: value for name, value in os.environ.items() if not name.startswith("TOOLNOTARY_")}
        self.environment = {
            **own,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), own.get("PATH", os.defpath)]),
            "TOOLNOTARY_HOME": str(home),
            # The personal files, named outright: the folder could lie inside of somebody's repository.
            "TOOLNOTARY_LOCKFILE": str(home / places.LOCKFILE),
            "TOOLNOTARY_POLICY": str(home / places.POLICY),
            "NO_COLOR": "1",
        }
        self.home = home
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        with uninterrupted():
            for process in reversed(self._running):
                _end(process)
            shutil.rmtree(self.folder, ignore_errors=True)

    def build(self) -> None:
        """Make the folder, readable by its owner alone, and in it a personal policy that says nothing yet."""
        self.folder.mkdir(mode=0o700)
        self.home.mkdir(mode=0o700)
        self.write(self.home / places.POLICY, "")

    def say(self, text: str) -> None:
        """A line of the story."""
        click.echo(text)

    def step(self, title: str) -> None:
        """Begin a new step."""
        click.echo()
        click.echo(styled(title, "strong"))

    def run(self, *arguments: str, expect: int = 0) -> str:
        """Run `toolnotary ARGUMENTS` and show the command and what it printed.

        Args:
            arguments: as a person would type them.
            expect: the exit code that the story needs.

        Raises:
            CannotTell: `demo-step`, if the command ended otherwise or not at all.
        """
        self.show_command(*arguments)
        process = self._started(arguments, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        try:
            told, _ = process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            raise self._broken(arguments, f"did not end within {_PATIENCE:.0f} seconds") from None
        printed = told.decode("utf-8", "replace")
        self.show(printed)
        if process.returncode != expect:
            raise self._broken(arguments, f"ended with {process.returncode}, expected {expect}")
        if expect:
            click.echo(styled(f"    (exit code {expect})", "dim"))
        return printed

    def start(self, *arguments: str, shown: bool = True) -> subprocess.Popen[bytes]:
        """Start `toolnotary ARGUMENTS` beside the demo; what it reads and writes is the caller's.

        Standard error comes with standard output for a command that serves, apart from it otherwise.
        """
        if shown:
            self.show_command(*arguments)
        return self._started(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def show_command(self, *arguments: str) -> None:
        """Show a command as it would be typed."""
        click.echo(f"  $ {styled(escape(shlex.join(['toolnotary', *arguments])), 'strong')}")

    def show(self, text: str) -> None:
        """Show what a command or a server said, set apart from the story."""
        for line in text.rstrip("\n").split("\n"):
            click.echo(f"    {escape(line)}")

    def write(self, path: Path, content: str, *, private: bool = False) -> None:
        """Write a file of the story."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if private else 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)

    def _started(self, arguments: Sequence[str], *, stdin: int, stderr: int) -> "subprocess.Popen[bytes]":
        # Else Ctrl-C could leave a process behind that nobody ends, and that makes the folder anew.
        with uninterrupted():
            process = subprocess.Popen(
                [*TOOLNOTARY, *arguments],
                cwd=self.folder,
                env=self.environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
            self._running.append(process)
        return process

    def _broken(self, arguments: Sequence[str], why: str) -> CannotTell:
        return CannotTell("demo-step", f"toolnotary {' '.join(arguments)} {why}")


def _end(process: subprocess.Popen[bytes]) -> None:
    streams: tuple[IO[bytes] | None, ...] = (process.stdin, process.stdout, process.stderr)
    process.terminate()
    try:
        process.wait(_FAREWELL)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in streams:
        if stream is not None:
            _close(stream)


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:  # a pipe whose other end is gone cannot be flushed
        return
