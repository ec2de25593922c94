# SPDX-License-Identifier: Apache-2.0
"""A person at a terminal: runs a command on a pseudo-terminal of its own and types when it is asked."""

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 60.0
Answer = tuple[str, str | Callable[[], str]]


@dataclass(frozen=True, slots=True)
class Session:
    """How it ended: the exit code, and everything that was shown on the terminal."""

    code: int
    shown: str


def at_terminal(
    arguments: Sequence[str],
    *answers: Answer,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Session:
    """Run `toolnotary ARGUMENTS` on a terminal; see `run_at_terminal`."""
    command = [sys.executable, "-m", "toolnotary_cli", *arguments]
    return run_at_terminal(command, *answers, environment=environment, directory=directory)


def run_at_terminal(
    command: Sequence[str],
    *answers: Answer,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Session:
    """Run a command on a terminal that controls it.

    Args:
        command: the program and its arguments.
        answers: pairs of what must be shown first, and what is typed then (with its line end, or a control
            character), or what is called then and gives it.
        environment: variables over those of this process.
        directory: where to run.
    """
    child, terminal = pty.fork()
    if child == 0:
        if directory is not None:
            os.chdir(directory)
        os.execve(command[0], list(command), {**os.environ, **(environment or {})})  # noqa: S606 - the child of a fork
    shown = b""
    waiting = list(answers)
    searched = 0
    deadline = time.monotonic() + _PATIENCE
    while True:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)  # its code is then -9, which no test expects
            break
        if not select.select([terminal], [], [], 1.0)[0]:
            if answers and not waiting and answers[-1][1] == "\x03":
                # Python loses a signal that comes just before it begins to read; a person presses again.
                os.write(terminal, b"\x03")
            continue
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not chunk:
            break
        shown += chunk
        if waiting and (at := shown.find(waiting[0][0].encode(), searched)) >= 0:
            searched = at + len(waiting[0][0])
            typed = waiting.pop(0)[1]
            os.write(terminal, (typed if isinstance(typed, str) else typed()).encode())
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return Session(os.waitstatus_to_exitcode(status), shown.decode("utf-8", "replace").replace("\r\n", "\n"))
