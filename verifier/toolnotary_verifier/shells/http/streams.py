# SPDX-License-Identifier: Apache-2.0
"""Bodies that arrive bit by bit: closed whether or not anybody read them, waited for beside other news."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from toolnotary_verifier.shells.http.lane import Inbox


class Stream:
    """A body, and what is to be done once nobody reads it any more: also where nobody ever did."""

    def __init__(self, pieces: AsyncGenerator[bytes], closing: Callable[[], Awaitable[None]]) -> None:
        self._pieces = pieces
        self._closing = closing

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        """End it; must be called, once or more."""
        try:
            await self._pieces.aclose()
        finally:
            await self._closing()


async def with_news(chunks: AsyncGenerator[bytes], inbox: Inbox) -> AsyncGenerator[bytes]:
    """The chunks as they come, and an empty one whenever something lies in the inbox.

    Nobody reads the chunks any more once this was closed.

    Raises:
        UpstreamError: as reading the chunks does.
    """
    reading: asyncio.Task[bytes | None] | None = None
    try:
        while True:
            if reading is None:
                reading = asyncio.ensure_future(_next(chunks))
            news = asyncio.ensure_future(inbox.news.wait())
            try:
                await asyncio.wait({reading, news}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
            chunk: bytes | None = b""
            if reading.done():
                chunk, reading = reading.result(), None
            if chunk is None:
                return
            inbox.news.clear()
            yield chunk
    finally:
        if reading is not None:
            reading.cancel()
            await asyncio.wait({reading})
        await chunks.aclose()


async def _next(chunks: AsyncGenerator[bytes]) -> bytes | None:
    return await anext(chunks, None)
