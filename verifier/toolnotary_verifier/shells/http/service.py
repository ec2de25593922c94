# SPDX-License-Identifier: Apache-2.0
"""One guarded server behind a front: its files followed, its registry asked, its records written."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine
from functools import lru_cache, partial
from typing import Final

from toolnotary_verifier.gate import Answered, Effects, Gate, Matter, Said, Streams
from toolnotary_verifier.guard import Guard
from toolnotary_verifier.secrecy import names_secret
from toolnotary_verifier.shells.http.beside import beside
from toolnotary_verifier.shells.http.front import Addressed, Front, Gated
from toolnotary_verifier.shells.http.message import ARGUMENT, SESSION, Reply, Request, Send

_LOOK: Final = 1.0  # seconds between two looks at the files
_CREDENTIALS: Final = frozenset((b"authorization", b"cookie"))


class Service:
    """What stands behind a front, on one event loop; files and the registry are waited for in threads.

    Attributes:
        front: what requests of hosts come to.
        guard: the server's.
    """

    def __init__(
        self,
        guard: Guard,
        send: Send,
        *,
        is_sole: bool = False,
        addressed: Addressed = lambda _gate, _content: (),
    ) -> None:
        """Nothing has passed yet; `running` must be entered, or `start` called, before anything does.

        Args:
            guard: of the server; several services may share it, on one loop or on several.
            send: sends a request to it.
            is_sole: whether there is but one host (see `Front`).
            addressed: gives more headers (see `Front`).
        """
        self.guard = guard
        self._send = send
        self.front = Front(self._gate, self._sent, is_sole=is_sole, addressed=addressed, limits=guard.limits)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_recording = self._is_due = False

    async def _sent(self, request: Request) -> Reply:
        """Send a request; nothing is kept that repeats what lets its host in."""
        for name, value in request.headers:
            if _lets_in(name):
                self.guard.conceal(value.decode("latin-1"))
        return await self._send(request)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the files are followed; what is under way ends with it."""
        self.start()
        try:
            yield
        finally:
            await self.aclose()

    def start(self) -> None:
        """Follow the files from now on, on the loop that runs."""
        self._start(self._follow(self.guard.turn))

    def stop(self) -> None:
        """Follow them no more, without waiting for what ends by that."""
        for task in self._tasks:
            task.cancel()

    async def aclose(self) -> None:
        """End what is under way."""
        tasks = list(self._tasks)
        self.stop()
        recording = asyncio.get_running_loop().run_in_executor(None, self._conclude, self.front.leave())
        await self.front.aclose()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.shield(recording)

    def _gate(self, streams: Streams) -> Gated:
        trail = self.guard.trail()
        gate = self.guard.gate(streams, asks=True)

        def heard(effects: Effects) -> bool:
            is_kept = trail.decided(effects)
            for matter in effects.matters:
                self._start(self._attend(gate, matter))
            if effects.log or effects.decisions or effects.unlisted or effects.look_up:
                self._heard(effects)
            return is_kept

        return Gated(gate, heard)

    async def _attend(self, gate: Gate, matter: Matter) -> None:
        """Have a host asked, or what it said written down; the files are waited for in a thread."""
        invitation = await asyncio.to_thread(self.guard.attend, matter)
        if invitation is None:
            return
        if not self.front.with_gate(gate, lambda one: one.elicit(invitation, time.monotonic())):
            await asyncio.to_thread(self.guard.attend, Answered(invitation.change_set, Said.UNASKED))

    def _conclude(self, matters: list[Matter]) -> None:
        for matter in matters:
            self.guard.attend(matter)
        self.guard.record()

    def _heard(self, effects: Effects) -> None:
        for kind, why in effects.unlisted:
            self.guard.unlisted(kind, why)
        for entry in effects.log:
            self.guard.log.entry(entry)
        if effects.look_up and self.guard.look_up is not None:
            self._start(self._look_up())
        self._is_due = True
        if not self._is_recording:
            self._is_recording = True
            self._start(self._record())

    async def _record(self) -> None:
        try:
            while self._is_due:
                self._is_due = False
                await asyncio.to_thread(self.guard.record)
        finally:
            self._is_recording = False

    async def _follow(self, turn: int) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            await asyncio.to_thread(self.guard.refresh)
            if turn != self.guard.turn:
                turn = self.guard.turn
                self.front.each_gate(Gate.rejudge)

    async def _look_up(self) -> None:
        judges = self.guard.look_up() if self.guard.look_up is not None else iter(())
        while (judge := await beside(partial(next, judges, None))) is not None:
            self.front.each_gate(partial(Gate.repin, judge=judge))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Without its files and records nothing is guarded: whatever fails here closes every connection."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            why = f"is not guarded any more: {type(error).__name__}"
            self.guard.log.note("gate-failed", f"everything is closed: {type(error).__name__}: {error}")
            self.front.break_off(why)


@lru_cache(maxsize=256)  # hosts send the same headers with every request
def _lets_in(name: bytes) -> bool:
    """Whether a header of this name may hold what lets a host in; a session's id comes from the server."""
    if name == SESSION or name.startswith(ARGUMENT):
        return False
    return name in _CREDENTIALS or names_secret(name.decode("latin-1"))
