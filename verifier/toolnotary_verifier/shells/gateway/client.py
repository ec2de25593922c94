# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 to one origin, over connections that are used again (RFC 9112); httptools reads, asyncio connects.

General clients cost three to nine times as much for a small request (docs/reference: measured), and buffer or
decode what must pass as it is. A request is sent once: whoever repeats a call may have it done twice.
"""

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple, cast

import httptools

from toolnotary_verifier.capture.endpoint import Proxy
from toolnotary_verifier.shells.http.message import Header, Request, UpstreamError, header

_CONNECT_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 4.0  # servers close what is idle for five seconds or more
_HELD_BYTES: Final = 256 << 10  # that nobody has read yet; then nothing more is received
_HEAD_BYTES: Final = 128 << 10
_IDLE_MOST: Final = 64


class Origin(NamedTuple):
    """Where a server is reached.

    Attributes:
        host: name or address.
        port: TCP port.
        tls: what its certificate is checked by; None for plain HTTP.
        authority: the value of `Host`.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None
    authority: bytes


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
        self._idle: deque[_Connection] = deque()
        self._used: set[_Connection] = set()

    async def send(self, target: bytes, request: Request) -> "ClientReply":
        """Send a request to a path of the origin; the reply is there once its head is.

        Args:
            target: path and query (RFC 9112, section 3.2.1).
            request: what to send; `Host` and `Content-Length` are written here.

        Raises:
            UpstreamError: the server cannot be reached, or gave no response.
        """
        connection = self._take() or await self._connect()
        self._used.add(connection)
        try:
            reply = await connection.exchange(self._head(target, request), request.body)
        except BaseException:
            connection.abort()
            self._used.discard(connection)
            raise
        reply.released = lambda: self._put_back(connection)
        return reply

    def close(self) -> None:
        """End every connection."""
        for connection in [*self._idle, *self._used]:
            connection.abort()
        self._idle.clear()
        self._used.clear()

    def _head(self, target: bytes, request: Request) -> bytes:
        lines = [b"%b %b HTTP/1.1\r\nhost: %b" % (request.method.encode(), target, self._origin.authority)]
        lines += [b"%b: %b" % (name, value) for name, value in request.headers]
        if request.body or request.method == "POST":
            lines.append(b"content-length: %d" % len(request.body))
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def _take(self) -> "_Connection | None":
        """The idle connection that was used last, which is likeliest to be open."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and time.monotonic() - connection.idle_since < _IDLE_SECONDS:
                return connection
            connection.abort()
        return None

    def _put_back(self, connection: "_Connection") -> None:
        self._used.discard(connection)
        if connection.is_reusable and len(self._idle) < _IDLE_MOST:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.abort()

    async def _connect(self) -> "_Connection":
        host, port, tls, _ = self._origin
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                if self._proxy is not None and tls is not None:
                    return await self._tunnel(self._proxy, tls)
                loop = asyncio.get_running_loop()
                name = host if tls else None
                return (await loop.create_connection(_Connection, host, port, ssl=tls, server_hostname=name))[
                    1
                ]
        except ssl.SSLCertVerificationError as error:
            raise UpstreamError(f"has a certificate that is not trusted: {error.verify_message}") from None
        except TimeoutError:
            raise UpstreamError("does not accept connections") from None
        except OSError as error:
            why = (error.strerror or type(error).__name__).lower()
            raise UpstreamError(f"cannot be reached: {why}") from None

    async def _tunnel(self, proxy: Proxy, tls: ssl.SSLContext) -> "_Connection":
        """A connection through a proxy that hands bytes on (RFC 9110, section 9.3.6)."""
        loop = asyncio.get_running_loop()
        transport, tunnel = await loop.create_connection(_Connection, proxy.host, proxy.port)
        host = f"[{self._origin.host}]" if ":" in self._origin.host else self._origin.host
        target = f"{host}:{self._origin.port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}"]
        if proxy.authorization is not None:
            lines.append(f"proxy-authorization: {proxy.authorization}")
        reply = await tunnel.exchange("".join(f"{line}\r\n" for line in lines).encode() + b"\r\n", b"")
        if not 200 <= reply.status < 300:
            tunnel.abort()
            raise UpstreamError(f"cannot be reached: the proxy answered with HTTP status {reply.status}")
        connection = _Connection()
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


class ClientReply:
    """One response: see `Reply`."""

    def __init__(self, connection: "_Connection", status: int, headers: Sequence[Header]) -> None:
        self.status = status
        self.headers = headers
        self.released = connection.abort
        self._connection = connection
        self._is_released = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body, as it arrives."""
        while chunk := await self._connection.read():
            yield chunk

    async def read(self, most: int) -> bytes:
        """The whole body."""
        length = header(self.headers, b"content-length")
        if length is not None and length.isdigit() and int(length) > most:
            raise UpstreamError(f"answered with more than {most} bytes")
        content = bytearray()
        while chunk := await self._connection.read():
            content += chunk
            if len(content) > most:
                raise UpstreamError(f"answered with more than {most} bytes")
        return bytes(content)

    async def aclose(self) -> None:
        """Let go of it; the connection is used again if all of it was read."""
        if not self._is_released:
            self._is_released = True
            self.released()


