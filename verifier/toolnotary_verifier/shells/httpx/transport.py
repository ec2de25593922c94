# SPDX-License-Identifier: Apache-2.0
"""The transport itself: what is of the protocol goes to the front, all else goes by.

To the server go requests for its URL alone. A message to anywhere else is refused: it would be answered by a
server that nobody pinned. What is no message, such as the requests of OAuth, goes by as it is; nobody reads
messages out of its answers, and no request of the protocol turns into it: redirects are followed here, within
the origin, or not at all.
"""

import asyncio
import functools
import weakref
from collections.abc import AsyncIterator
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

from toolnotary_verifier.capture.endpoint import Endpoint
from toolnotary_verifier.errors import ConfigurationError, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.guard import Guard
from toolnotary_verifier.shells.http.message import (
    EVENT_STREAM,
    Header,
    Request,
    Streamed,
    body_of,
    header,
)
from toolnotary_verifier.shells.http.message import Body as Kind
from toolnotary_verifier.shells.http.service import Service
from toolnotary_verifier.shells.httpx.inner import Inner, Way

_MESSAGE: Final = b'"jsonrpc"'


class Transport:
    """What `AsyncClient(transport=...)` takes; `transport_of` makes it one of a library.

    It belongs to the event loop that it is first used on, until that is closed.
    """

    def __init__(self, library: ModuleType, url: str, guard: Guard, inner: Any) -> None:  # noqa: ANN401 - of the library
        """Nothing is opened yet.

        Args:
            library: httpx or httpx2.
            url: of the server.
            guard: the server's; other transports may share it.
            inner: what sends, in place of the library's own transport; None for that.

        Raises:
            ConfigurationError: `url`.
        """
        endpoint = Endpoint.parse(url)
        self._library = library
        self._guard = guard
        self._inner = Inner(library, endpoint, inner)
        self._shown = endpoint.shown
        self._place = _place(library.URL(endpoint.url_of(endpoint.target)))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._service: Service | None = None
        self._looked: asyncio.Task[bool] | None = None

    async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401 - of the library
        """The response to one request of the client.

        Raises:
            Refused: `other-url`.
            ConfigurationError: `event-loop`; `proxy`.
            Exception: what the inner transport raises.
        """
        service = await self._serving()
        headers = [(name.lower(), value) for name, value in request.headers.raw]
        if _place(request.url) != self._place:
            await self._let_by(request, headers)
            return await self._inner.pass_by(request)
        way = Way(headers, request.extensions)
        body = await request.aread()
        response = await service.front.respond(Request(request.method, headers, body, way))
        if way.failure is not None:
            raise way.failure
        stream = _body_of(self._library)(response.body, way, self)
        return self._library.Response(response.status, headers=response.headers, stream=stream)

    async def aclose(self) -> None:
        """End what is under way, and every connection."""
        service, self._service = self._service, None
        try:
            if service is not None:
                await service.aclose()
        finally:
            await self._inner.aclose()

    async def _let_by(self, request: Any, headers: list[Header]) -> None:  # noqa: ANN401 - of the library
        """Let by what is no message.

        Raises:
            Refused: `other-url`.
        """
        accepted = b",".join(value for name, value in headers if name == b"accept").lower()
        is_message = EVENT_STREAM in accepted
        if not is_message and (header(headers, b"content-type") is None or body_of(headers) is Kind.JSON):
            is_message = _MESSAGE in await request.aread()
        if is_message:
            url = request.url.copy_with(userinfo=b"", query=None, fragment=None)
            raise Refused(
                "other-url",
                f"a message for {escape(str(url), limit=300)} was not sent: this client is for {self._shown}",
                remedy="give each server a client of its own, with the URL that it is dialled by",
            )

    async def _serving(self) -> Service:
        """What judges here; the files are looked at anew where it was not there yet.

        Raises:
            ConfigurationError: `event-loop`.
        """
        loop = _running_loop()
        if self._service is None or self._loop is not loop:
            self._begin(loop)
        if self._looked is not None:
            await asyncio.shield(self._looked)
            self._looked = None
        if self._service is None:
            raise ConfigurationError(
                "event-loop",
                "a guarded transport was closed while it was used",
                remedy="close the client once its requests have ended",
            )
        return self._service

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loop is not None and self._loop is not loop:
            if self._service is not None and not self._loop.is_closed():
                raise ConfigurationError(
                    "event-loop",
                    "a guarded transport is used on two event loops at once",
                    remedy="give each event loop a client of its own",
                )
            self._inner.forget()
        self._loop, self._service = loop, Service(self._guard, self._inner.send)
        self._service.start()
        self._looked = loop.create_task(asyncio.to_thread(self._guard.refresh))
        weakref.finalize(self, _leave, loop, self._service).atexit = False


class Body:
    """The body of a response; `_body_of` makes it one of a library."""

    def __init__(self, content: bytes | Streamed, way: Way, transport: Transport) -> None:
        self._content = content
        self._way = way
        self._transport = transport  # is not forgotten while this is read

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """What is there of it, bit by bit; raises what the inner transport raised."""
        if isinstance(self._content, bytes):
            yield self._content
            return
        async for piece in self._content:
            yield piece
        if self._way.failure is not None:
            raise self._way.failure

    async def aclose(self) -> None:
        """Let go of it; a server sees that nobody reads it any more."""
        if not isinstance(self._content, bytes):
            await self._content.aclose()


@functools.cache
def transport_of(library: ModuleType) -> type[Transport]:
    """The transport as a class of the library."""
    return type("GuardedTransport", (Transport, library.AsyncBaseTransport), {"__module__": __name__})


@functools.cache
def _body_of(library: ModuleType) -> type[Body]:
    return type("GuardedBody", (Body, library.AsyncByteStream), {"__module__": __name__})


def _place(url: Any) -> tuple[bytes, bytes, int | None, bytes]:  # noqa: ANN401 - of the library
    """Origin, path and query: a default port is none, and a host in lower case, as the libraries have it."""
    return url.raw_scheme, url.raw_host, url.port, url.raw_path


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError(
            "event-loop",
            "a guarded transport runs on asyncio, and no event loop of asyncio runs here",
            remedy="use it from asyncio; under trio, put `toolnotary gateway` between host and server",
        ) from None


def _leave(loop: asyncio.AbstractEventLoop, service: Service) -> None:
    """End what follows files for a transport that nobody closed and nobody has any more."""
    if not loop.is_closed():
        with suppress(RuntimeError):  # closed in between
            loop.call_soon_threadsafe(service.stop)
