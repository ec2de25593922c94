# SPDX-License-Identifier: Apache-2.0
"""A file of lines that several processes add to, and that is put aside when it is large enough.

Every line is one write at the end of the file, under a lock beside it: none is lost or torn, whoever puts the
file aside meanwhile. A disk that fills up in the middle of a line leaves nothing of it. The lock is waited
for only so long, since whoever holds it may have been stopped.
"""

import contextlib
import errno
import os
import threading
from pathlib import Path
from typing import Final

from toolnotary_verifier.files import beside, is_special, locked, make_folder

_WAIT: Final = 2.0  # seconds
_LONGEST: Final = 64 << 10  # bytes in which the end of the last whole line is looked for


class AuditFile:
    """Lines in `path`, older ones in `path.1` and on; may be used by several threads."""

    def __init__(self, path: Path, *, max_bytes: int, keep: int) -> None:
        """Nothing is opened yet.

        Args:
            path: the file. What is no file (`/dev/stderr`, a named pipe that is read) is written to as it is.
            max_bytes: no line is added that would make it larger than this; the file is put aside instead.
            keep: how many of those put aside are kept, the oldest is removed.
        """
        self.path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._thread = threading.Lock()

    def append(self, lines: bytes) -> None:
        """Add whole lines, all of them or none.

        Raises:
            OSError: they could not be written; what is there is as it was.
        """
        with self._thread:
            if is_special(self.path):
                _write_special(self.path, lines)
                return
            with os.fdopen(self._lock(), "r+b", buffering=0) as file, locked(file, seconds=_WAIT):
                self._append(lines)

    def _lock(self) -> int:
        path, flags = beside(self.path, ".lock"), os.O_RDWR | os.O_CREAT
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            make_folder(self.path.parent, is_private=True)
            return os.open(path, flags, 0o600)

    def _append(self, lines: bytes) -> None:
        if _size(self.path) + len(lines) > self._max_bytes and _size(self.path):
            self._put_aside()
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = _mend(descriptor)
            try:
                _write(descriptor, lines)
            except OSError:
                os.truncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)

    def _put_aside(self) -> None:
        for number in range(self._keep - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self._older(number).replace(self._older(number + 1))
        if self._keep:
            self.path.replace(self._older(1))
        else:
            self.path.unlink()

    def _older(self, number: int) -> Path:
        return beside(self.path, f".{number}")


def _write_special(path: Path, lines: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        _write(descriptor, lines)
    finally:
        os.close(descriptor)


def _write(descriptor: int, lines: bytes) -> None:
    """One write; what was written in part alone is an error."""
    if os.write(descriptor, lines) < len(lines):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _mend(descriptor: int) -> int:
    """Remove what a process that was killed left of a line; returns the size."""
    size = os.fstat(descriptor).st_size
    if not size:
        return 0
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    if os.read(descriptor, 1) == b"\n":
        return size
    start = max(0, size - _LONGEST)
    os.lseek(descriptor, start, os.SEEK_SET)
    tail = os.read(descriptor, _LONGEST)
    whole = start + tail.rfind(b"\n") + 1
    if whole < size and (whole > start or not start):
        os.truncate(descriptor, whole)
        return whole
    return size


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
