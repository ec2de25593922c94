# SPDX-License-Identifier: Apache-2.0
"""Bytes that wait in pipes of the kernel (Linux): what is stowed goes on into another pipe without a copy.

For many bytes that are looked at once and written once. Memory that a process uses for the first time costs
several times what a copy does; a pipe takes what was read while it is still in the processor's cache.
"""

import errno
import os
import sys
from typing import Final

CAN_STOW: Final = sys.platform == "linux" and hasattr(os, "splice")
_PIPE_BYTES: Final = 1 << 20  # the most that Linux grants without privileges (pipe(7))
_READ_BYTES: Final = 256 << 10


class Stowage:
    """A queue of bytes without an end of its own; `close` it, whatever happens."""

    def __init__(self) -> None:
        self._readers: list[tuple[int, int]] = []  # with the bytes in each
        self._writer = -1

    def add(self, part: bytes) -> bytes:
        """Stow some bytes; what of them found no room."""
        rest = part
        while rest:
            written = self._write(rest)
            if not written and not self._open():
                break
            rest = rest[written:]
        return rest

    def pour(self, descriptor: int) -> None:
        """Write everything, in order, and keep nothing.

        Raises:
            OSError: as a write to that descriptor.
        """
        try:
            for reader, size in self._readers:
                _move(reader, descriptor, size)
        finally:
            self.close()

    def content(self) -> bytes:
        """Everything, in order; nothing is kept."""
        parts = []
        try:
            for reader, size in self._readers:
                rest = size
                while rest:
                    parts.append(os.read(reader, min(rest, _READ_BYTES)))
                    rest -= len(parts[-1])
        finally:
            self.close()
        return b"".join(parts)

    def close(self) -> None:
        """Keep nothing."""
        for reader, _ in self._readers:
            os.close(reader)
        if self._writer >= 0:
            os.close(self._writer)
        self._readers, self._writer = [], -1

    def _write(self, part: bytes) -> int:
        if self._writer < 0:
            return 0
        try:
            written = os.write(self._writer, part)
        except BlockingIOError:
            return 0
        reader, size = self._readers[-1]
        self._readers[-1] = reader, size + written
        return written

    def _open(self) -> bool:
        """Begin another pipe; False where the system grants none as large."""
        import fcntl  # where there is no `splice`, this may be missing as well

        try:
            reader, writer = os.pipe()
        except OSError:
            return False
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            os.close(reader)
            os.close(writer)
            return False
        os.set_blocking(writer, False)
        if self._writer >= 0:
            os.close(self._writer)
        self._readers.append((reader, 0))
        self._writer = writer
        return True


def _move(reader: int, descriptor: int, size: int) -> None:
    while size:
        try:
            size -= os.splice(reader, descriptor, size)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            # Into some descriptors nothing is spliced: a terminal, a file that is only appended to.
            content = os.read(reader, min(size, _READ_BYTES))
            size -= len(content)
            while content:
                content = content[os.write(descriptor, content) :]
