# SPDX-License-Identifier: Apache-2.0
"""Starting the process of a command source, without what a server must not get."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from toolnotary_verifier.capture.held_back import child_environment
from toolnotary_verifier.capture.source import CommandSource
from toolnotary_verifier.capture.stdio import Stdio
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.secrecy import names_secret


class _Child:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - all three are pipes
        self.stdin: BinaryIO = process.stdin  # type: ignore[assignment]  # typeshed says IO[bytes]
        self.stdout: BinaryIO = process.stdout  # type: ignore[assignment]  # likewise
        self.stderr: BinaryIO = process.stderr  # type: ignore[assignment]  # likewise
        self._process = process

    def wait(self, timeout: float) -> int | None:
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def start(
    source: CommandSource, *, limits: Limits, variables: Mapping[str, str], directory: Path | None
) -> Stdio:
    """Start the source's process and connect to it.

    Raises:
        CannotTell: `server-start`.
    """
    environment = child_environment(source.environment, handed=source.handed)
    environment.update(variables)
    server = escape(Path(source.argv[0]).name, limit=80)
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            source.argv,
            cwd=directory or source.directory,
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise CannotTell("server-start", f"{server}: it cannot be started: {why}") from None
    secrets = [value for name, value in environment.items() if names_secret(name) and len(value) > 3]
    return Stdio(_Child(process), server=server, secrets=secrets, limits=limits)
