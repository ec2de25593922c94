# SPDX-License-Identifier: Apache-2.0
"""What every HTTP request of a host comes to: through the gate, to the server, and back through the gate.

A request is an exchange of its lane's gate. It is answered from what is verified, waits for a verification,
or goes on to the server; what comes back is judged by `relay`.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from toolnotary_verifier.gate import Effects, Gate, Matter, Side, Streams
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.shells.http.agreement import mismatch
from toolnotary_verifier.shells.http.asking import Asking
from toolnotary_verifier.shells.http.lane import Inbox, Lane
from toolnotary_verifier.shells.http.lanes import Lanes, SoleLane
from toolnotary_verifier.shells.http.message import (
    SESSION,
    Body,
    Header,
    Reply,
    Request,
    Response,
    Send,
    UpstreamError,
    body_of,
    handed_on,
    header,
    one_line,
)
from toolnotary_verifier.shells.http.own_answers import of_frames, takes_events
from toolnotary_verifier.shells.http.refusal import bad_gateway, refusal_of
from toolnotary_verifier.shells.http.relay import Relay

# Headers that are written anew for the server: the body may be another one, and must come uncompressed.
_NOT_TO_SERVER: Final = (b"accept-encoding", b"content-length", b"expect", b"host", b"origin")
_UNCOMPRESSED: Final = (b"accept-encoding", b"identity")
_LISTEN: Final = b'"subscriptions/listen"'

# Gives headers for a request that may go on, by the gate that let it pass and its body.
Addressed = Callable[[Gate, bytes], Sequence[Header]]


class Gated(NamedTuple):
    """A gate, and who is told what it says.

    Attributes:
        gate: decides.
        heard: is given what follows from every frame: decisions, lines for people, look-ups. Where it answers
            False, nothing goes on any more.
    """

    gate: Gate
    heard: Callable[[Effects], bool]


class Front:
    """One server behind its gates, on one event loop."""

    def __init__(
        self,
        open_gate: Callable[[Streams], Gated],
        send: Send,
        *,
        is_sole: bool = False,
        addressed: Addressed = lambda _gate, _content: (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Nothing has passed yet.

        Args:
            open_gate: makes a gate for hosts that share streams so.
            send: sends a request to the server.
            is_sole: whether all requests are those of one host, which hears what nobody asked for in `hear`.
            addressed: gives the headers that a request of the host needs besides, once it may go on.
            limits: bounds on bodies and events.
        """
        self._open_gate = open_gate
        self._send = send
        self._limits = limits
        self._addressed = addressed
        self._is_sole = is_sole
        self._asking = Asking(send, kin=self._kin, limits=limits)
        self._lanes = SoleLane(self._begin) if is_sole else Lanes(self._begin)
        self._numbers = itertools.count()
        self._broken = ""

    async def respond(self, request: Request) -> Response:
        """The response to one request of a host.

        A request that is cancelled is no longer answered, and the server sees that nobody waits for it.
        """
        if self._broken:
            return bad_gateway(self._broken, status=500)
        if request.method == "POST":
            return await self._post(request)
        if request.method == "GET":
            return await self._listen(request)
        if request.method == "DELETE":
            return await self._end_session(request)
        return Response(405, [(b"allow", b"DELETE, GET, POST")], b"")

    def hear(self) -> Inbox:
        """Where a sole host finds what comes to none of its requests, and a response once nothing passes."""
        lane, exchange = self._lanes.of(Request("GET", (), b"")), next(self._numbers)
        inbox = lane.open(exchange, hears_all=True)
        lane.hears(exchange)
        return inbox

    def each_gate(self, what: Callable[[Gate], Effects]) -> None:
        """Do something with every gate, such as judging again, and all that follows from it."""
        for lane in self._lanes.all():
            lane.follow(what(lane.gate), also_here=True)

    def with_gate(self, gate: Gate, what: Callable[[Gate], Effects]) -> bool:
        """Do something with one gate, and all that follows from it; False if it is not used any more."""
        for lane in self._lanes.all():
            if lane.gate is gate:
                lane.follow(what(gate), also_here=True)
                return True
        return False

    def leave(self) -> list[Matter]:
        """What follows for questions that are open in hosts, since nobody answers them any more."""
        return [matter for lane in self._lanes.all() for matter in lane.gate.leave().matters]

    def break_off(self, why: str) -> None:
        """Let nothing pass any more: something failed without which nobody may trust what passes."""
        self._broken = why
        for lane in self._lanes.all():
            lane.gate.close()
            lane.end(bad_gateway(why, status=500))

    async def aclose(self) -> None:
        """End what is under way."""
        for lane in self._lanes.all():
            lane.end(bad_gateway("toolnotary ends"))
        await self._asking.aclose()

    # Requests

    async def _post(self, request: Request) -> Response:
        if len(request.body) > self._limits.line_bytes:
            return Response(413, [], b"")
        if body_of(request.headers) is Body.UNCLEAR:
            return Response(415, [], b"")
        lane = self._lane(request)
        if not self._is_sole and (refused := mismatch(request, limits=self._limits)) is not None:
            effects = Effects()
            effects.note("request-refused", "a message of the host was refused: its headers say another one")
            lane.follow(effects)
            return refused
        headers = lane.facts
        exchange = next(self._numbers)
        inbox = lane.open(exchange)
        is_open = False
        try:
            content = await self._admitted(lane, exchange, inbox, request)
            if isinstance(content, Response):
                return mismatch(request, limits=self._limits, is_answered=True) or content
            besides = self._addressed(lane.gate, content)
            reply = await self._send(request._replace(headers=[*headers, *besides], body=content))
            is_long = _LISTEN in request.body
            self._bind(lane, reply, request)
            relay = Relay(lane, exchange, inbox, is_long=is_long, limits=self._limits)
            response = await relay.response(reply)
        except UpstreamError as error:
            return refusal_of(request.body, str(error), limits=self._limits)
        except Exception as error:  # noqa: BLE001 - as in the gate: what failed once must not stay open
            return self._failed(lane, error)
        else:
            is_open = not isinstance(response.body, bytes)
            return response
        finally:
            if not is_open:
                lane.close(exchange)

    async def _admitted(self, lane: Lane, exchange: int, inbox: Inbox, request: Request) -> bytes | Response:
        """The body that goes on to the server, or what the host is answered instead."""
        body = request.body
        frame = one_line(body)
        effects = lane.receive(Side.HOST, frame, exchange)
        if effects is None:
            return body if len(frame) == len(body) + 1 and frame.startswith(body) else frame[:-1]
        inbox.take(effects)
        while not (inbox.to_host or inbox.to_server or inbox.response) and lane.gate.holds(exchange):
            inbox.news.clear()
            await inbox.news.wait()
        if inbox.response is not None:
            return inbox.response
        if inbox.to_server:
            return inbox.to_server.pop(0).rstrip(b"\r\n")
        lane.stir()  # it may have cancelled another request, which waits for nothing any more
        as_events = lane.has_events and takes_events(request)
        return of_frames(inbox.frames(), as_events=as_events) or Response(202, [], b"")

    async def _listen(self, request: Request) -> Response:
        """A stream for what nobody asked for; one that is resumed as well (until 2025-11-25)."""
        lane = self._lane(request)
        exchange = next(self._numbers)
        inbox = lane.open(exchange, hears_all=not self._is_sole)
        is_open = False
        try:
            reply = await self._send(request._replace(headers=lane.facts, body=b""))
            relay = Relay(lane, exchange, inbox, is_long=True, limits=self._limits)
            response = await relay.response(reply)
        except UpstreamError as error:
            return bad_gateway(str(error))
        except Exception as error:  # noqa: BLE001 - as above
            return self._failed(lane, error)
        else:
            is_open = not isinstance(response.body, bytes)
            if is_open and not self._is_sole:
                lane.hears(exchange)
            return response
        finally:
            if not is_open:
                lane.close(exchange)

    async def _end_session(self, request: Request) -> Response:
        lane = self._lane(request)
        try:
            reply = await self._send(request._replace(headers=lane.facts, body=b""))
        except UpstreamError as error:
            return bad_gateway(str(error))
        await reply.aclose()
        if reply.status < 300:
            lane.follow(lane.gate.leave())
            self._lanes.drop(lane)
            lane.rest()
        return Response(reply.status, [], b"")

    # Lanes

    def _kin(self, lane: Lane) -> Sequence[Lane]:
        return self._lanes.kin(lane)

    def _begin(self, streams: Streams) -> Lane:
        gate, heard = self._open_gate(streams)

        def hear(lane: Lane, effects: Effects) -> None:
            if not heard(effects):
                gate.close()
                effects.drop("its decisions cannot be taken down")
            if effects.close is not None:
                self._lanes.drop(lane)
                lane.end(bad_gateway(effects.close, status=500))
            if effects.is_stale:
                for other in self._lanes.beside(lane):
                    other.follow(other.gate.doubt())

        return Lane(gate, ask=self._asking.ask, heard=hear)

    def _failed(self, lane: Lane, error: Exception) -> Response:
        lane.gate.close()
        effects = Effects(close=f"is not guarded any more: {type(error).__name__}")
        effects.note("gate-failed", f"a connection is closed: {type(error).__name__}: {error}")
        lane.follow(effects)
        return bad_gateway(effects.close or "", status=500)

    def _lane(self, request: Request) -> Lane:
        lane = self._lanes.of(request)
        lane.facts = [*handed_on(request.headers, *_NOT_TO_SERVER), _UNCOMPRESSED]
        return lane

    def _bind(self, lane: Lane, reply: Reply, request: Request) -> None:
        session = header(reply.headers, SESSION)
        if session is not None and header(request.headers, SESSION) is None and request.method == "POST":
            self._lanes.bind(lane, session, request)
