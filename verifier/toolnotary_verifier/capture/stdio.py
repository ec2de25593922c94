# SPDX-License-Identifier: Apache-2.0
"""The stdio transport, client side: one process, a message a line (MCP, basic: transports).

Three threads move bytes, so that a server which never reads, never ends a line or fills its standard error
cannot block this side: reader and writer meet the conversation in short queues, with one deadline for both.
"""

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.capture.concealed import Concealed
from toolnotary_verifier.errors import CannotTell, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.jsonrpc import frame
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.process import Process

_QUEUED = 4  # lines that are read ahead: each may be as long as a frame
_UNSENT = 64  # answers that wait for a server which does not read
_CHUNK = 64 << 10
_KEPT_BYTES = 8192
_SHOWN = 400
_FLUSH_SECONDS = 0.5
_GRACE_SECONDS = 1.0


class _End:
    """Stands in the reader's queue for the end of standard output."""


class Stdio:
    """One client of one process; see `Transport` for the methods."""

    kind = "stdio"
    is_duplex = True

    def __init__(
        self,
        child: Process,
        *,
        server: str,
        concealed: Concealed,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server = server
        self.protocol_version: str | None = None
        self._child = child
        self._concealed = concealed
        self._limits = limits
        self._clock = clock
        self._in: queue.Queue[bytes | _End | InvalidInput] = queue.Queue(_QUEUED)
        self._out: queue.Queue[bytes | None] = queue.Queue(_UNSENT)
        self._last_words: deque[bytes] = deque()
        self._closing = threading.Event()
        assert child.stderr is not None  # noqa: S101 - `start` asked for a pipe
        self._stderr = self._thread(self._listen, child.stderr)
        self._threads = [
            self._stderr,
            self._thread(self._read, child.stdout),
            self._thread(self._write, child.stdin),
        ]

    def send(self, message: JsonObject, *, deadline: float) -> None:
        """Hand one line to the writer."""
        try:
            self._out.put(frame(message), timeout=max(0.0, deadline - self._clock()))
        except queue.Full:
            raise CannotTell(
                "no-answer",
                f"{self.server}: it reads nothing any more{self.explain()}",
                remedy="give it more time, or start it by hand to see what it waits for",
            ) from None

    def receive(self, *, deadline: float) -> bytes | None:
        """The next line from standard output that is not blank."""
        try:
            item = self._in.get(timeout=max(0.0, deadline - self._clock()))
        except queue.Empty:
            return None
        if isinstance(item, bytes):
            return item
        self._in.put(item)  # whoever asks again gets the same answer
        if isinstance(item, InvalidInput):
            raise item
        raise self._ended()

    def explain(self) -> str:
        """The last of its standard error, in one line, without the secrets that it was started with."""
        text = self.mask(b"".join(self._last_words)[-_KEPT_BYTES:].decode("utf-8", "replace"))
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        if not lines:
            return ""
        return f"; on standard error: {escape(' / '.join(lines)[-_SHOWN:])}"

    def mask(self, text: str) -> str:
        """`text` without the secrets that the server was started with."""
        return self._concealed.mask(text)

    def close(self) -> None:
        """End the process: by the end of its input, else by signal, and with it all that it started."""
        self._closing.set()
        with contextlib.suppress(queue.Full):
            self._out.put_nowait(None)
        if self._child.wait(_GRACE_SECONDS) is None:
            self._child.terminate()
            self._child.wait(_GRACE_SECONDS)
        self._child.end()
        with contextlib.suppress(queue.Full):
            self._out.put_nowait(None)
        for thread in self._threads:
            thread.join(_FLUSH_SECONDS)
        if not any(thread.is_alive() for thread in self._threads):
            self._child.close()

    def _ended(self) -> CannotTell:
        code = self._child.wait(_FLUSH_SECONDS)
        self._stderr.join(_FLUSH_SECONDS)
        how = "closed its standard output" if code is None else f"ended with exit code {code}"
        return CannotTell(
            "server-ended",
            f"{self.server}: it {how} before it answered{self.explain()}",
            remedy="start it by hand to see what it needs",
        )

    # Threads

    def _thread(self, target: Callable[[BinaryIO], None], stream: BinaryIO) -> threading.Thread:
        thread = threading.Thread(target=target, args=(stream,), daemon=True)
        thread.start()
        return thread

    def _read(self, stream: BinaryIO) -> None:
        most = self._limits.frame_bytes
        try:
            while line := stream.readline(most + 1):
                if len(line) > most:
                    message = f"{self.server}: a line of its output has more than {most} bytes"
                    self._offer(InvalidInput("too-large", message))
                    return
                if line.strip():
                    self._offer(line)
        except (OSError, ValueError):
            pass  # closed under our hands: the conversation is over
        self._offer(_End())

    def _offer(self, item: bytes | _End | InvalidInput) -> None:
        while not self._closing.is_set():
            try:
                return self._in.put(item, timeout=0.1)
            except queue.Full:
                continue
        return None

    def _write(self, stream: BinaryIO) -> None:
        with contextlib.suppress(OSError, ValueError):  # it reads no more; its output tells why
            while (line := self._out.get()) is not None:
                stream.write(line)
                stream.flush()
        with contextlib.suppress(OSError, ValueError):
            stream.close()

    def _listen(self, stream: BinaryIO) -> None:
        kept = 0
        try:
            while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]  # a pipe is a BufferedReader
                self._last_words.append(chunk[-_KEPT_BYTES:])
                kept += len(self._last_words[-1])
                while kept > _KEPT_BYTES + len(self._last_words[0]):
                    kept -= len(self._last_words.popleft())
        except (OSError, ValueError):
            pass
