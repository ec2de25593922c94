# SPDX-License-Identifier: Apache-2.0
"""A server as a process: its start, its streams, and the end of everything that it started.

This is the only room with platform-specific calls. On POSIX a server is started in a process group of its
own, and its end is the end of that group and of every descendant that can be found. A contained server gets
two things more: on Linux this process adopts descendants whose own parent ended, for as long as the server is
there, so that a daemon cannot slip away, and, unless `watcher` watches over us, a sleeping shell beside it
ends the group when this process is killed before it can do so itself.
On Windows the tree is ended with `taskkill`.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple, Self

from toolnotary_verifier import descendants
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape
from toolnotary_verifier.interrupts import ENDING

# Our own settings: where keys, passphrases and a person's decisions lie is nothing for a server to know.
_OWN: Final = "TOOLNOTARY_"
_PIPE_BYTES: Final = 1 << 20
# What a host sends to end a server.
FORWARDED: Final = ENDING
# Reads until its standard input ends: with a line where all went well, without one where we were killed.
_GUARD: Final = 'read -r _ || kill -s KILL -- "-$1"'


class _Containment(NamedTuple):
    """What keeps a contained server's descendants within reach.

    Attributes:
        guard: the shell that ends the group when we are killed; None where there is none.
        others: the children that we had before: they are nothing of the server's.
        adopted: whether we adopted orphans before.
    """

    guard: "subprocess.Popen[bytes] | None"
    others: frozenset[int]
    adopted: bool


class Process:
    """A started server.

    Attributes:
        stdin: its standard input, a pipe.
        stdout: its standard output, a pipe.
        stderr: its standard error, a pipe; None where it writes to ours.
        pid: its process id.
    """

    def __init__(self, popen: "subprocess.Popen[bytes]", *, containment: _Containment | None) -> None:
        assert popen.stdin is not None and popen.stdout is not None  # noqa: PT018, S101 - `start` asked for them
        self.stdin: BinaryIO = popen.stdin  # type: ignore[assignment]  # IO[bytes], a buffered pipe
        self.stdout: BinaryIO = popen.stdout  # type: ignore[assignment]  # IO[bytes], a buffered pipe
        widen(self.stdout.fileno())
        self.stderr: BinaryIO | None = popen.stderr  # type: ignore[assignment]  # IO[bytes], a buffered pipe
        self.pid = popen.pid
        self._popen = popen
        self._containment = containment

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
        if self._containment is not None and sys.platform == "linux":
            for child in self._adopted(descendants.children()):
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
        self._release()
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

    def _end_tree(self) -> None:
        """Kill the group and all descendants."""
        found = self._descendants()
        _signal_group(self.pid, signal.SIGKILL)
        descendants.kill(self._left, found)

    def _left(self) -> list[int]:
        self.collect()
        return self._descendants()

    def _descendants(self) -> list[int]:
        known = descendants.children()
        adopted = self._adopted(known)
        return [*adopted, *descendants.below([self.pid, *adopted], known)]

    def _adopted(self, known: dict[int, list[int]]) -> list[int]:
        """Our children that we did not start, and that are not older than the server."""
        if self._containment is None or sys.platform != "linux":
            return []
        guard, others, _ = self._containment
        not_adopted = others | {self.pid} | (set() if guard is None else {guard.pid})
        return [child for child in known.get(os.getpid(), ()) if child not in not_adopted]

    def _release(self) -> None:
        if self._containment is None:
            return
        guard, _, adopted = self._containment
        self._containment = None
        descendants.adopt_orphans(adopting=adopted)
        if guard is not None and guard.stdin is not None:
            with contextlib.suppress(OSError):
                guard.stdin.write(b"\n")
                guard.stdin.close()
            guard.wait()


def start(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    stderr: Literal["pipe", "inherit"] = "pipe",
    contained: bool = False,
    watched: bool = False,
) -> Process:
    """Start a server with pipes for its standard input and output.

    Args:
        argv: the command and its arguments; no shell reads them.
        environment: all of its environment; where None it is ours, without the variables that are settings of
            this product (TOOLNOTARY_*).
        directory: its working directory; ours where None.
        stderr: a pipe, or our own standard error.
        contained: for a process that does nothing else until the server has ended: adopt its orphans, and end
            it when we are killed. Any child that such a process gets meanwhile is taken for one of these.
        watched: whether another process sees to it where a contained server's is killed (see `watcher`).

    Raises:
        CannotTell: `server-start`, if there is nothing to start.
    """
    if not contained:
        return Process(_popen(argv, environment, directory, stderr), containment=None)
    others = descendants.own_children()
    # Before the server is there, since nobody knows how soon it leaves a process behind.
    adopted = descendants.adopt_orphans(adopting=True)
    try:
        popen = _popen(argv, environment, directory, stderr)
    except CannotTell:
        descendants.adopt_orphans(adopting=adopted)
        raise
    guard = None if watched else _start_guard(popen.pid)
    return Process(popen, containment=_Containment(guard, others, adopted))


def _popen(
    argv: Sequence[str],
    environment: Mapping[str, str] | None,
    directory: Path | None,
    stderr: Literal["pipe", "inherit"],
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            [_resolved(argv[0]), *argv[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stderr == "pipe" else None,
            cwd=directory,
            env=_inherited() if environment is None else dict(environment),
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


def widen(descriptor: int, size: int = _PIPE_BYTES) -> None:
    """Let a large message through a pipe in few steps, of so many bytes, where the system can (Linux)."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)


def _inherited() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.upper().startswith(_OWN)}


def binary_standard_streams() -> None:
    """Make descriptors 0 and 1 carry bytes as they are (Windows translates line ends otherwise)."""
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (0, 1):
            msvcrt.setmode(descriptor, os.O_BINARY)


def await_hang_up(descriptor: int) -> bool:
    """Wait until nobody holds the other end of this pipe or socket any more; False where nobody can tell."""
    if sys.platform == "win32":
        return False
    import select

    try:
        watching = select.poll()
        watching.register(descriptor, 0)  # hanging up is told in any case
        watching.poll()
    except (OSError, ValueError):
        return False
    return True


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


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, number)
