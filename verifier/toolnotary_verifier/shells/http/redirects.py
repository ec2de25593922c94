# SPDX-License-Identifier: Apache-2.0
"""Where a server may lead a request of the protocol: elsewhere within its origin, and nowhere else.

What was pinned is an origin and a path. A redirect that asks for the same request again is followed here, and
no other is handed to a host, which might follow it around us.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar
from urllib.parse import urljoin

from toolnotary_verifier.capture.endpoint import Endpoint
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.shells.http.message import Reply, Request, UpstreamError, header

_MOST: Final = 3
_SAME_METHOD: Final = frozenset((307, 308))  # RFC 9110, sections 15.4.8 and 15.4.9
_Reply = TypeVar("_Reply", bound=Reply)


async def followed(
    endpoint: Endpoint, send: Callable[[str, Request, int], Awaitable[_Reply]], request: Request
) -> _Reply:
    """The reply to a request, after the redirects that may be followed.

    Args:
        endpoint: where the request goes first.
        send: sends it to a path and query of the same origin; is told how many redirects led there.
        request: what is sent, each time.

    Raises:
        UpstreamError: a redirect leads elsewhere; or as `send` does.
    """
    target = endpoint.target
    reply = await send(target, request, 0)
    for hop in range(1, _MOST + 1):
        if reply.status not in _SAME_METHOD:
            break
        await reply.aclose()
        target = _within_origin(endpoint, target, header(reply.headers, b"location"))
        reply = await send(target, request, hop)
    return reply


def _within_origin(endpoint: Endpoint, target: str, location: bytes | None) -> str:
    try:
        led = Endpoint.parse(urljoin(endpoint.url_of(target), (location or b"").decode("ascii")))
    except (ConfigurationError, UnicodeDecodeError):
        raise UpstreamError("leads to something that is no URL") from None
    if led.origin != endpoint.origin or led.authorization is not None:
        raise UpstreamError("leads to another server, which is not the one that was pinned")
    return led.target
