# SPDX-License-Identifier: Apache-2.0
"""One guarded server behind a front: its files followed, its registry asked, its records written."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from functools import partial
from typing import Final

from toolnotary_verifier.gate import Effects, Gate, Streams
from toolnotary_verifier.guard import Guard
from toolnotary_verifier.shells.http.front import Front, Gated
from toolnotary_verifier.shells.http.message import Send

_LOOK: Final = 1.0  # seconds between two looks at the files


class Service:
    """What stands behind a front, on one event loop; files and the registry are waited for in threads.

    Attributes:
        front: what requests of hosts come to.
        guard: the server's.
    """

    def __init__(self, guard: Guard, send: Send) -> None:
        """Nothing has passed yet; `running` must be entered before anything does.

        Args:
            guard: of the server.
            send: sends a request to it.
        """
        self.guard = guard
        self.front = Front(self._gate, send, limits=guard.limits)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_recording = self._is_due = False

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the files are followed; what is under way ends with it."""
        self._start(self._follow())
        try:
            yield
        finally:
            await self.front.aclose()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.to_thread(self.guard.record)

    def _gate(self, streams: Streams) -> Gated:
        trail = self.guard.trail()

        def heard(effects: Effects) -> bool:
            is_kept = trail.decided(effects)
            if effects.log or effects.decisions or effects.unlisted or effects.look_up:
                self._heard(effects)
            return is_kept

        return Gated(self.guard.gate(streams), heard)

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

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            if await asyncio.to_thread(self.guard.refresh):
                self.front.each_gate(Gate.rejudge)

    async def _look_up(self) -> None:
        judges = self.guard.look_up() if self.guard.look_up is not None else iter(())
        while (judge := await asyncio.to_thread(next, judges, None)) is not None:
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
