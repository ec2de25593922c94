# SPDX-License-Identifier: Apache-2.0
"""Standard input and output beside an event loop: a thread for each, since nobody can wait for all pipes.

(Windows waits for no pipe, and nothing waits for a file.) Neither side keeps more than a bound: a host that
reads nothing holds up whoever has something for it, and a loop that is busy holds up the host.
"""

import asyncio
import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

from toolnotary_verifier import process
from toolnotary_verifier.shells.lines import Lines, LineTooLongError, Outlet

_CHUNK: Final = 256 << 10
_AHEAD: Final = 64  # lines that were read and not taken
_QUEUED_BYTES: Final = 4 << 20  # that the host has not read


class Pipes:
    """The host's end: lines from it, frames to it.

    Attributes:
        closed: set once the host says no more, though lines may be left.
        gone: set once the host reads no more.
        too_long: why its lines ended early; empty where they did not.
    """

    def __init__(self, *, line_bytes: int) -> None:
        """Must be made on the loop.

        Args:
            line_bytes: that a line may have.
        """
        self.closed = asyncio.Event()
        self.gone = asyncio.Event()
        self.too_long = ""
        self._loop = asyncio.get_running_loop()
        self._lines: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._ahead = threading.Semaphore(_AHEAD)
        self._frames: SimpleQueue[bytes] = SimpleQueue()
        self._queued = 0
        self._room = asyncio.Event()
        self._room.set()
        for target in (lambda: self._read(Lines(line_bytes)), self._write, self._watch):
            threading.Thread(target=target, daemon=True).start()

    async def line(self) -> bytes | None:
        """The next line of the host; None after the last one."""
        while not self._lines:
            if self.closed.is_set():
                return None
            self._news.clear()
            await self._news.wait()
        self._ahead.release()
        return self._lines.popleft()

    async def write(self, frame: bytes) -> None:
        """Give the host a frame, once there is room for it."""
        while not self._room.is_set():
            await self._room.wait()
        self._queued += len(frame)
        if self._queued > _QUEUED_BYTES:
            self._room.clear()
        self._frames.put(frame)

    async def flush(self, seconds: float) -> None:
        """Wait until the host was given everything, but no longer than this."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._queued and not self.gone.is_set():
                    self._room.clear()
                    await self._room.wait()

    # Threads

    def _read(self, lines: Lines) -> None:
        try:
            while chunk := os.read(0, _CHUNK):
                for line in lines.feed(chunk):
                    self._ahead.acquire()
                    self._tell(self._arrived, line)
            if rest := lines.rest():
                self._tell(self._arrived, rest)
        except LineTooLongError as error:
            self._tell(self._ended, str(error))
        except OSError:
            self._tell(self._ended, "")
        else:
            self._tell(self._ended, "")

    def _write(self) -> None:
        outlet = Outlet(1)
        while True:
            frame = self._frames.get()
            outlet.put(frame)
            self._tell(self._written, len(frame), outlet.drain())

    def _watch(self) -> None:
        """Notice that nobody reads any more also while nothing is written, as where a host was killed."""
        if process.await_hang_up(1):
            self._tell(self._left)

    def _tell(self, what: Callable[..., None], *told: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is there to be told
            self._loop.call_soon_threadsafe(what, *told)

    # On the loop

    def _arrived(self, line: bytes) -> None:
        self._lines.append(line)
        self._news.set()

    def _ended(self, too_long: str) -> None:
        self.too_long = too_long
        self.closed.set()
        self._news.set()

    def _left(self) -> None:
        self.gone.set()
        self._room.set()

    def _written(self, size: int, is_read: bool) -> None:  # noqa: FBT001 - told by a thread
        self._queued -= size
        if not is_read:
            self.gone.set()
        if self._queued <= _QUEUED_BYTES // 2 or not is_read:
            self._room.set()
