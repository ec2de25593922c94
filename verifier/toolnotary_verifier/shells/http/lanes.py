# SPDX-License-Identifier: Apache-2.0
"""Which gate stands before a request: one for each session, and one for all hosts that look alike without.

What is verified belongs to whoever listed it: lists vary with the caller's authorization (MCP 2026-07-28,
tools). Every header that may tell one caller from another therefore tells two lanes apart.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from toolnotary_verifier.gate import Streams
from toolnotary_verifier.shells.http.lane import Lane
from toolnotary_verifier.shells.http.message import (
    ARGUMENT,
    HOP_BY_HOP,
    METHOD,
    NAME,
    SESSION,
    VERSION,
    Header,
    Request,
    header,
)

# What says nothing of the caller: of one message, of the connection, or of who traces it.
_OF_ONE_MESSAGE: Final = HOP_BY_HOP | {
    b"accept",
    b"accept-encoding",
    b"baggage",
    b"cache-control",
    b"content-length",
    b"content-type",
    b"date",
    b"expect",
    b"host",
    b"last-event-id",
    b"pragma",
    b"traceparent",
    b"tracestate",
    b"x-correlation-id",
    b"x-request-id",
    METHOD,
    NAME,
    SESSION,
}
_INITIALIZE: Final = b'"initialize"'
_IDLE: Final = 3600.0  # seconds
_Key = tuple[bytes | None, tuple[Header, ...]]


class Lanes:
    """The lanes of one upstream, least recently used first; what nobody uses is forgotten."""

    def __init__(self, begin: Callable[[Streams], Lane], *, most: int = 256) -> None:
        """No lane yet.

        Args:
            begin: makes a lane.
            most: how many are kept that nobody uses; one that is forgotten verifies anew.
        """
        self._begin = begin
        self._most = most
        self._lanes: dict[_Key, Lane] = {}

    def all(self) -> list[Lane]:
        """Every lane that may still be used."""
        return list(self._lanes.values())

    def beside(self, lane: Lane) -> list[Lane]:
        """The other lanes that see the same session as this one: a host that signed in anew has two of them.

        Where a server opens none, that may be any other lane without a session.
        """
        sessions = {session for (session, _), known in self._lanes.items() if known is lane}
        found = {
            id(known): known
            for (session, _), known in self._lanes.items()
            if session in sessions and known is not lane
        }
        return list(found.values())

    def kin(self, lane: Lane) -> list[Lane]:
        """The lanes of the same host in the same session, under other authorizations."""
        keys = {_unauthorized(key) for key, known in self._lanes.items() if known is lane}
        found = [known for key, known in self._lanes.items() if _unauthorized(key) in keys]
        return [known for known in found if known is not lane]

    def of(self, request: Request) -> Lane:
        """The lane of a request; a new one for a handshake, which may open a session."""
        key = _key(request.headers)
        if key[0] is None and _INITIALIZE in request.body:
            return self._begin(Streams.SESSION)
        lane = self._lanes.pop(key, None)
        if lane is None:
            self._forget()
            lane = self._begin(Streams.SHARED if key[0] is None else Streams.SESSION)
        lane.used = time.monotonic()
        self._lanes[key] = lane
        return lane

    def bind(self, lane: Lane, session: bytes, request: Request) -> None:
        """The session that a server opened in answer to this request has this lane."""
        self._forget()
        self._lanes[session, _caller(request.headers, in_session=True)] = lane

    def drop(self, lane: Lane) -> None:
        """Forget a lane that has ended."""
        for key, known in list(self._lanes.items()):
            if known is lane:
                del self._lanes[key]

    def _forget(self) -> None:
        """Make room: lanes without an open exchange go that were not used for long, or are too many."""
        old = time.monotonic() - _IDLE
        for key, lane in list(self._lanes.items()):
            if len(self._lanes) < self._most and lane.used > old:
                return
            if not lane.inboxes:
                lane.follow(lane.gate.leave())
                lane.rest()
                del self._lanes[key]


class SoleLane:
    """The lane of a host that has the server to itself: its ids are its own, whatever headers it sends."""

    def __init__(self, begin: Callable[[Streams], Lane]) -> None:
        """The one lane.

        Args:
            begin: makes it.
        """
        self.lane = begin(Streams.SESSION)

    def all(self) -> list[Lane]:
        """The lane."""
        return [self.lane]

    def beside(self, _lane: Lane) -> list[Lane]:
        """No other."""
        return []

    def kin(self, _lane: Lane) -> list[Lane]:
        """No other."""
        return []

    def of(self, _request: Request) -> Lane:
        """The lane, also for another handshake."""
        return self.lane

    def bind(self, _lane: Lane, _session: bytes, _request: Request) -> None:
        """A session changes nothing."""

    def drop(self, _lane: Lane) -> None:
        """One that has ended stays: nothing passes it, and there is no other."""


def _key(headers: Sequence[Header]) -> _Key:
    session = header(headers, SESSION)
    return session, _caller(headers, in_session=session is not None)


def _unauthorized(key: _Key) -> _Key:
    session, caller = key
    return session, tuple(one for one in caller if one[0] != b"authorization")


def _caller(headers: Iterable[Header], *, in_session: bool) -> tuple[Header, ...]:
    """What tells callers apart; not the revision of a session, which its `initialize` does not say yet."""
    told = (
        (name, value)
        for name, value in headers
        if name not in _OF_ONE_MESSAGE
        and not name.startswith(ARGUMENT)
        and not (in_session and name == VERSION)
    )
    return tuple(sorted(told))
