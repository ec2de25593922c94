# SPDX-License-Identifier: Apache-2.0
"""The two directions of a connection, and the ends of them that a client session holds."""

from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import Context
from types import TracebackType
from typing import Generic, Self, TypeVar

import anyio

from toolnotary_verifier.shells.mcp.sdk import Item, Said, Writes

_T = TypeVar("_T")

# A host that asks and asks without reading waits once so many answers are queued for it.
_QUEUED = 64


class Way(Generic[_T]):
    """One direction. What passes is sent by whoever sends it; what the gate made is sent by `run`.

    Streams of the SDK hold nothing back: who sends waits until it is taken. What passes keeps that, and its
    context, and never overtakes what the gate made before it was judged.
    """

    def __init__(self, send: Callable[[_T, Context | None], Awaitable[None]]) -> None:
        """Nothing is under way.

        Args:
            send: sends an item in a context, and waits until it is taken.
        """
        self._send = send
        self._made: deque[tuple[_T, Context | None]] = deque()
        self._judging = anyio.Lock()
        self._is_made = anyio.Event()
        self._is_idle = anyio.Event()
        self._is_idle.set()

    def put(self, item: _T, context: Context | None = None) -> None:
        """Queue what the gate made, or held until now."""
        self._made.append((item, context))
        self._is_made.set()
        if self._is_idle.is_set():
            self._is_idle = anyio.Event()

    async def carry(self, judged: Callable[[], _T | None], context: Context | None = None) -> None:
        """Judge an item once all that was made before is taken, and send it if it passes.

        Args:
            judged: judges it; gives it, or None where it does not go on as it is.
            context: its sender's.
        """
        async with self._judging:
            await self._is_idle.wait()
            item = judged()
            if item is not None:
                await self._send(item, context)

    async def room(self) -> None:
        """Wait while more is queued than a peer who reads would leave."""
        while len(self._made) > _QUEUED:
            await self._is_idle.wait()

    async def settled(self) -> None:
        """Wait until nothing is queued."""
        await self._is_idle.wait()

    async def run(self) -> None:
        """Send what the gate makes, until cancelled or until nobody takes it any more."""
        try:
            while True:
                await self._is_made.wait()
                while self._made:
                    await self._send(*self._made.popleft())
                self._is_made = anyio.Event()
                self._is_idle.set()
        finally:
            self._made.clear()
            self._is_idle.set()


async def send_within(stream: Writes, item: Item, context: Context | None) -> None:
    """Send in the context of whoever sent it first, where that is another one: transports read it there."""
    if context is None:
        await stream.send(item)
        return
    async with anyio.create_task_group() as tasks:
        context.run(tasks.start_soon, stream.send, item)


class HostReads:
    """What a client session reads: like the SDK's own streams, with the context of each item's sender.

    Attributes:
        last_context: that of the item that was received last.
    """

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[tuple[Said, Context | None]](0)
        self.last_context: Context | None = None

    async def put(self, item: Said, context: Context | None) -> None:
        """Hand an item to the session; waits until it is taken."""
        await self._send.send((item, context))

    def end(self) -> None:
        """Nothing more comes."""
        self._send.close()

    async def receive(self) -> Said:
        """The next item; raises what anyio's streams raise."""
        item, self.last_context = await self._receive.receive()
        return item

    def close(self) -> None:
        """Read nothing more."""
        self._receive.close()

    async def aclose(self) -> None:
        """Read nothing more."""
        await self._receive.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Said:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()


class HostWrites:
    """What a client session writes to: every message is judged before it goes on."""

    def __init__(self, send: Callable[[Item], Awaitable[None]], close: Callable[[], Awaitable[None]]) -> None:
        self._send = send
        self._close = close
        self._is_closed = False

    async def send(self, item: Item, /) -> None:
        """Send a message; waits until the transport took it, or the gate holds or answers it.

        Raises:
            anyio.ClosedResourceError: this stream was closed.
            anyio.BrokenResourceError: the connection has ended.
        """
        if self._is_closed:
            raise anyio.ClosedResourceError
        await self._send(item)

    async def aclose(self) -> None:
        """Write nothing more."""
        if not self._is_closed:
            self._is_closed = True
            await self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()
