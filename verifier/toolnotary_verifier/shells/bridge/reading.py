# SPDX-License-Identifier: Apache-2.0
"""Responses as the lines that a host reads, and where a stream of events can be taken up again."""

import contextlib
import re
from collections.abc import AsyncGenerator
from typing import Final

from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.events import Event, EventCutter
from toolnotary_verifier.shells.http.message import Body, Response, body_of, one_line

_ID: Final = re.compile(rb"[^\x00-\x1f\x7f]{0,4096}")
_SHORTEST_PAUSE: Final = 0.05  # a server that wishes none is not asked without end
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0


class Place:
    """Where a stream is, and when to come back to it (HTML Standard, section 9.2.6).

    Attributes:
        last_event: the id of the last event that had one; empty where none had.
    """

    def __init__(self) -> None:
        self.last_event = b""
        self._wished: float | None = None
        self._doubled = _FIRST_PAUSE

    def take(self, event: Event) -> None:
        """An event came."""
        self._doubled = _FIRST_PAUSE
        for field in event.fields.splitlines():
            name, _, value = field.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"id" and _ID.fullmatch(value):
                self.last_event = value
            elif name == b"retry" and value.isdigit() and len(value) < 10:
                self._wished = int(value) / 1000

    def pause(self) -> float:
        """Seconds to wait now: as the server wishes, and each time longer where nothing comes."""
        doubled, self._doubled = self._doubled, min(2 * self._doubled, _LONGEST_PAUSE)
        if self._wished is None or doubled > _FIRST_PAUSE:
            return doubled
        return min(max(self._wished, _SHORTEST_PAUSE), _LONGEST_PAUSE)


async def frames_of(response: Response, place: Place, *, limits: Limits) -> AsyncGenerator[bytes]:
    """The messages of a response, a line each, as they come; whoever breaks off must close it.

    Args:
        response: of which the body is read, and closed.
        place: takes down what the events say of themselves.
        limits: bounds on an event.
    """
    body = response.body
    cutter = EventCutter(max_bytes=limits.line_bytes)
    if isinstance(body, bytes):
        events = cutter.feed(body) if body_of(response.headers) is Body.EVENTS else None
        if events is None and body.strip():
            yield one_line(body)
        for event in events or ():
            place.take(event)
            if event.data is not None and event.data.strip():
                yield one_line(event.data)
        return
    with contextlib.suppress(InvalidInput):  # longer than anything that passed the front
        try:
            async for chunk in body:
                for event in cutter.feed(chunk):
                    place.take(event)
                    if event.data is not None and event.data.strip():
                        yield one_line(event.data)
        finally:
            await body.aclose()
