# SPDX-License-Identifier: Apache-2.0
"""One server that the gateway stands before: where it is, what it is sent, and where it may lead us."""

from collections.abc import Sequence

from toolnotary_verifier.capture.endpoint import Endpoint, Proxy, trust
from toolnotary_verifier.capture.headers import credentials
from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.shells.gateway.client import Client, Origin
from toolnotary_verifier.shells.gateway.connection import ClientReply
from toolnotary_verifier.shells.http.message import Header, Request
from toolnotary_verifier.shells.http.redirects import followed


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
        tls = trust(source.ca_file) if endpoint.scheme == "https" else None
        authority = endpoint.url_of("").partition("://")[2].encode()
        self._client = Client(
            Origin(endpoint.host, endpoint.port, tls, authority, address),
            proxy=None if address else Proxy.for_endpoint(endpoint, source.environment),
        )

    async def send(self, request: Request) -> ClientReply:
        """As `Send`; a redirect is followed within the origin, where it asks for the same request again."""
        headers = [one for one in request.headers if one[0] not in self._replaced] if self._own else None
        if headers is not None:
            request = request._replace(headers=[*headers, *self._own])
        return await followed(self.endpoint, self._sent, request)

    def close(self) -> None:
        """End every connection."""
        self._client.close()

    async def _sent(self, target: str, request: Request, hop: int) -> ClientReply:
        return await self._client.send(target.encode(), request, anew=hop > 0)
