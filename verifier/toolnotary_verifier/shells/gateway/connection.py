# SPDX-License-Identifier: Apache-2.0
"""One connection of HTTP/1.1 (RFC 9112), used for one request after the other; httptools reads it."""

import asyncio
import select
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from typing import Final, cast

import httptools

from toolnotary_verifier.shells.http.message import ClosedError, Header, UpstreamError, header

_HELD_BYTES: Final = 256 << 10  # that nobody has read yet; then nothing more is received
_LAST_STATUS: Final = 599
_HEAD_BYTES: Final = 128 << 10  # of headers, trailers and chunk extensions, with no body among them


class ClientReply:
    """One response: see `Reply`."""

    def __init__(self, connection: "Connection", status: int, headers: Sequence[Header]) -> None:
        self.status = status
        self.headers = headers
        self.released = connection.abort
        self._connection = connection
        self._is_released = False

    async def chunks(self) -> AsyncGenerator[bytes]:
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


class Connection(asyncio.Protocol):
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
        self._held = self._beside = self._status = 0
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

    @property
    def is_quiet(self) -> bool:
        """Whether it is open, and nothing arrived: whatever does on an idle connection is its end."""
        if not self.is_open or self._transport is None:
            return False
        return not _is_readable(self._transport.get_extra_info("socket").fileno())

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
        self._beside += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._break("answered with another protocol")
        except httptools.HttpParserError:
            self._break("answered with something that is no HTTP")
        if self._beside > _HEAD_BYTES and not self._is_complete:
            self._break("answered with headers that do not end")
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
        """One header of the response; what comes after the body says nothing that may be handed on."""
        if self._status:  # trailers (RFC 9112, section 7.1.2)
            return
        self._headers.append((name.lower(), value.strip(b" \t")))

    def on_headers_complete(self) -> None:
        """The head of a response; one that is only provisional is read over (RFC 9110, section 15.2)."""
        status = self._parser.get_status_code()
        if status < 200:
            self._headers = []
            return
        if status > _LAST_STATUS:  # nobody can be answered with it (RFC 9110, section 15)
            raise ValueError("no status of HTTP")
        self._status = status
        if self._head is not None and not self._head.done():
            self._head.set_result(None)

    def on_body(self, body: bytes) -> None:
        """Some bytes of the body."""
        self._beside = 0
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
            was_used = self.idle_since > 0 and not self._beside
            self._head.set_exception(ClosedError(why) if was_used else UpstreamError(why))
        self._wake()
        if self.is_open:
            self.abort()


def _is_readable(descriptor: int) -> bool:
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([descriptor], [], [], 0)[0])  # Windows, which bounds no descriptors
