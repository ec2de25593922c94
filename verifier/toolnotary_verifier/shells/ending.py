# SPDX-License-Identifier: Apache-2.0
"""How a connection ends: what is told of host, server and gate, and what follows from it.

Ending follows MCP (lifecycle: shutdown, stdio): standard input closed, then SIGTERM, then SIGKILL, each after
a pause. A host that is gone is noticed even where the thread that reads from it waits for a server that reads
nothing any more.
"""

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Final

from toolnotary_verifier import process
from toolnotary_verifier.process import Process
from toolnotary_verifier.shells.lines import Outlet

_PAUSE: Final = 2.0  # seconds between the steps of ending a server
_STUCK: Final = 10.0  # seconds in which nothing that a host left behind reached its server


class Ending:
    """What ends one connection; it is told by any thread, and the main thread waits."""

    def __init__(self, server: Process, to_server: Outlet, *, is_waiting: Callable[[], bool]) -> None:
        """Nothing has ended.

        Args:
            server: the started server.
            to_server: what is written to it.
            is_waiting: whether requests of the host still wait for an answer of the server.
        """
        self.is_host_gone = False
        self._server = server
        self._to_server = to_server
        self._is_waiting = is_waiting
        self._events: SimpleQueue[tuple[str, int]] = SimpleQueue()

    def tell(self, event: str, number: int = 0) -> None:
        """Tell what happened.

        Args:
            event: `host-closed`, `server-closed`, `exited` for a child of ours, `signal`, `written` for what
                waited for the host, `stuck` for what waits for the server, `failed`.
            number: of the signal, or the exit code of what failed.
        """
        self._events.put((event, number))

    def signalled(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal, which goes on to the server."""
        self.tell("signal", number)

    def watch_host(self, is_read: Callable[[], bool]) -> None:
        """Tell that the host is gone where nobody reads that from its stream.

        Args:
            is_read: whether all that the host said was read, its end included.
        """
        if not process.await_hang_up(0):
            return
        while not is_read():
            before = self._to_server.batches
            time.sleep(_STUCK)
            if self._to_server.batches == before and not is_read():
                self.tell("stuck")
                return

    def wait(self) -> int | None:
        """Wait until the server has ended or must be ended; the exit code where it is not the server's."""
        steps = [self._server.terminate]
        due: float | None = None
        while True:
            try:
                event, number = self._events.get(
                    timeout=None if due is None else max(0.0, due - time.monotonic())
                )
            except Empty:
                if not steps:
                    return None
                steps.pop()()
                due = time.monotonic() + _PAUSE
                continue
            if event == "failed":
                return number
            if event == "exited" and self._has_exited():
                return None
            if self._must_end(event, number) and due is None:
                due = time.monotonic() + _PAUSE

    def _has_exited(self) -> bool:
        self._server.collect()
        return self._server.wait(0) is not None

    def _must_end(self, event: str, number: int) -> bool:
        """Whether this event begins the end of the server, if it does not end by itself."""
        if event == "signal":
            self._server.send_signal(number)
            return True
        if event in ("server-closed", "stuck"):
            return True
        self.is_host_gone = self.is_host_gone or event == "host-closed"
        if not self.is_host_gone or self._is_waiting():
            return False
        self._to_server.close()
        self._server.close_input()
        return True
