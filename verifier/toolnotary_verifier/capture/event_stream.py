# SPDX-License-Identifier: Apache-2.0
"""The event stream that answers a request, read as far as somebody waits for it."""

from http.client import HTTPResponse

from toolnotary_verifier.capture.endpoint import Connection
from toolnotary_verifier.capture.events import Events
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.limits import Limits

_CHUNK = 64 << 10  # bytes


class EventStream:
    """The event stream of one response, bounded in all."""

    def __init__(self, connection: Connection, response: HTTPResponse, limits: Limits) -> None:
        self.connection = connection
        self._response = response
        self._events = Events(max_bytes=limits.frame_bytes)
        self._left = limits.line_bytes

    def read(self, deadline: float) -> list[bytes] | None:
        """The events that one more read completes; None at the end of the stream.

        Args:
            deadline: until when to wait, by the connection's clock.

        Raises:
            InvalidInput: `too-large`, for one event or for all of them.
            OSError, HTTPException, ValueError: the connection broke off; `TimeoutError` at the deadline.
        """
        self.connection.deadline = deadline
        chunk = self._response.read1(_CHUNK)
        if not chunk:
            return None
        self._left -= len(chunk)
        if self._left < 0:
            raise InvalidInput("too-large", "an event stream that does not end")
        return list(self._events.feed(chunk))