class _Connection(asyncio.Protocol):
    """One connection, with at most one request at a time."""

    def __init__(self) -> None:
        self.idle_since = 0.0
        self.is_open = False
        self.is_reusable = False
        self._transport: asyncio.Transport | None = None
        self._head: asyncio.Future[None] | None = None
        self._more: asyncio.Future[None] | None = None
        self._reset()

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[Header] = []
        self._chunks: deque[bytes] = deque()
        self._held = self._head_bytes = self._status = 0
        self._is_complete = self.is_reusable = self._is_paused = False
        self._why: str | None = None

    # What a client does

    async def exchange(self, head: bytes, body: bytes) -> ClientReply:
        """Send one request and wait for the head of its response."""
        self._reset()
        transport = self._transport
        if transport is None or not self.is_open:
            raise UpstreamError("closed the connection")
        self._head = asyncio.get_running_loop().create_future()
        transport.write(head + body if len(body) < _HELD_BYTES else head)
        if len(body) >= _HELD_BYTES:
            transport.write(body)
        await self._head
        return ClientReply(self, self._status, tuple(self._headers))  # without trailers, which come later

    async def read(self) -> bytes:
        """The next bytes of the body; none at its end."""
        while not self._chunks:
            if self._is_complete:
                return b""
            if self._why is not None:
                raise UpstreamError(self._why)
            self._more = asyncio.get_running_loop().create_future()
            await self._more
        chunk = self._chunks.popleft()
        self._held -= len(chunk)
        if self._is_paused and self._held < _HELD_BYTES and self._transport is not None and self.is_open:
            self._is_paused = False
            self._transport.resume_reading()
        return chunk

    def abort(self) -> None:
        """End the connection at once."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Some bytes of a response; of none that was asked for, the connection ends."""
        if self._head is None or self._is_complete:
            self._break("sent something that nobody asked for")
            return
        if not self._head.done():
            self._head_bytes += len(data)
            if self._head_bytes > _HEAD_BYTES and not self._status:
                self._break("answered with headers that do not end")
                return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._break("answered with another protocol")
        except httptools.HttpParserError:
            self._break("answered with something that is no HTTP")
        if self._held > _HELD_BYTES and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> None:
        """The server says no more: the end of a body of unknown length (RFC 9112, section 6.3)."""

    def connection_lost(self, _error: Exception | None) -> None:
        """The connection is gone."""
        self.is_open = self.is_reusable = False
        is_framed = any(name in (b"content-length", b"transfer-encoding") for name, _ in self._headers)
        if self._status and not self._is_complete and not is_framed and _error is None:
            self._is_complete = True
        self._break("closed the connection")

    # What httptools tells

    def on_message_begin(self) -> None:
        """A response; nobody asked for a second one."""
        if self._is_complete:
            self.is_reusable = False
            raise ValueError("a second response")

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header of the response."""
        self._headers.append((name.lower(), value.strip(b" \t")))

    def on_headers_complete(self) -> None:
        """The head of a response; one that is only provisional is read over (RFC 9110, section 15.2)."""
        status = self._parser.get_status_code()
        if status < 200:
            self._headers = []
            return
        self._status = status
        if self._head is not None and not self._head.done():
            self._head.set_result(None)

    def on_body(self, body: bytes) -> None:
        """Some bytes of the body."""
        self._chunks.append(body)
        self._held += len(body)
        self._wake()

    def on_message_complete(self) -> None:
        """The end of the body."""
        if self._status:
            self._is_complete = True
            self.is_reusable = self.is_open and self._parser.should_keep_alive()
            self._wake()

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    def _break(self, why: str) -> None:
        if self._why is None:
            self._why = why
        if self._head is not None and not self._head.done():
            self._head.set_exception(UpstreamError(why))
        self._wake()
        if self.is_open:
            self.abort()
