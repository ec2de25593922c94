# SPDX-License-Identifier: Apache-2.0
"""One server that the gateway stands before: where it is, what it is sent, and where it may lead us."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urljoin

from toolnotary_verifier.capture.endpoint import Endpoint, Proxy, trust
from toolnotary_verifier.capture.headers import credentials
from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.shells.gateway.client import Client, Origin
from toolnotary_verifier.shells.gateway.connection import ClientReply
from toolnotary_verifier.shells.http.message import Header, Request, UpstreamError, header

_REDIRECTS: Final = 3
_SAME_METHOD: Final = frozenset((307, 308))  # RFC 9110, sections 15.4.8 and 15.4.9


class Upstream:
    """Sends requests to one URL, with headers of its own.

    Attributes:
        endpoint: the URL.
    """

    def __init__(self, source: UrlSource, *, address: tuple[str, int] | None = None) -> None:
        """Nothing is opened yet.

        Args:
            source: the server; its headers are sent with every request, in place of the host's of that name.
            address: where to connect, name or address and port, where its own name leads to us.

        Raises:
            ConfigurationError: `url`, `ca-file`, `proxy`, `header`; `insecure-url` where credentials would
                cross a network in the clear.
        """
        self.endpoint = endpoint = Endpoint.parse(source.url)
        own = {name.lower(): value for name, value in credentials(source, endpoint).items()}
        self._own: Sequence[Header] = [(name.encode(), value.encode()) for name, value in own.items()]
        self._replaced = frozenset(name for name, _ in self._own)
        self._target = endpoint.target.encode()
        tls = trust(source.ca_file) if endpoint.scheme == "https" else None
        authority = endpoint.shown.partition("://")[2].partition("/")[0].encode()
        self._client = Client(
            Origin(endpoint.host, endpoint.port, tls, authority, address),
            proxy=None if address else Proxy.for_endpoint(endpoint, source.environment),
        )

    async def send(self, request: Request) -> ClientReply:
        """As `Send`; a redirect is followed within the origin, where it asks for the same request again."""
        headers = [one for one in request.headers if one[0] not in self._replaced] if self._own else None
        if headers is not None:
            request = request._replace(headers=[*headers, *self._own])
        reply = await self._client.send(self._target, request)
        target = self._target
        for _ in range(_REDIRECTS):
            if reply.status not in _SAME_METHOD:
                break
            await reply.aclose()
            target = self._within_origin(target, header(reply.headers, b"location"))
            reply = await self._client.send(target, request, anew=True)
        return reply

    def close(self) -> None:
        """End every connection."""
        self._client.close()

    def _within_origin(self, target: bytes, location: bytes | None) -> bytes:
        shown = self.endpoint.shown.partition("://")
        base = f"{shown[0]}://{shown[2].partition('/')[0]}{target.decode()}"
        try:
            led = Endpoint.parse(urljoin(base, (location or b"").decode("ascii")))
        except (ConfigurationError, UnicodeDecodeError):
            raise UpstreamError("leads to something that is no URL") from None
        if led.origin != self.endpoint.origin or led.authorization is not None:
            raise UpstreamError("leads to another server, which is not the one that was pinned")
        return led.target.encode()
