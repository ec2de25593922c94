# SPDX-License-Identifier: Apache-2.0
"""uvicorn's HTTP/1.1: what a host sends beside bodies is bounded, and a response is one write, head and body.

Another system call costs a tenth of a request.
"""

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MOST_HEADERS: Final = 256
_HEAD_BYTES: Final = 64 << 10  # of a head, or of trailers and chunk extensions with no body among them
_TOO_MUCH: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)


class Connection(HttpToolsProtocol):
    """One connection of a host."""

    _beside = 0
    _is_too_much = False

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request."""
        self._beside += len(data)
        super().data_received(data)
        if self._beside > _HEAD_BYTES and not self.transport.is_closing():
            self._refuse()

    def on_headers_complete(self) -> None:
        """The head of a request.

        Raises:
            ValueError: it is too large; the parser gives up, and `send_400_response` is called.
        """
        if len(self.headers) > _MOST_HEADERS or (self._beside > _HEAD_BYTES and self._head() > _HEAD_BYTES):
            self._is_too_much = True
            raise ValueError("too many headers")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some bytes of the body."""
        self._beside = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The end of a request."""
        self._beside = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, and end the connection."""
        if self._is_too_much:
            self._refuse()
        else:
            super().send_400_response(msg)

    def _head(self) -> int:
        """Bytes of the head, of which some of a body may have come together with it."""
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def _refuse(self) -> None:
        self.transport.write(_TOO_MUCH)
        self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """The connection is open."""
        super().connection_made(cast("asyncio.Transport", _Joined(transport, self.loop)))


class _Joined:
    """A transport that writes what was given to it in one turn of the loop at the end of the turn."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the transport has
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write, soon."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Write what is left, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))
