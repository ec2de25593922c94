# SPDX-License-Identifier: Apache-2.0
"""Bytes of a stream into lines, and lines into a descriptor (MCP, transports: one message a line)."""

import os
import threading
from collections import deque
from collections.abc import Sequence

_MOST_AT_ONCE = 1 << 20
_PIECE = 64 << 10
_LONG = 1 << 20


class LineTooLongError(Exception):
    """A peer sent more bytes without a line feed than anybody should have to keep."""


class Lines:
    """Cuts a stream at line feeds and nowhere else; what is not yet a line is kept, within bounds.

    Attributes:
        parts: what is kept; while it is empty, a chunk with one line feed at its end is one line.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # Each of at least a piece but for the last, which grows: a peer that sends byte by byte fills it with
        # few objects, and a long line is copied once.
        self.parts: list[bytes | bytearray] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, each with its line feed.

        Raises:
            LineTooLongError: a line is longer than allowed.
        """
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._keep(chunk)
            return []
        lines = chunk[:end].split(b"\n")
        lines.pop()
        lines = [line + b"\n" for line in lines]
        if self.parts:
            self._keep(lines[0])
            lines[0] = self.rest()
        if end < len(chunk):
            self._keep(chunk[end:])
        return lines

    def completed_by(self, chunk: bytes) -> list[bytes | bytearray] | None:
        """The parts of a long line that this chunk completes, and nothing else; None for all else.

        They stay here until they are dropped, or `feed` is given the chunk.
        """
        if self._size < _LONG or chunk.find(b"\n") != len(chunk) - 1:
            return None
        return [*self.parts, chunk]

    def rest(self) -> bytes:
        """What is kept, which is no line if the stream ends here."""
        line = b"".join(self.parts)
        self.drop()
        return line

    def drop(self) -> None:
        """Keep nothing."""
        self.parts.clear()
        self._size = 0

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            raise LineTooLongError(f"a line of more than {self._most} bytes")
        last = self.parts[-1] if self.parts else b""
        if isinstance(last, bytearray) and len(last) < _PIECE:
            last += part
        else:
            self.parts.append(part if len(part) >= _PIECE else bytearray(part))


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
                    _write(self._descriptor, frame[written:])
                self.batches += 1
        except OSError:
            self._is_open = False
        finally:
            self.writing.release()
        return self._is_open

    def write_parts_acquired(self, parts: Sequence[bytes | bytearray]) -> bool:
        """As `write_acquired`, of a frame in parts."""
        try:
            if self._is_open:
                for part in parts:
                    _write(self._descriptor, part)
                self.batches += 1
        except OSError:
            self._is_open = False
        finally:
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
                    _write(self._descriptor, batch)
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


def _write(descriptor: int, content: bytes | bytearray) -> None:
    written = os.write(descriptor, content)
    if written < len(content):
        view = memoryview(content)
        while written < len(content):
            written += os.write(descriptor, view[written:])
