# SPDX-License-Identifier: Apache-2.0
"""uvicorn's HTTP/1.1 with head and body of a response in one write: another system call costs a tenth."""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Connection(HttpToolsProtocol):
    """One connection of a host."""

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
