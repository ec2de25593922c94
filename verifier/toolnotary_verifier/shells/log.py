# SPDX-License-Identifier: Apache-2.0
"""Lines for people on standard error, as many as they can read."""

import contextlib
import os
import threading
import time
from collections.abc import Callable

from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate import Entry

_BURST = 200
_A_SECOND = 10.0
_SHOWN = 2200  # more than the gate lets a line have


class Log:
    """Writes `toolnotary: SERVER: TEXT`; beyond a rate, lines are counted and left out."""

    def __init__(
        self,
        server: str,
        *,
        write: Callable[[str], None] | None = None,
        place: str = "on its standard output",
    ) -> None:
        """Nothing is written yet.

        Args:
            server: the name given by the user.
            write: takes a line; standard error if None.
            place: where the server says what is no message.
        """
        self._place = place
        self._write = write or _write
        self._prefix = f"toolnotary: {escape(server, limit=200)}: "
        self._lock = threading.Lock()
        self._left = float(_BURST)
        self._at = time.monotonic()
        self._dropped = 0
        self._noise = 0

    def entry(self, entry: Entry) -> None:
        """Tell what the gate did; the text is escaped already."""
        if entry.code == "noise":
            with self._lock:
                self._noise += 1
                count = self._noise
            self.line(f"{self._place}, no message ({count}): {entry.text}")
        else:
            self.line(f"{entry.text} [{entry.code}]")

    def note(self, code: str, text: str) -> None:
        """Tell what a shell did; the text is escaped here."""
        self.line(f"{text} [{code}]")

    def line(self, text: str) -> None:
        """One line; what nobody escaped yet is spelled out here."""
        with self._lock:
            now = time.monotonic()
            self._left = min(float(_BURST), self._left + (now - self._at) * _A_SECOND)
            self._at = now
            if self._left < 1:
                self._dropped += 1
                return
            self._left -= 1
            dropped, self._dropped = self._dropped, 0
        if dropped:
            self._write(f"{self._prefix}{dropped} more lines were left out")
        self._write(self._prefix + escape(text, keep="\\", limit=_SHOWN))


def _write(line: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it: no reason to stop guarding
        os.write(2, f"{line}\n".encode("utf-8", "backslashreplace"))
