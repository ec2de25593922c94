# SPDX-License-Identifier: Apache-2.0
"""One connection of the SDK, judged message by message.

Everything happens in the loop of the host: the gate is asked where a message is sent or received, and nothing
waits for a file or a registry there; a thread does. One task reads what the server says, one for each
direction writes what the gate made, one wakes the gate at its deadlines, and two follow the files and record.
Whatever of it breaks ends the connection, and nothing else of the host.
"""

import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

import anyio
import anyio.to_thread

from toolnotary_verifier.gate import Effects, Judge, Matter, Side
from toolnotary_verifier.guard import Guard
from toolnotary_verifier.shells.mcp.messages import (
    answered,
    asked,
    cancelled,
    frame_of,
    item_of,
)
from toolnotary_verifier.shells.mcp.sdk import Item, Reads, Said, Writes
from toolnotary_verifier.shells.mcp.ways import HostReads, HostWrites, Way, send_within

_LOOK: Final = 1.0  # seconds between two looks at the files; documented as "within two seconds"
_LAST: Final = 10.0  # likewise for what is recorded at the end, which another process may hold up
_SOON: Final = 0.1  # likewise from what is to be recorded to its record
_ASK: Final = 0.05  # likewise at a look-up that is under way
_GONE: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


class Connection:
    """A gate between a client session and the streams of a transport.

    Attributes:
        reads: what the session reads.
        writes: what it writes to.
    """

    def __init__(self, guard: Guard, reads: Reads, writes: Writes) -> None:
        """A connection that nothing has passed yet.

        Args:
            guard: stands behind the gate.
            reads: the transport's stream of what the server says.
            writes: its stream of what the session says.
        """
        self._guard = guard
        self._gate = guard.gate(asks=True)
        self._trail = guard.trail()
        self._server_reads = reads
        self._server_writes = writes
        self.reads = HostReads()
        self.writes = HostWrites(self._from_host, writes.aclose)
        self._to_host: Way[Said] = Way(self.reads.put)
        self._to_server: Way[Item] = Way(partial(send_within, writes))
        self._held: dict[str, tuple[bytes, Item, Context]] = {}
        self._is_over = False
        self._scope = anyio.CancelScope()
        self._is_stirred = anyio.Event()
        self._is_news = anyio.Event()
        self._start: Callable[..., object] | None = None

    async def run(self) -> None:
        """Relay until one side ends, the gate breaks, or this is cancelled; nothing is left running."""
        try:
            async with anyio.create_task_group() as tasks:
                self._scope, self._start = tasks.cancel_scope, tasks.start_soon
                for work in (
                    self._relay,
                    self._to_host.run,
                    self._to_server.run,
                    self._keep_time,
                    self._follow,
                    self._record,
                ):
                    tasks.start_soon(self._until_broken, work)
                if self._is_over:
                    tasks.cancel_scope.cancel()
        finally:
            self._is_over = True
            self.reads.end()
            with anyio.move_on_after(_LAST, shield=True):
                await self._server_writes.aclose()
                matters = self._gate.leave().matters
                await anyio.to_thread.run_sync(self._conclude, matters, abandon_on_cancel=True)

    def _conclude(self, matters: list[Matter]) -> None:
        for matter in matters:
            self._guard.attend(matter)
        self._guard.record()

    # What host and server say

    async def _from_host(self, item: Item) -> None:
        if self._is_over:
            raise anyio.BrokenResourceError
        await self._to_server.carry(partial(self._judged, Side.HOST, item, frame_of(item)))
        await self._to_host.room()

    async def _relay(self) -> None:
        reads = self._server_reads
        try:
            while True:
                item = await reads.receive()
                context: Context | None = getattr(reads, "last_context", None)
                if isinstance(item, Exception):
                    await self._to_host.carry(partial(_itself, item), context)
                else:
                    await self._to_host.carry(
                        partial(self._judged, Side.SERVER, item, frame_of(item)), context
                    )
        except _GONE:
            await self._to_host.settled()
            self._end()

    def _judged(self, side: Side, item: Item, frame: bytes) -> Item | None:
        """The item if it goes on as it is; what else follows from it is done."""
        if self._is_over:
            raise anyio.BrokenResourceError
        effects = self._gate.receive(side, frame, time.monotonic())
        if effects is None:
            return item
        if side is Side.HOST:
            self._hold(frame, item)
        self._do(effects, frame, item)
        return None

    def _hold(self, frame: bytes, item: Item) -> None:
        """Keep what did not go on yet, for as long as the gate may still send or answer it."""
        self._held.pop(cancelled(item) or "", None)
        key = asked(item)
        if key is not None:
            self._held[key] = frame, item, copy_context()

    # What follows

    def _do(self, effects: Effects, frame: bytes = b"", item: Item | None = None) -> None:
        """Take down what was decided, queue what goes out, in order, and tell everybody else."""
        if not self._trail.decided(effects):
            self._gate.close()
            self._end()
            return
        for kind, why in effects.unlisted:
            self._guard.unlisted(kind, why)
        for one in effects.to_server:
            self._put_to_server(one)
        for one in effects.to_host:
            made = item if one is frame else item_of(one)
            self._put(self._to_host, made)
            self._held.pop((made and answered(made)) or "", None)
        for entry in effects.log:
            self._guard.log.entry(entry)
        if effects.look_up and self._guard.look_up is not None and self._start is not None:
            self._start(self._until_broken, self._ask)
        for matter in effects.matters:
            if self._start is not None:
                self._start(self._until_broken, partial(self._attend, matter))
        self._is_stirred.set()
        self._is_news.set()
        if effects.close is not None:
            self._end()

    def _put_to_server(self, frame: bytes) -> None:
        """Queue what the gate made; what it held goes on as the very message that the session sent."""
        made = item_of(frame)
        key = (made and asked(made)) or ""
        if key in self._held and self._held[key][0] == frame:
            _, item, context = self._held.pop(key)
            self._to_server.put(item, context)
        else:
            self._put(self._to_server, made)

    def _put(self, way: Way[Any], item: Item | None) -> None:
        if item is None:
            self._guard.log.line("a message of the gate is none of the SDK's, and was left out")
        else:
            way.put(item)

    # Time, files, registry

    async def _keep_time(self) -> None:
        while True:
            deadline = self._gate.deadline
            wait = None if deadline is None else max(0.0, deadline - time.monotonic())
            with anyio.move_on_after(wait) as timer:
                await self._is_stirred.wait()
                self._is_stirred = anyio.Event()
            if timer.cancelled_caught:
                self._do(self._gate.wake(time.monotonic()))

    async def _follow(self) -> None:
        while True:
            await anyio.sleep(_LOOK)
            if await anyio.to_thread.run_sync(self._guard.refresh):
                self._do(self._gate.rejudge())

    async def _record(self) -> None:
        while True:
            await self._is_news.wait()
            await anyio.sleep(_SOON)  # a thread for every call would cost more than the call
            self._is_news = anyio.Event()
            await anyio.to_thread.run_sync(self._guard.record)

    async def _ask(self) -> None:
        """Have something looked up, and judge by every answer."""
        async with _answers(self._guard) as answers:
            async for judge in answers:
                self._do(self._gate.repin(judge))

    async def _attend(self, matter: Matter) -> None:
        """Have the host asked, or what it said written down."""
        invitation = await anyio.to_thread.run_sync(self._guard.attend, matter)
        if invitation is not None:
            self._do(self._gate.elicit(invitation, time.monotonic()))

    # The end

    async def _until_broken(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except _GONE:
            self._end()
        except Exception as error:  # noqa: BLE001 - whatever breaks here, the connection must not go on
            self._guard.log.line(f"the connection failed and is closed: {type(error).__name__}: {error}")
            self._end()

    def _end(self) -> None:
        self._is_over = True
        self._scope.cancel()


@asynccontextmanager
async def _answers(guard: Guard) -> AsyncIterator[AsyncIterator[Judge]]:
    """The judges that a look-up gives, each as soon as it is there; what still waits is given up at the end.

    A thread asks, and it holds up nobody's exit: one of anyio's would.
    """
    found: SimpleQueue[Judge] = SimpleQueue()
    is_over = threading.Event()

    def ask() -> None:
        for judge in guard.look_up(lambda seconds: not is_over.wait(seconds)) if guard.look_up else ():
            found.put(judge)

    thread = threading.Thread(target=ask, name="toolnotary-look-up", daemon=True)

    async def answers() -> AsyncIterator[Judge]:
        while thread.is_alive() or not found.empty():
            while not found.empty():
                yield found.get()
            await anyio.sleep(_ASK)

    thread.start()
    try:
        yield answers()
    finally:
        is_over.set()


def _itself(item: Said) -> Said:
    return item
