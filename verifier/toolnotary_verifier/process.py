# SPDX-License-Identifier: Apache-2.0
"""A server as a process: its start, its streams, and the end of everything that it started.

This is the only room with platform-specific calls. On POSIX a server is started in a process group of its
own, and its end is the end of that group and of every descendant that can be found. A contained server gets
two things more: on Linux this process adopts descendants whose own parent ended, so that a daemon cannot slip
away, and a sleeping shell beside it ends the group when this process is killed before it can do so itself.
On Windows the tree is ended with `taskkill`.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Literal, Self

from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape

# What a host sends to end a server; not every system has all of them.
FORWARDED: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)
# Reads until its standard input ends: with a line where all went well, without one where we were killed.
_GUARD: Final = 'read -r _ || kill -s KILL -- "-$1"'
_ROUNDS: Final = 50
_PR_SET_CHILD_SUBREAPER: Final = 36  # linux/prctl.h


class Process:
    """A started server.

    Attributes:
        stdin: its standard input, a pipe.
        stdout: its standard output, a pipe.
        stderr: its standard error, a pipe; None where it writes to ours.
        pid: its process id.
    """

    def __init__(
        self, popen: "subprocess.Popen[bytes]", *, guard: "subprocess.Popen[bytes] | None", contained: bool
    ) -> None:
        assert popen.stdin is not None and popen.stdout is not None  # noqa: PT018, S101 - `start` asked for them
        self.stdin: BinaryIO = popen.stdin  # type: ignore[assignment]  # IO[bytes], a buffered pipe
        self.stdout: BinaryIO = popen.stdout  # type: ignore[assignment]  # IO[bytes], a buffered pipe
        self.stderr: BinaryIO | None = popen.stderr  # type: ignore[assignment]  # IO[bytes], a buffered pipe
        self.pid = popen.pid
        self._popen = popen
        self._guard = guard
        self._contained = contained

    def wait(self, timeout: float | None = None) -> int | None:
        """Its exit code as a shell counts it (128 + N for signal N), or None if it runs after `timeout` s."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        return 128 - code if code < 0 else code

    def send_signal(self, number: int) -> None:
        """Send a signal to the server itself; nothing happens where it has ended."""
        with contextlib.suppress(OSError, ValueError):
            self._popen.send_signal(number)

    def when_ended(self, tell: Callable[[], None]) -> None:
        """Have `tell` called whenever a child of ours ended: it must be quick, and ask `wait(0)` which one.

        From the main thread only: on POSIX it takes the signal that says so.
        """
        if sys.platform == "win32":
            threading.Thread(target=lambda: (self._popen.wait(), tell()), daemon=True).start()
        else:
            signal.signal(signal.SIGCHLD, lambda _number, _frame: tell())
            tell()  # it may have ended before

    def close_input(self) -> None:
        """Tell the server that nothing more will come."""
        with contextlib.suppress(OSError):
            self.stdin.close()

    def terminate(self) -> None:
        """Ask the server and its whole group to end (on Windows: the server, at once)."""
        if sys.platform == "win32":
            self._popen.terminate()
        else:
            _signal_group(self.pid, signal.SIGTERM)

    def collect(self) -> None:
        """Collect adopted descendants that have ended, so that they are no zombies."""
        if self._contained and sys.platform != "win32":
            for child in _children().get(os.getpid(), ()):
                if child not in self._own():
                    with contextlib.suppress(OSError):
                        os.waitpid(child, os.WNOHANG)

    def end(self) -> int:
        """End the server and all that it started, at once; returns its exit code.

        What a server started in a session of its own, and whose parent then ended, is found only where the
        server is contained, on Linux.
        """
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self.pid)], check=False, capture_output=True)
        else:
            self._end_tree()
        code = self._popen.wait()
        self.collect()
        self._dismiss_guard()
        return 128 - code if code < 0 else code

    def close(self) -> None:
        """Close our ends of its streams; other threads have stopped using them by then."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.close()

    def _own(self) -> set[int]:
        return {self.pid} if self._guard is None else {self.pid, self._guard.pid}

    def _end_tree(self) -> None:
        """Kill the group and all descendants; look again until none is left, since they may start others."""
        found = self._descendants()
        _signal_group(self.pid, signal.SIGKILL)
        empty = 0
        for _ in range(_ROUNDS):
            for process in found:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            self.collect()
            found = self._descendants()
            empty = 0 if found else empty + 1
            # Twice: they are read one by one, and one that ends meanwhile hides its children for a moment.
            if empty == 2:
                return

    def _descendants(self) -> list[int]:
        children = _children()
        waiting = list(children.get(self.pid, ()))
        if self._contained and sys.platform == "linux":
            waiting += [child for child in children.get(os.getpid(), ()) if child not in self._own()]
        found = []
        while waiting:
            process = waiting.pop()
            found.append(process)
            waiting.extend(children.get(process, ()))
        return found

    def _dismiss_guard(self) -> None:
        if self._guard is not None and self._guard.stdin is not None:
            with contextlib.suppress(OSError):
                self._guard.stdin.write(b"\n")
                self._guard.stdin.close()
            self._guard.wait()
            self._guard = None


def start(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    stderr: Literal["pipe", "inherit"] = "pipe",
    contained: bool = False,
) -> Process:
    """Start a server with pipes for its standard input and output.

    Args:
        argv: the command and its arguments; no shell reads them.
        environment: all of its environment; ours where None.
        directory: its working directory; ours where None.
        stderr: a pipe, or our own standard error.
        contained: for a process whose only purpose is this server: adopt its orphans, and end it when we are
            killed. One call of it in a process.

    Raises:
        CannotTell: `server-start`, if there is nothing to start.
    """
    try:
        popen = subprocess.Popen(
            [_resolved(argv[0]), *argv[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stderr == "pipe" else None,
            cwd=directory,
            env=None if environment is None else dict(environment),
            # A session of its own: it leaves the terminal, on which it could answer what a person is asked.
            start_new_session=sys.platform != "win32",
        )
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise CannotTell(
            "server-start",
            f"{escape(argv[0], limit=200)} cannot be started: {escape(why, limit=200)}",
            remedy="check that the command is installed and on PATH, and that its arguments are right",
        ) from None
    if not contained:
        return Process(popen, guard=None, contained=False)
    _adopt_orphans()
    return Process(popen, guard=_start_guard(popen.pid), contained=True)


def binary_standard_streams() -> None:
    """Make descriptors 0 and 1 carry bytes as they are (Windows translates line ends otherwise)."""
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (0, 1):
            msvcrt.setmode(descriptor, os.O_BINARY)


def _resolved(command: str) -> str:
    """The file that a command name stands for, where the system does not look it up in full (Windows)."""
    if sys.platform == "win32":
        import shutil  # npx is npx.cmd there, and CreateProcess does not read PATHEXT

        return shutil.which(command) or command
    return command


def _start_guard(group: int) -> "subprocess.Popen[bytes] | None":
    if sys.platform == "win32":
        return None
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "sh", str(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # whoever kills our group must not kill the guard with it
        )
    except OSError:
        return None  # no shell: the server still ends with its standard input


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, number)


def _children() -> dict[int, list[int]]:
    """The living children of every process, where the system shows them."""
    children: dict[int, list[int]] = {}
    for process, parent in _processes():
        children.setdefault(parent, []).append(process)
    return children


def _processes() -> Iterator[tuple[int, int]]:
    """Every process that is no zombie of somebody else, with its parent."""
    if not Path("/proc/self/stat").exists():
        listed = subprocess.run(["ps", "-axo", "pid=,ppid="], check=False, capture_output=True).stdout
        for line in listed.splitlines():
            pid, parent = line.split()
            yield int(pid), int(parent)
        return
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError, ValueError):
                # The command's name, in parentheses, may hold anything; state and parent follow its end.
                state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state != b"Z" or int(parent) == os.getpid():
                    yield int(folder.name), int(parent)
