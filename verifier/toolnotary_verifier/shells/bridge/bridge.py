# SPDX-License-Identifier: Apache-2.0
"""One host behind its pipes, from its first line to the end.

A line with a request is sent beside all others; any other line, and `initialize`, holds up what comes behind
it until the server has it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Final

from toolnotary_verifier.shells.bridge.listening import listen
from toolnotary_verifier.shells.bridge.pipes import Pipes
from toolnotary_verifier.shells.bridge.posting import Posting
from toolnotary_verifier.shells.bridge.said import Said
from toolnotary_verifier.shells.bridge.sent import Sent
from toolnotary_verifier.shells.bridge.session import Session
from toolnotary_verifier.shells.http.lane import Inbox

UNREACHED: Final = 3
GATE_FAILED: Final = 70
LINE_TOO_LONG: Final = 1
_MOST_UNDER_WAY: Final = 1024
_NOTICE: Final = 10.0  # seconds that a message which nobody answers may take
_OPENING: Final = 1.0  # seconds that the host waits for a stream to be open
_SETTLING: Final = 10.0  # seconds for what a host that says no more still waits for
_GOODBYE: Final = 2.0
_FLUSH: Final = 5.0


class Bridge:
    """Relays until the host, the server or the gate ends it.

    Attributes:
        was_reached: whether the server answered anything; whoever sends says so.
    """

    def __init__(self, session: Session, pipes: Pipes, unasked: Inbox) -> None:
        """Nothing is relayed yet; must be made on the loop.

        Args:
            session: both ends.
            pipes: the host's.
            unasked: where the gate puts what belongs to no request (`Front.hear`).
        """
        self.was_reached = False
        self._session = session
        self._pipes = pipes
        self._unasked = unasked
        self._was_asked = False
        self._posting = Posting(session, lost=lambda: self.end(UNREACHED))
        self._under_way = session.under_way
        self._listening: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._over: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(self, code: int) -> None:
        """End it, with this exit code; the first one counts."""
        if not self._over.done():
            self._over.set_result(code)

    async def run(self) -> int:
        """Relay; returns the exit code (docs/reference/bridge.md)."""
        for work in (self._hear, self._feed, self._await_gone):
            self._start(work)
        try:
            code = await self._over
        finally:
            unanswered = self._under_way.awaited()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                for sent in unanswered:
                    why = "is not asked any more: the connection ends"
                    await self._session.write(*sent.awaited.failed(why))
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                await self._session.end()
        await self._pipes.flush(_FLUSH)
        return code

    # What the host says

    async def _feed(self) -> None:
        while (line := await self._pipes.line()) is not None:
            if line.strip():
                await self._take(Said.of(line, max_bytes=self._session.limits.frame_bytes))
        if self._pipes.too_long:
            self._session.tell("line-too-long", f"{self._pipes.too_long} ends the connection")
            self.end(LINE_TOO_LONG)
        await self._under_way.settled(_SETTLING)
        self.end(0 if self.was_reached or not self._was_asked else UNREACHED)

    async def _take(self, said: Said) -> None:
        if said.cancelled is not None and self._cancel(said.cancelled):
            return
        sent = Sent(said)
        if said.ids and len(self._under_way) >= _MOST_UNDER_WAY:
            await self._session.write(*sent.awaited.failed("is asked too much at once"))
            return
        self._was_asked = True
        self._under_way.add(sent)
        sent.task = self._start(partial(self._send, sent))
        sent.task.add_done_callback(lambda _: self._under_way.remove(sent))
        if said.method == "initialize":
            await self._patiently(sent.task, self._session.limits.first_start_seconds)
        elif not said.ids:
            await self._patiently(sent.task, _NOTICE)

    def _cancel(self, key: str) -> bool:
        """Take back a request; whether the server is not to be told otherwise than by a closed stream."""
        sent = self._under_way.find(key)
        if sent is None:
            return self._session.facts.is_stateless
        sent.awaited.is_given_up = True
        if sent.said.revision:
            sent.task.cancel()
        return bool(sent.said.revision)

    async def _send(self, sent: Sent) -> None:
        is_taken = await self._posting.post(sent)
        if is_taken and sent.said.method == "notifications/initialized":
            await self._listen()

    async def _listen(self) -> None:
        """Open the stream for what nobody asked for, before what the host says next is sent."""
        if self._listening is not None:
            self._listening.cancel()
        opened = asyncio.Event()
        self._listening = self._start(partial(listen, self._session, opened))
        with suppress(TimeoutError):
            async with asyncio.timeout(_OPENING):
                await opened.wait()

    # What else happens

    async def _hear(self) -> None:
        while self._unasked.response is None:
            await self._unasked.news.wait()
            for line in self._unasked.frames():
                await self._session.hand_on(line)
        self.end(GATE_FAILED)

    async def _await_gone(self) -> None:
        await self._pipes.gone.wait()
        self.end(0)

    async def _patiently(self, task: asyncio.Task[None], seconds: float) -> None:
        """Wait for a task, but no longer than this, and not where the host says no more."""
        closed = asyncio.ensure_future(self._pipes.closed.wait())
        try:
            await asyncio.wait({task, closed}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            closed.cancel()

    def _start(self, work: Callable[[], Coroutine[None, None, None]]) -> asyncio.Task[None]:
        async def guarded() -> None:
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - whatever dies here, the connection must not go on
                self._session.tell("gate-failed", f"the bridge failed: {type(error).__name__}: {error}")
                self.end(GATE_FAILED)

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
