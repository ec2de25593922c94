# SPDX-License-Identifier: Apache-2.0
"""What every HTTP request of a host comes to: through the gate, to the server, and back through the gate.

Every message of every stream is judged, wherever a server puts it: SDKs feed all streams into one table of
ids (research: cross-stream injection). A body that some reader could take for messages and we could not, is
not handed on.
"""

import itertools
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Final, NamedTuple

from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.gate import Effects, Gate, Side, Streams
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.shells.http.asking import Asking
from toolnotary_verifier.shells.http.events import Event, EventCutter, event_of
from toolnotary_verifier.shells.http.lane import Inbox, Lane
from toolnotary_verifier.shells.http.lanes import SESSION, Lanes
from toolnotary_verifier.shells.http.message import (
    Body,
    Header,
    Reply,
    Request,
    Response,
    Send,
    UpstreamError,
    answer,
    body_of,
    handed_on,
    header,
    one_line,
)
from toolnotary_verifier.shells.http.refusal import bad_gateway, refusal_of
from toolnotary_verifier.shells.http.streams import Stream, with_news

# Headers that are written anew for the server: the body may be another one, and must come uncompressed.
_NOT_TO_SERVER: Final = (b"accept-encoding", b"content-length", b"expect", b"host", b"origin")
# Headers that would lead a host around us, or that are wrong for what it gets.
_NOT_TO_HOST: Final = (b"alt-svc", b"content-encoding", b"content-length", b"refresh")
_UNCOMPRESSED: Final = (b"accept-encoding", b"identity")
_LISTEN: Final = b'"subscriptions/listen"'
_ERROR_BYTES: Final = 64 << 10
_AROUND: Final = b" \t\r\n\x00\xef\xbb\xbf\xff\xfe"
_OPENING: Final = (b"{", b"[")


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
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Nothing has passed yet.

        Args:
            open_gate: makes a gate for hosts that share streams so.
            send: sends a request to the server.
            limits: bounds on bodies and events.
        """
        self._open_gate = open_gate
        self._send = send
        self._limits = limits
        self._lanes = Lanes(self._begin)
        self._asking = Asking(send, limits=limits)
        self._numbers = itertools.count()

    async def respond(self, request: Request) -> Response:
        """The response to one request of a host.

        A request that is cancelled is no longer answered, and the server sees that nobody waits for it.
        """
        if request.method == "POST":
            return await self._post(request)
        if request.method == "GET":
            return await self._listen(request)
        if request.method == "DELETE":
            return await self._end_session(request)
        return Response(405, [(b"allow", b"DELETE, GET, POST")], b"")

    def each_gate(self, what: Callable[[Gate], Effects]) -> None:
        """Do something with every gate, such as judging again, and all that follows from it."""
        for lane in self._lanes.all():
            lane.follow(what(lane.gate), also_here=True)

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
        exchange = next(self._numbers)
        inbox = lane.open(exchange)
        is_open = False
        try:
            content = await self._admitted(lane, exchange, inbox, request.body)
            if isinstance(content, Response):
                return content
            reply = await self._send(request._replace(headers=lane.facts, body=content))
            is_long = _LISTEN in request.body
            response = await self._relay(lane, exchange, inbox, reply, request, is_long=is_long)
        except UpstreamError as error:
            return refusal_of(request.body, str(error), limits=self._limits)
        else:
            is_open = not isinstance(response.body, bytes)
            return response
        finally:
            if not is_open:
                lane.close(exchange)

    async def _admitted(self, lane: Lane, exchange: int, inbox: Inbox, body: bytes) -> bytes | Response:
        """The body that goes on to the server, or what the host is answered instead."""
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
        return _of_frames(inbox.frames()) or Response(202, [], b"")

    async def _listen(self, request: Request) -> Response:
        """A stream for what nobody asked for; one that is resumed as well (until 2025-11-25)."""
        lane = self._lane(request)
        exchange = next(self._numbers)
        inbox = lane.open(exchange, hears_all=True)
        is_open = False
        try:
            reply = await self._send(request._replace(headers=lane.facts, body=b""))
            response = await self._relay(lane, exchange, inbox, reply, request, is_long=True)
        except UpstreamError as error:
            return bad_gateway(str(error))
        else:
            is_open = not isinstance(response.body, bytes)
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
            self._lanes.drop(lane)
            lane.rest()
        return Response(reply.status, [], b"")

    # Responses

    async def _relay(
        self, lane: Lane, exchange: int, inbox: Inbox, reply: Reply, request: Request, *, is_long: bool
    ) -> Response:
        """The response of the server as the host may have it."""
        kind = body_of(reply.headers)
        headers = handed_on(reply.headers, *_NOT_TO_HOST)
        if kind is Body.EVENTS and reply.status < 300:
            self._bind(lane, reply, request)
            return Response(
                reply.status, headers, self._stream(lane, exchange, inbox, reply, is_long=is_long)
            )
        try:
            most = self._limits.line_bytes if kind is Body.JSON else _ERROR_BYTES
            content = b"" if kind is Body.UNCLEAR else await reply.read(most)
        finally:
            await reply.aclose()
        if kind is Body.UNCLEAR or 300 <= reply.status < 400:
            raise UpstreamError("answered in a way that cannot be judged")
        self._bind(lane, reply, request)
        if kind is Body.JSON or content.lstrip(_AROUND).startswith(_OPENING):
            return self._json(lane, exchange, inbox, Response(reply.status, headers, content))
        if content.strip() and reply.status < 400:
            raise UpstreamError("answered with something that is no message")
        return _whole(reply.status, headers, content)

    def _json(self, lane: Lane, exchange: int, inbox: Inbox, response: Response) -> Response:
        content = response.body if isinstance(response.body, bytes) else b""
        frame = one_line(content)
        effects = lane.receive(Side.SERVER, frame, exchange) if content.strip() else None
        if effects is None:
            return _whole(response.status, response.headers, content if b"\n" not in content else frame[:-1])
        inbox.take(effects)
        frames = inbox.frames()
        if not frames and response.status < 400:
            raise UpstreamError("answered with nothing that may pass")
        return _whole(response.status, response.headers, b"".join(frames)[:-1])

    def _stream(self, lane: Lane, exchange: int, inbox: Inbox, reply: Reply, *, is_long: bool) -> Stream:
        async def closing() -> None:
            lane.close(exchange)
            await reply.aclose()

        return Stream(self._events(lane, exchange, inbox, reply, is_long=is_long), closing)

    async def _events(
        self, lane: Lane, exchange: int, inbox: Inbox, reply: Reply, *, is_long: bool
    ) -> AsyncGenerator[bytes]:
        """An event stream, event by event as it arrives."""
        cutter = EventCutter(max_bytes=self._limits.line_bytes)
        try:
            async for chunk in with_news(reply.chunks(), inbox) if is_long else reply.chunks():
                passing = [self._passing(lane, exchange, inbox, event) for event in cutter.feed(chunk)]
                passing += map(event_of, inbox.frames())
                if content := b"".join(passing):
                    yield content
                if inbox.response is not None:
                    return
            if content := b"".join(map(event_of, inbox.frames())):  # what the last event led to
                yield content
        except (UpstreamError, InvalidInput) as error:
            effects = Effects()
            effects.note("stream-broken", f"a stream of the server ended: {error}")
            lane.follow(effects)

    def _passing(self, lane: Lane, exchange: int, inbox: Inbox, event: Event) -> bytes:
        """An event as it may go on."""
        if event.data is None or not event.data.strip():
            return event.raw or event.fields + (b"\n" if event.data is None else b"data: \n\n")
        frame = one_line(event.data)
        effects = lane.receive(Side.SERVER, frame, exchange)
        if effects is not None:
            inbox.take(effects)
            return event.with_data(inbox.frames())
        return event.raw if event.raw and b"\n" not in event.data else event.with_data([frame])

    # Lanes

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

    def _lane(self, request: Request) -> Lane:
        lane = self._lanes.of(request)
        lane.facts = [*handed_on(request.headers, *_NOT_TO_SERVER), _UNCOMPRESSED]
        return lane

    def _bind(self, lane: Lane, reply: Reply, request: Request) -> None:
        session = header(reply.headers, SESSION)
        if session is not None and header(request.headers, SESSION) is None and request.method == "POST":
            self._lanes.bind(lane, session, request)


def _of_frames(frames: Sequence[bytes]) -> Response | None:
    """A response with these messages; None for none."""
    if not frames:
        return None
    lines = [frame.rstrip(b"\r\n") for frame in frames]
    return answer(lines[0] if len(lines) == 1 else b"[" + b",".join(lines) + b"]")


def _whole(status: int, headers: Sequence[Header], content: bytes) -> Response:
    if status == 204:
        return Response(status, headers, b"")
    return Response(status, [*headers, (b"content-length", b"%d" % len(content))], content)
