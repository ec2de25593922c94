# SPDX-License-Identifier: Apache-2.0
"""What a server answers, on its way to the host: message by message through the gate.

Every message of every stream is judged, wherever a server puts it: SDKs feed all streams into one table of
ids (research: cross-stream injection). A body that some reader could take for messages and we could not, is
not handed on.
"""

import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.gate import Effects, Side
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.events import Event, EventCutter, event_of
from toolnotary_verifier.shells.http.lane import Inbox, Lane
from toolnotary_verifier.shells.http.message import (
    ERROR_BYTES,
    EVENT_STREAM,
    Body,
    Header,
    Reply,
    Response,
    UpstreamError,
    body_of,
    handed_on,
    one_line,
)
from toolnotary_verifier.shells.http.streams import Stream, with_news

# Headers that would lead a host around us, or that are wrong for what it gets.
_NOT_TO_HOST: Final = (b"alt-svc", b"content-encoding", b"content-length", b"refresh")
_AROUND: Final = b" \t\r\n\x00\xef\xbb\xbf\xff\xfe"
_OPENING: Final = (b"{", b"[")
# Hosts show such a text, some of them to a model, before anything of the server is verified.
_REMARK_BYTES: Final = 1 << 10


class Relay:
    """One exchange from the head of the server's response on."""

    def __init__(self, lane: Lane, exchange: int, inbox: Inbox, *, is_long: bool, limits: Limits) -> None:
        """Nothing was answered yet.

        Args:
            lane: whose gate judges.
            exchange: its name.
            inbox: what else is to be said in it.
            is_long: whether its stream stays open for what nobody asked for.
            limits: bounds on bodies and events.
        """
        self._lane = lane
        self._exchange = exchange
        self._inbox = inbox
        self._is_long = is_long
        self._limits = limits

    async def response(self, reply: Reply) -> Response:
        """The response of the server as the host may have it.

        Raises:
            UpstreamError: it broke off, or is nothing that may be handed on.
        """
        kind = body_of(reply.headers)
        headers = handed_on(reply.headers, *_NOT_TO_HOST)
        if kind is Body.EVENTS and reply.status < 300:
            return Response(reply.status, headers, self._stream(reply))
        try:
            most = self._limits.line_bytes if kind is Body.JSON else ERROR_BYTES
            content = await reply.read(most) if kind in (Body.JSON, Body.OTHER) else b""
        finally:
            await reply.aclose()
        if kind is Body.UNCLEAR or 300 <= reply.status < 400:
            raise UpstreamError("answered in a way that cannot be judged")
        if kind is Body.JSON or content.lstrip(_AROUND).startswith(_OPENING):
            return self._json(Response(reply.status, headers, content))
        if content.strip() and reply.status < 400:
            raise UpstreamError("answered with something that is no message")
        return _whole(reply.status, headers, content if _is_remark(content) else b"")

    def _json(self, response: Response) -> Response:
        content = response.body if isinstance(response.body, bytes) else b""
        frame = one_line(content)
        effects = self._lane.receive(Side.SERVER, frame, self._exchange) if content.strip() else None
        if effects is None:
            passing = content if frame.startswith(content) else frame[:-1]
            return _whole(response.status, response.headers, passing)
        self._inbox.take(effects)
        frames = self._inbox.frames()
        if not frames and response.status < 400:
            raise UpstreamError("answered with nothing that may pass")
        if len(frames) > 1:  # what else came for this exchange fits into no JSON text
            headers = [(b"content-type", EVENT_STREAM), *_without(response.headers, b"content-type")]
            return _whole(response.status, headers, b"".join(map(event_of, frames)))
        return _whole(response.status, response.headers, b"".join(frames).rstrip(b"\r\n"))

    def _stream(self, reply: Reply) -> Stream:
        async def closing() -> None:
            self._lane.close(self._exchange)
            await reply.aclose()

        return Stream(self._events(reply), closing)

    async def _events(self, reply: Reply) -> AsyncGenerator[bytes]:
        """An event stream, event by event as it arrives."""
        cutter = EventCutter(max_bytes=self._limits.line_bytes)
        chunks = with_news(reply.chunks(), self._inbox) if self._is_long else reply.chunks()
        try:
            async with contextlib.aclosing(chunks):
                async for chunk in chunks:
                    passing = [self._passing(event) for event in cutter.feed(chunk)]
                    passing += map(event_of, self._inbox.frames())
                    if content := b"".join(passing):
                        yield content
                    if self._inbox.response is not None:
                        return
            if content := b"".join(map(event_of, self._inbox.frames())):  # what the last event led to
                yield content
        except (UpstreamError, InvalidInput) as error:
            effects = Effects()
            effects.note("stream-broken", f"a stream of the server ended: {error}")
            self._lane.follow(effects)

    def _passing(self, event: Event) -> bytes:
        """An event as it may go on."""
        if event.data is None or not event.data.strip():
            return event.raw or event.fields + (b"\n" if event.data is None else b"data: \n\n")
        frame = one_line(event.data)
        effects = self._lane.receive(Side.SERVER, frame, self._exchange)
        if effects is not None:
            self._inbox.take(effects)
            return event.with_data(self._inbox.frames())
        return event.raw if event.raw and b"\n" not in event.data else event.with_data([frame])


def _is_remark(content: bytes) -> bool:
    """Whether this is a few words on an error, and no text in which a definition could stand."""
    return len(content) <= _REMARK_BYTES and not any(opening in content for opening in _OPENING)


def _without(headers: Sequence[Header], name: bytes) -> list[Header]:
    return [one for one in headers if one[0] != name]


def _whole(status: int, headers: Sequence[Header], content: bytes) -> Response:
    if status == 204:
        return Response(status, headers, b"")
    return Response(status, [*headers, (b"content-length", b"%d" % len(content))], content)
