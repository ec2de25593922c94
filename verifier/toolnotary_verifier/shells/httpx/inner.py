# SPDX-License-Identifier: Apache-2.0
"""What sends for a guarded transport: the library's own transport, or whichever the caller gave."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from types import ModuleType
from typing import Any, Final

from toolnotary_verifier.capture.endpoint import Endpoint, Proxy
from toolnotary_verifier.escape import escape
from toolnotary_verifier.shells.http.message import ClosedError, Header, Request, UpstreamError, header
from toolnotary_verifier.shells.http.redirects import followed

# For requests of our own, in seconds; how long an answer may take the gate says.
_OWN_TIMEOUTS: Final = {"connect": 10.0, "read": None, "write": 10.0, "pool": 10.0}
# Headers that a front leaves to whoever sends, and that a host may have set on purpose.
_LEFT_OUT: Final = frozenset((b"host", b"origin"))


class Way:
    """How one request of the host is sent, and what became of that.

    Attributes:
        left_out: headers that the front takes out and that go with it nevertheless.
        extensions: what the library's client told its transport, such as timeouts.
        failure: what the inner transport raised instead of answering; the host is to see it as it is.
    """

    def __init__(self, headers: Sequence[Header], extensions: dict[str, Any]) -> None:
        self.left_out = [one for one in headers if one[0] in _LEFT_OUT]
        self.extensions = extensions
        self.failure: Exception | None = None


class Inner:
    """The transports of one client, opened when they are first needed."""

    def __init__(self, library: ModuleType, endpoint: Endpoint, given: Any) -> None:  # noqa: ANN401 - of the library
        """Nothing is opened yet.

        Args:
            library: httpx or httpx2.
            endpoint: the guarded server.
            given: the transport to use in place of the library's own; None for that.
        """
        self.library = library
        self._endpoint = endpoint
        self._given = given
        self._opened: dict[str, Any] = {}
        self._left_out: Sequence[Header] = ()

    async def pass_by(self, request: Any) -> Any:  # noqa: ANN401 - of the library
        """The response to a request that is none of the protocol, as it comes."""
        return await self._transport(Endpoint.parse(str(request.url))).handle_async_request(request)

    async def send(self, request: Request) -> "InnerReply":
        """As `Send`."""
        return await followed(self._endpoint, self._sent, request)

    async def aclose(self) -> None:
        """End every connection."""
        opened, self._opened = list(self._opened.values()), {}
        for transport in opened if self._given is None else [self._given]:
            await transport.aclose()

    def forget(self) -> None:
        """Leave what was opened on an event loop that is no more."""
        self._opened = {}

    async def _sent(self, target: str, request: Request, _hop: int) -> "InnerReply":
        way = request.way if isinstance(request.way, Way) else None
        if way is not None:
            self._left_out = way.left_out
        asked = self.library.Request(
            request.method,
            self._endpoint.url_of(target),
            headers=[*self._left_out, *request.headers],
            content=request.body if request.body or request.method == "POST" else None,
            extensions={"timeout": _OWN_TIMEOUTS} if way is None else way.extensions,
        )
        try:
            response = await self._transport(self._endpoint).handle_async_request(asked)
        except self.library.RemoteProtocolError as error:  # also where an idle connection was closed
            raise _failed(error, way, "cannot be reached", ClosedError) from error
        except Exception as error:
            raise _failed(error, way, "cannot be reached") from error
        return InnerReply(response, way)

    def _transport(self, endpoint: Endpoint) -> Any:  # noqa: ANN401 - of the library
        if self._given is not None:
            return self._given
        proxy = Proxy.for_endpoint(endpoint, os.environ)
        key = "" if proxy is None else proxy.url
        if key not in self._opened:
            through = None
            if proxy is not None:
                told = {} if proxy.authorization is None else {"Proxy-Authorization": proxy.authorization}
                through = self.library.Proxy(proxy.url, headers=told)
            self._opened[key] = self.library.AsyncHTTPTransport(proxy=through)
        return self._opened[key]


class InnerReply:
    """A response of the inner transport, its body not decoded: see `Reply`."""

    def __init__(self, response: Any, way: Way | None) -> None:  # noqa: ANN401 - of the library
        self.status: int = response.status_code
        self.headers: Sequence[Header] = [
            (name.lower(), value.strip(b" \t")) for name, value in response.headers.raw
        ]
        self._response = response
        self._way = way

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body, as it arrives."""
        try:
            async for chunk in self._response.stream:
                yield chunk
        except Exception as error:
            raise _failed(error, self._way, "broke off") from error

    async def read(self, most: int) -> bytes:
        """The whole body."""
        length = header(self.headers, b"content-length")
        if length is not None and length.isdigit() and int(length) > most:
            raise UpstreamError(f"answered with more than {most} bytes")
        content = bytearray()
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                content += chunk
                if len(content) > most:
                    raise UpstreamError(f"answered with more than {most} bytes")
        return bytes(content)

    async def aclose(self) -> None:
        """Let go of it."""
        with suppress(Exception):  # what it says on leaving concerns nobody
            await self._response.aclose()


def _failed(
    error: Exception, way: Way | None, what: str, kind: type[UpstreamError] = UpstreamError
) -> UpstreamError:
    if way is not None:
        way.failure = error
    why = escape(str(error), limit=200)
    return kind(f"{what}: {type(error).__name__}{f': {why}' if why else ''}")
