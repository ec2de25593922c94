# SPDX-License-Identifier: Apache-2.0
"""Server-sent events on their way through: cut where every reader cuts, written again where one is replaced.

Lines end in LF, CRLF or CR (HTML Standard, section 9.2.6). An event whose fields are all known goes on byte
for byte; of any other only the known fields do, so that no lenient reader finds `data` where we did not.
"""

import re
from typing import Final, NamedTuple

from toolnotary_verifier.errors import InvalidInput

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
# What says nothing between two events, and may be sent without end: it costs no more than its bytes.
_NOTHING: Final = re.compile(rb"(?:[\r\n]++|:[^\r\n]*+[\r\n])++")
_OPENS_NOTHING: Final = frozenset((b"\n", b"\r", b":"))
_BOM: Final = b"\xef\xbb\xbf"
_KEPT: Final = frozenset((b"event", b"id", b"retry"))


class Event(NamedTuple):
    """One event, or a comment between events.

    Attributes:
        raw: its bytes, with the blank line that ends it; empty where they must not go on as they are.
        data: its payload; None where it has no `data` at all.
        fields: its other fields, a line each.
    """

    raw: bytes
    data: bytes | None
    fields: bytes

    def with_data(self, frames: list[bytes]) -> bytes:
        """The event with these messages for its payload, the first under its own id; none at all as well."""
        if not frames:
            return self.fields + b"\n" if self.fields else b""
        first, *others = frames
        return b"".join([self.fields, *map(event_of, (first, *others))])


def event_of(frame: bytes) -> bytes:
    """One message as an event."""
    return b"data: " + frame.strip(b"\r\n") + b"\n\n"


class EventCutter:
    """Cuts one stream into events, without I/O and without holding more than one."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()  # of the line that has not ended yet
        # Bytes, not lines: an object for each line of one byte would take thirty times its size.
        self._raw = bytearray()
        self._fields = bytearray()
        self._data = bytearray()
        self._size = 0
        self._has_data = False
        self._is_known = True
        self._is_first_line = True
        self._was_return = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that this chunk completes; comments and blank lines between two count as one comment.

        Raises:
            InvalidInput: `too-large`, if one event exceeds the limit.
        """
        if not chunk:
            return []
        if self._was_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a line end that was taken for a whole one
        self._was_return = chunk.endswith(b"\r")
        self._size += len(chunk)
        events = []
        start = 0
        while True:
            event, end = None, start
            if chunk[start : start + 1] in _OPENS_NOTHING:
                event, end = self._between(chunk, start)
            if event is None:
                found = _LINE_END.search(chunk, start)
                if found is None:
                    break
                line = bytes(self._rest) + chunk[start : found.start()]
                self._rest.clear()
                event, end = self._line(line, found[0]), found.end()
            start = end
            if event is not None:
                events.append(event)
                self._size = len(chunk) - start
        self._rest += chunk[start:]
        if self._size > self._max_bytes:
            raise InvalidInput("too-large", f"an event has more than {self._max_bytes} bytes")
        return events

    def _between(self, chunk: bytes, start: int) -> tuple[Event | None, int]:
        """What says nothing and stands here between two events, as one comment, and where it ends."""
        if self._raw or self._rest or self._is_first_line:
            return None, start
        found = _NOTHING.match(chunk, start)
        return (None, start) if found is None else (Event(found[0], None, b""), found.end())

    def _line(self, line: bytes, ending: bytes) -> Event | None:
        is_begun = bool(self._raw)
        self._raw += line + ending
        if self._is_first_line:
            line = line.removeprefix(_BOM)
            self._is_first_line = False
        if not line:
            return self._end()
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data += (b"\n" if self._has_data else b"") + value.removeprefix(b" ")
            self._has_data = True
        elif name in _KEPT:
            self._fields += line + b"\n"
        elif name:
            self._is_known = False
        elif not is_begun:
            return self._end()  # a comment between events, such as one that keeps the connection alive
        return None

    def _end(self) -> Event:
        data = bytes(self._data) if self._has_data else None
        event = Event(bytes(self._raw) if self._is_known else b"", data, bytes(self._fields))
        self._raw, self._data, self._fields = bytearray(), bytearray(), bytearray()
        self._is_known, self._has_data = True, False
        return event
