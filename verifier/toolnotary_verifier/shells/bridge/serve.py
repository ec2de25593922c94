# SPDX-License-Identifier: Apache-2.0
"""One process between a host's pipes and a URL, from start to exit code."""

import asyncio
import signal
from types import FrameType
from typing import Final

from toolnotary_verifier import process
from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.guard import Guard
from toolnotary_verifier.shells.bridge.bridge import Bridge
from toolnotary_verifier.shells.bridge.mirrored import argument_headers
from toolnotary_verifier.shells.bridge.pipes import Pipes
from toolnotary_verifier.shells.bridge.session import Session
from toolnotary_verifier.shells.gateway.upstream import Upstream
from toolnotary_verifier.shells.http.message import ClosedError, Reply, Request, UpstreamError
from toolnotary_verifier.shells.http.service import Service

_SIGNALLED: Final = 128
_ACTS: Final = b'"tools/call"'


def serve(guard: Guard, source: UrlSource) -> int:
    """Relay between standard input and output and a server; returns the exit code (docs/reference/bridge.md).

    Args:
        guard: of the server.
        source: how it is reached.

    Raises:
        ConfigurationError: `url`, `ca-file`, `proxy`, `header`, `insecure-url`.
    """
    process.binary_standard_streams()
    return asyncio.run(_relay(guard, Upstream(source)))


async def _relay(guard: Guard, upstream: Upstream) -> int:
    pipes = Pipes(line_bytes=guard.limits.line_bytes)

    async def send(request: Request) -> Reply:
        try:
            reply = await _sent(upstream, request)
        except UpstreamError as error:
            if not bridge.was_reached:
                session.tell_once("unreachable", f"the server {error}")
            raise
        bridge.was_reached = True
        return reply

    service = Service(guard, send, is_sole=True, addressed=argument_headers)
    session = Session(service.front, pipes, tell=guard.log.note, limits=guard.limits)
    bridge = Bridge(session, pipes, service.front.hear())
    _heed_signals(bridge)
    try:
        async with service.running():
            return await bridge.run()
    finally:
        upstream.close()


async def _sent(upstream: Upstream, request: Request) -> Reply:
    """Send a request; once more where the connection was closed meanwhile, unless that could act twice."""
    try:
        return await upstream.send(request)
    except ClosedError:
        if _ACTS in request.body:
            raise
        return await upstream.send(request)


def _heed_signals(bridge: Bridge) -> None:
    """End at a signal that ends; one that is ignored stays ignored, as under `nohup`."""
    loop = asyncio.get_running_loop()

    def end(number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(bridge.end, _SIGNALLED + number)

    for number in process.FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
