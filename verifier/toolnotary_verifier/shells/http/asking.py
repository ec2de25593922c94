# SPDX-License-Identifier: Apache-2.0
"""The gate's own requests, sent on behalf of the host whose list is to be verified."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Sequence
from typing import Final

from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.gate import Side
from toolnotary_verifier.jsonrpc import META_VERSION
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.events import EventCutter
from toolnotary_verifier.shells.http.lane import Lane
from toolnotary_verifier.shells.http.message import (
    ARGUMENT,
    ERROR_BYTES,
    EVENT_STREAM,
    JSON,
    METHOD,
    NAME,
    SESSION,
    VERSION,
    Body,
    ClosedError,
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

# Headers that belong to the one message of the host that they came with.
_OF_ITS_MESSAGE: Final = frozenset((b"accept", b"content-type", b"last-event-id", METHOD, NAME, VERSION))

_FORBIDDEN: Final = 403


class Asking:
    """Requests of ours that are under way, by their ids."""

    def __init__(self, send: Send, *, kin: Callable[[Lane], Sequence[Lane]], limits: Limits) -> None:
        """Nothing is under way.

        Args:
            send: sends a request to the server.
            kin: gives the lanes of the same host under other authorizations.
            limits: bounds on bodies and events.
        """
        self._send = send
        self._kin = kin
        self._limits = limits
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._withdrawing: set[asyncio.Task[None]] = set()

    def ask(self, lane: Lane, own_id: str, frame: bytes) -> None:
        """Send a request, the answer to which goes to the lane's gate; or a notice that withdraws it."""
        under_way = self._under_way.pop(own_id, None)
        loop = asyncio.get_running_loop()
        if under_way is None:
            task = self._under_way[own_id] = loop.create_task(self._asked(lane, own_id, frame))
            task.add_done_callback(lambda _: self._under_way.pop(own_id, None))
            return
        under_way.cancel()
        if header(lane.facts, SESSION) is not None:  # without a session, a closed stream says it all
            task = loop.create_task(self._withdraw(lane, frame))
            self._withdrawing.add(task)
            task.add_done_callback(self._withdrawing.discard)

    async def aclose(self) -> None:
        """End what is under way."""
        tasks = [*self._under_way.values(), *self._withdrawing]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _asked(self, lane: Lane, own_id: str, frame: bytes) -> None:
        why = "was not answered by this server"
        try:
            request = Request("POST", own_headers(lane.facts, frame), frame.rstrip(b"\n"))
            reply = await self._sent(request)
            try:
                await self._answered(lane, own_id, reply)
            finally:
                await reply.aclose()
            if reply.status >= 400 and lane.gate.awaits(own_id):
                why = f"was answered by this server with HTTP status {reply.status}"
                if reply.status == _FORBIDDEN:
                    lane.admit_held(self._kin(lane))
                # Who must sign in, or begin a session anew, hears it from the server itself.
                headers = handed_on(reply.headers, b"content-length", b"content-encoding", b"content-type")
                lane.fail_held(Response(reply.status, [*headers, (b"content-length", b"0")], b""))
        except (UpstreamError, InvalidInput) as error:
            why = f"could not be had: this server {error}"
        finally:
            lane.follow(lane.gate.give_up(own_id, why, time.monotonic()), also_here=True)

    async def _sent(self, request: Request) -> Reply:
        """A listing changes nothing at the server, and may be asked for twice."""
        try:
            return await self._send(request)
        except ClosedError:
            return await self._send(request)

    async def _answered(self, lane: Lane, own_id: str, reply: Reply) -> None:
        kind = body_of(reply.headers)
        lane.has_events = kind is Body.EVENTS
        if kind is Body.EVENTS:
            cutter = EventCutter(max_bytes=self._limits.line_bytes)
            async with contextlib.aclosing(reply.chunks()) as chunks:
                async for chunk in chunks:
                    for event in cutter.feed(chunk):
                        if event.data is not None and event.data.strip():
                            _receive(lane, own_id, one_line(event.data))
                    if not lane.gate.awaits(own_id):
                        return
        elif kind is Body.JSON:
            most = self._limits.line_bytes if reply.status < 400 else ERROR_BYTES
            content = await reply.read(most)
            if content.strip():
                _receive(lane, own_id, one_line(content))

    async def _withdraw(self, lane: Lane, frame: bytes) -> None:
        with contextlib.suppress(UpstreamError):
            reply = await self._send(Request("POST", own_headers(lane.facts, frame), frame.rstrip(b"\n")))
            await reply.aclose()


def _receive(lane: Lane, own_id: str, frame: bytes) -> None:
    """Take one frame of the answer; what is no part of it goes to a stream of the host, if it has one."""
    effects = lane.gate.receive(Side.SERVER, frame, time.monotonic(), own_id)
    if effects is None:
        lane.pass_on(frame)
    else:
        lane.follow(effects, also_here=True)


def own_headers(facts: Sequence[Header], frame: bytes) -> list[Header]:
    """The headers of a request of our own: the host's, with those that repeat what the body says."""
    message = json.loads(frame)
    version = message.get("params", {}).get("_meta", {}).get(META_VERSION)
    headers = [
        (name, value)
        for name, value in facts
        if name not in _OF_ITS_MESSAGE and not name.startswith(ARGUMENT)
    ]
    headers += [(b"content-type", JSON), (b"accept", JSON + b", " + EVENT_STREAM)]
    if version is not None:
        return [
            *headers,
            (VERSION, str(version).encode("latin-1", "replace")),
            (METHOD, message["method"].encode()),
        ]
    known = header(facts, VERSION)
    return headers if known is None else [*headers, (VERSION, known)]
