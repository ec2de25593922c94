# SPDX-License-Identifier: Apache-2.0
"""Bytes of a stream into lines, and lines into a descriptor (MCP, transports: one message a line)."""

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolnotary_verifier.shells.long_line import LongLine

_MOST_AT_ONCE = 1 << 20
_PIECE = 4 << 10
_LONG = 256 << 10


class LineTooLongError(Exception):
    """A peer sent more bytes without a line feed than anybody should have to keep."""


class Lines:
    """Cuts a stream at line feeds and nowhere else; what is not yet a line is kept, within bounds.

    Attributes:
        parts: how what is kept begins; while it is empty, a chunk with one line feed at its end is one line.
    """

    def __init__(
        self, most: int, *, at_length: "Callable[[list[bytes | bytearray]], LongLine] | None" = None
    ) -> None:
        """Nothing is kept yet.

        Args:
            most: bytes of a line.
            at_length: makes what keeps a very long line from its first parts; None where it is kept as any.
        """
        self._most = most
        # Each of at least a piece but for the last, which grows: a peer that sends byte by byte fills it with
        # few objects, and a long line is copied once.
        self.parts: list[bytes | bytearray] = []
        self._size = 0
        self._at_length = at_length
        self._long: LongLine | None = None

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, each with its line feed.

        Raises:
            LineTooLongError: a line is longer than allowed.
        """
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._keep(chunk)
            return []
        if end == len(chunk) == chunk.find(b"\n") + 1:  # the end of one line, as most are
            self._keep(chunk)
            return [self.rest()]
        lines = chunk[:end].split(b"\n")
        lines.pop()
        lines = [line + b"\n" for line in lines]
        if self.parts:
            self._keep(lines[0])
            lines[0] = self.rest()
        if end < len(chunk):
            self._keep(chunk[end:])
        return lines

    def completed_by(self, chunk: bytes) -> "LongLine | None":
        """The very long line that this chunk completes, if that is all it does; it is kept here no more.

        Raises:
            LineTooLongError: it is longer than allowed.
        """
        if self._long is None or not chunk.endswith(b"\n") or chunk.find(b"\n") != len(chunk) - 1:
            return None
        self._keep(chunk)
        long, self._long = self._long, None
        self._forget()
        return long

    def rest(self) -> bytes:
        """What is kept, which is no line if the stream ends here."""
        long, self._long = self._long, None
        line = b"".join(self.parts) if long is None else long.whole()
        self._forget()
        return line

    def _forget(self) -> None:
        self.parts.clear()
        self._size = 0

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            raise LineTooLongError(f"a line of more than {self._most} bytes")
        if self._long is not None:
            self._long.add(part)
            return
        last = self.parts[-1] if self.parts else b""
        if len(part) >= _PIECE:
            self.parts.append(part)
        elif isinstance(last, bytearray) and len(last) < _PIECE:
            last += part
        else:
            self.parts.append(bytearray(part))
        if self._size >= _LONG and self._at_length is not None:
            self._long = self._at_length(self.parts)


class Outlet:
    """A descriptor that several threads write frames to, in the order in which they were put here.

    `put` never blocks and `drain` may: a thread that must not wait for this descriptor puts, and leaves
    draining to another.

    Attributes:
        frames: what is queued.
        batches: how many times something was written and taken, of what was queued or written at once.
        writing: held by whoever writes. With nothing queued, who acquires it may write at once.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.frames: deque[bytes] = deque()
        self.writing = threading.Lock()
        self.batches = 0
        self._is_open = True

    def put(self, frame: bytes) -> None:
        """Queue a frame."""
        self.frames.append(frame)

    def write_acquired(self, frame: bytes) -> bool:
        """Write a frame by the right of having acquired `writing`, and release it; returns as `drain`."""
        try:
            if self._is_open:
                written = os.write(self._descriptor, frame)
                if written < len(frame):
                    write(self._descriptor, frame[written:])
                self.batches += 1
        except OSError:
            self._is_open = False
        finally:
            self.writing.release()
        return self._is_open

    def pour_acquired(self, line: "LongLine") -> bool:
        """As `write_acquired`, of a very long line."""
        try:
            if self._is_open:
                line.pour(self._descriptor)
                self.batches += 1
        except OSError:
            self._is_open = False
        finally:
            line.close()
            self.writing.release()
        return self._is_open

    def drain(self) -> bool:
        """Write what is queued, by whomever; False if nobody reads the other end any more."""
        while self.frames:
            with self.writing:
                batch = self._take()
                if not self._is_open:
                    continue
                try:
                    write(self._descriptor, batch)
                    self.batches += 1
                except OSError:
                    self._is_open = False
        return self._is_open

    def finish(self, seconds: float) -> None:
        """Wait until all is written, but no longer than this."""
        if self.writing.acquire(timeout=seconds):
            self.writing.release()

    def close(self) -> None:
        """Write what is queued, and take nothing more."""
        self.drain()
        with self.writing:
            self._is_open = False

    def _take(self) -> bytes:
        frames = self.frames
        batch, size = [], 0
        while frames and size < _MOST_AT_ONCE:
            batch.append(frames.popleft())
            size += len(batch[-1])
        return b"".join(batch)


def write(descriptor: int, content: bytes | bytearray) -> None:
    """Write all of it, however little one write takes."""
    written = os.write(descriptor, content)
    if written < len(content):
        view = memoryview(content)
        while written < len(content):
            written += os.write(descriptor, view[written:])
