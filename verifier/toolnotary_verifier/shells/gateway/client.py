# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 to one origin, over connections that are used again (RFC 9112).

General clients cost several times as much for a small request, and buffer or decode what must pass as it is.
A request is sent once: whoever repeats a call may have it done twice.
"""

import asyncio
import ssl
import time
from collections import deque
from typing import Final, NamedTuple

from toolnotary_verifier.capture.endpoint import Proxy
from toolnotary_verifier.shells.gateway.connection import ClientReply, Connection
from toolnotary_verifier.shells.http.message import ClosedError, Request, UpstreamError

_CONNECT_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 4.0  # servers close what is idle for five seconds or more
_IDLE_MOST: Final = 64


class Origin(NamedTuple):
    """Where a server is reached.

    Attributes:
        host: name or address, which its certificate must name.
        port: TCP port.
        tls: what its certificate is checked by; None for plain HTTP.
        authority: the value of `Host`.
        address: where to connect instead of what the name leads to, with a port.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None
    authority: bytes
    address: tuple[str, int] | None = None


class Client:
    """Sends requests to one origin, on one event loop."""

    def __init__(self, origin: Origin, *, proxy: Proxy | None = None) -> None:
        """Nothing is opened yet.

        Args:
            origin: where requests go.
            proxy: what tunnels TLS to it; None where it is reached directly.
        """
        self._origin = origin
        self._proxy = proxy
        self._idle: deque[Connection] = deque()
        self._used: set[Connection] = set()

    async def send(self, target: bytes, request: Request, *, anew: bool = False) -> ClientReply:
        """Send a request to a path of the origin; the reply is there once its head is.

        Args:
            target: path and query (RFC 9112, section 3.2.1).
            request: what to send; `Host` and `Content-Length` are written here.
            anew: whether no connection may be used again.

        Raises:
            UpstreamError: the server cannot be reached, or gave no response; `ClosedError` where it closed a
                connection that was used before.
        """
        connection = (None if anew else self._take()) or await self._connect()
        self._used.add(connection)
        try:
            reply = await connection.exchange(self._head(target, request), request.body)
        except BaseException as error:
            connection.abort()
            self._used.discard(connection)
            if isinstance(error, ClosedError):  # the others are closed as well, or about to be
                self._forget_idle()
            raise
        reply.released = lambda: self._put_back(connection)
        return reply

    def close(self) -> None:
        """End every connection."""
        self._forget_idle()
        for connection in self._used:
            connection.abort()
        self._used.clear()

    def _forget_idle(self) -> None:
        for connection in self._idle:
            connection.abort()
        self._idle.clear()

    def _head(self, target: bytes, request: Request) -> bytes:
        lines = [b"%b %b HTTP/1.1\r\nhost: %b" % (request.method.encode(), target, self._origin.authority)]
        lines += [b"%b: %b" % (name, value) for name, value in request.headers]
        if request.body or request.method == "POST":
            lines.append(b"content-length: %d" % len(request.body))
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def _take(self) -> Connection | None:
        """The idle connection that was used last, which is likeliest to be open."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_quiet and time.monotonic() - connection.idle_since < _IDLE_SECONDS:
                return connection
            connection.abort()
        return None

    def _put_back(self, connection: "Connection") -> None:
        self._used.discard(connection)
        if connection.is_reusable and len(self._idle) < _IDLE_MOST:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.abort()

    async def _connect(self) -> Connection:
        host, port, tls, _, address = self._origin
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                if self._proxy is not None and tls is not None:
                    return await self._tunnel(self._proxy, tls)
                name = host if tls else None
                _, connection = await asyncio.get_running_loop().create_connection(
                    Connection, *(address or (host, port)), ssl=tls, server_hostname=name
                )
                return connection
        except ssl.SSLCertVerificationError as error:
            raise UpstreamError(f"has a certificate that is not trusted: {error.verify_message}") from None
        except TimeoutError:
            raise UpstreamError("does not accept connections") from None
        except OSError as error:
            why = (error.strerror or type(error).__name__).lower()
            raise UpstreamError(f"cannot be reached: {why}") from None

    async def _tunnel(self, proxy: Proxy, tls: ssl.SSLContext) -> Connection:
        """A connection through a proxy that hands bytes on (RFC 9110, section 9.3.6)."""
        loop = asyncio.get_running_loop()
        transport, tunnel = await loop.create_connection(Connection, proxy.host, proxy.port)
        host = f"[{self._origin.host}]" if ":" in self._origin.host else self._origin.host
        target = f"{host}:{self._origin.port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}"]
        if proxy.authorization is not None:
            lines.append(f"proxy-authorization: {proxy.authorization}")
        try:
            reply = await tunnel.exchange("".join(f"{line}\r\n" for line in lines).encode() + b"\r\n", b"")
        except BaseException:  # cancelled as well, by the time to connect: nobody else would end it
            tunnel.abort()
            raise
        if not 200 <= reply.status < 300:
            tunnel.abort()
            raise UpstreamError(f"cannot be reached: the proxy answered with HTTP status {reply.status}")
        connection = Connection()
        secured = await loop.start_tls(
            transport,
            connection,
            tls,
            server_hostname=self._origin.host,
            ssl_handshake_timeout=_CONNECT_SECONDS,
        )
        if secured is None:
            raise UpstreamError("closed the connection")
        connection.connection_made(secured)
        return connection
