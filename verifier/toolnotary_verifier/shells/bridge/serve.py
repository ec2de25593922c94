# SPDX-License-Identifier: Apache-2.0
"""One process between a host's pipes and a URL, from start to exit code."""

import asyncio
import json
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
# What changes nothing at a server, or changes the same twice.
_REPEATABLE: Final = frozenset(
    (
        "completion/complete",
        "initialize",
        "logging/setLevel",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "subscriptions/listen",
        "tools/list",
    )
)


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
    """Send a request; once more where the connection was closed meanwhile, and that cannot act twice."""
    try:
        return await upstream.send(request)
    except ClosedError:
        if request.body and not _is_repeatable(request.body):
            raise
        return await upstream.send(request)


def _is_repeatable(content: bytes) -> bool:
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        return False
    method = message.get("method") if isinstance(message, dict) else None
    return isinstance(method, str) and (method in _REPEATABLE or method.startswith("notifications/"))


def _heed_signals(bridge: Bridge) -> None:
    """End at a signal that ends; one that is ignored stays ignored, as under `nohup`."""
    loop = asyncio.get_running_loop()

    def end(number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(bridge.end, _SIGNALLED + number)

    for number in process.FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
