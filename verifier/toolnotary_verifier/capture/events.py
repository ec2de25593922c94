# SPDX-License-Identifier: Apache-2.0
"""Server-sent events: bytes in, the payload of each message event out (HTML Standard, section 9.2.6)."""

from collections.abc import Iterator

from toolnotary_verifier.errors import InvalidInput


class Events:
    """Splits one response body into events, without I/O and without holding more than one event.

    Lines end in LF, CRLF or CR. An event's `data` lines are joined by LF; other fields are read over, since
    MCP gives them no meaning for a client that does not resume streams.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []  # of the line that has not ended yet
        self._held = b""  # a CR at the end of a chunk may be half of a CRLF
        self._payload: list[bytes] = []
        self._size = 0
        self._is_first_line = True

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The payloads that this chunk completes.

        Raises:
            InvalidInput: `too-large`, if one event exceeds the limit.
        """
        content = self._held + chunk
        self._held = b"\r" if content.endswith(b"\r") else b""
        content = content[: len(content) - len(self._held)]
        first, *others = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._pieces.append(first)
        self._count(len(first))
        for line in others:
            payload = self._line(b"".join(self._pieces))
            self._pieces = [line]
            self._count(len(line))
            if payload is not None:
                yield payload

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._max_bytes:
            raise InvalidInput("too-large", f"an event has more than {self._max_bytes} bytes")

    def _line(self, line: bytes) -> bytes | None:
        if self._is_first_line:
            line = line.removeprefix(b"\xef\xbb\xbf")  # the standard drops one byte order mark
            self._is_first_line = False
        if not line:
            payload, self._payload, self._size = self._payload, [], 0
            return b"\n".join(payload) if payload else None
        name, _, value = line.partition(b":")
        if name == b"data":
            self._payload.append(value.removeprefix(b" "))
        return None
