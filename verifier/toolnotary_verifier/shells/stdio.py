# SPDX-License-Identifier: Apache-2.0
"""The stdio proxy: a gate between our standard streams and those of a server that we started.

Two threads relay, one for each direction; a third wakes the gate at its deadlines and writes what one
direction has to say to its own side, so that neither ever waits for the descriptor that the other needs. What
the gate wants looked up is looked up in a thread of its own, while everything else goes on; another one tells
when what the judge goes by has changed. The main thread
waits for signals and for the end: of the host, of the server, or of the gate.

Once it is over (`ending`), nothing that the server started is left behind.
"""

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from toolnotary_verifier import process
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate import Effects, Gate, Invitation, Judge, Matter, Side
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.process import Process
from toolnotary_verifier.shells.ending import Ending
from toolnotary_verifier.shells.lines import Lines, LineTooLongError, Outlet

if TYPE_CHECKING:
    from toolnotary_verifier.guard import Notes
    from toolnotary_verifier.shells.long_line import LongLine

GATE_FAILED: Final = 70
LINE_TOO_LONG: Final = 1
KILLED: Final = 137  # 128 + SIGKILL: the process that a host started; nobody reads the code of this one
# A small buffer costs less for the usual message; one that was filled is followed by a large one.
_SMALL: Final = 16 << 10
_LARGE: Final = 120 << 10  # from 128 KiB on, each is mapped anew
_WIDE: Final = 256 << 10  # holds what is read next, and stays in the cache
_FLUSH: Final = 5.0
# A host that asks and asks without reading waits once so many answers are queued for it.
_QUEUED: Final = 64
_SERVER: Final = Side.SERVER


class Proxy:
    """One connection from the first byte to the end of the server."""

    def __init__(
        self,
        server: Process,
        gate: Gate,
        log: "Notes",
        *,
        afterwards: Callable[[], None] = lambda: None,
        unlisted: Callable[[Kind, str], None] = lambda _kind, _why: None,
        decided: Callable[[Effects], bool] = lambda _effects: True,
        look_up: Callable[[], Iterator[Judge]] | None = None,
        changes: Callable[[], Iterator[None]] | None = None,
        attend: Callable[[Matter], Invitation | None] | None = None,
        lifeline: int | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """A proxy that has not begun.

        Args:
            server: the started server.
            gate: decides about every frame.
            log: where people read what was done.
            afterwards: called, by neither of the threads that relay, after the gate had something to say.
            unlisted: told which list could not be had, and why (`Effects.unlisted`); in order with what the
                judge is asked, and so quick.
            decided: told everything that the gate did, before any of it goes on (`trail`); where it answers
                False, nothing goes on any more.
            look_up: where the judge may say `pending`: called in a thread of its own when the gate asks, it
                gives the judges that decide from then on, one after the other.
            changes: called in a thread of its own from the start; whenever it gives something, what the judge
                goes by has changed, and everything is judged again.
            attend: called in a thread of its own with each of `Effects.matters`; what it gives is leave to
                ask the host.
            lifeline: a descriptor on which a read ends once the process that watches us has ended.
            limits: bounds on lines.
        """
        self._server = server
        self._gate = gate
        self._log = log
        self._afterwards = afterwards
        self._unlisted = unlisted
        self._decided = decided
        self._look_up = look_up
        self._changes = changes
        self._attend = attend
        self._lifeline = lifeline
        self._limits = limits
        self._lock = threading.Lock()
        self._to_host = Outlet(1)
        self._to_server = Outlet(server.stdin.fileno())
        self._ending = Ending(server, self._to_server, is_waiting=self._is_waiting)
        self._wakes: SimpleQueue[None] = SimpleQueue()
        self._planned = 0.0  # when time is kept next, unless something wakes it

    def run(self) -> int:
        """Relay until it is over; returns the exit code of the server (`docs/reference/proxy.md`)."""
        process.binary_standard_streams()
        process.widen(1)
        for number in process.FORWARDED:
            signal.signal(number, self._ending.signalled)
        self._server.when_ended(lambda: self._ending.tell("exited"))
        host = self._thread(lambda: self._relay(Side.HOST, 0, self._to_server), "host")
        self._thread(lambda: self._ending.watch_host(lambda: not host.is_alive()), "hang-up")
        reader = self._thread(
            lambda: self._relay(Side.SERVER, self._server.stdout.fileno(), self._to_host), "server"
        )
        self._thread(self._keep_time, "time")
        if self._changes is not None:
            self._thread(self._judge_again, "changes")
        if self._lifeline is not None:
            self._thread(self._outlive, "lifeline")
        code = self._ending.wait()
        ended = self._server.end()
        reader.join(_FLUSH)  # what the server said last still goes out
        self._to_host.finish(_FLUSH)
        self._afterwards()
        return ended if code is None else code

    # Threads

    def _thread(self, target: Callable[[], None], name: str) -> threading.Thread:
        def guarded() -> None:
            try:
                target()
            except LineTooLongError as error:
                self._log.line(f"{error} ends the connection")
                self._ending.tell("failed", LINE_TOO_LONG)
            except Exception as error:  # noqa: BLE001 - whatever dies here, the connection must not go on
                self._log.line(f"the proxy failed and closes the connection: {type(error).__name__}: {error}")
                self._ending.tell("failed", GATE_FAILED)

        thread = threading.Thread(target=guarded, name=name, daemon=True)
        thread.start()
        return thread

    def _relay(self, side: Side, descriptor: int, ahead: Outlet) -> None:
        """Read frames from one side until it ends; what goes on is written here, the rest by `_keep_time`."""
        lines = Lines(self._limits.line_bytes, at_length=self._at_length if side is _SERVER else None)
        passes, read = self._gate.passer(side), os.read
        kept, queued, acquire = lines.parts, ahead.frames, ahead.writing.acquire
        most = _SMALL
        with contextlib.suppress(OSError):
            while chunk := read(descriptor, most):
                size = len(chunk)
                if kept or chunk.find(b"\n") != size - 1:
                    size = _SMALL  # the next one is likely to be as long
                    is_read = self._relay_kept(side, lines, chunk, ahead)
                elif passes(chunk) and not queued and acquire(False):  # noqa: FBT003 - `blocking`, quicker
                    is_read = ahead.write_acquired(chunk)
                else:
                    is_read = self._relay_lines(side, [chunk], ahead)
                most = _SMALL if size < _SMALL else _LARGE
                if not is_read and side is _SERVER:
                    self._ending.tell("host-closed")
                    return
        if rest := lines.rest():  # a line that never ended is judged like any other, and goes on as it is
            self._relay_lines(side, [rest], ahead)
        self._ending.tell(f"{side.value}-closed")

    def _relay_kept(self, side: Side, lines: Lines, chunk: bytes, ahead: Outlet) -> bool:
        """Lines that did not come whole, or not alone; a very long one that may pass is not put together."""
        long = lines.completed_by(chunk)
        if long is None:
            return self._relay_lines(side, lines.feed(chunk), ahead)
        is_plain = not ahead.frames and self._gate.passes_in_parts(long.in_parts)
        if is_plain and ahead.writing.acquire(blocking=False):
            return ahead.pour_acquired(long)
        return self._relay_lines(side, [long.whole()], ahead)

    def _at_length(self, begun: list[bytes | bytearray]) -> "LongLine":
        from toolnotary_verifier.shells.long_line import LongLine  # which few connections need

        process.widen(self._server.stdout.fileno(), _WIDE)
        return LongLine(begun)

    def _relay_lines(self, side: Side, frames: list[bytes], ahead: Outlet) -> bool:
        said = []
        with self._lock:
            for frame in frames:
                effects = self._gate.receive(side, frame, time.monotonic())
                self._queue(effects, frame, ahead)
                if effects is not None:
                    said.append(effects)
            is_due = any(map(self._is_due_earlier, said))
        return self._tell(said, ahead, is_due=is_due)

    def _is_due_earlier(self, effects: Effects) -> bool:
        """Whether time must be kept earlier than was planned: to wake a thread costs more than a frame."""
        deadline = self._gate.deadline if effects.wake_at is None else effects.wake_at
        return deadline is not None and deadline < self._planned

    def _queue(self, effects: Effects | None, frame: bytes, ahead: Outlet) -> None:
        """Put everything in its place, in order; nothing is written yet."""
        if effects is None:
            ahead.put(frame)
            return
        if not self._decided(effects):
            self._gate.close()
            self._ending.tell("failed", GATE_FAILED)
            return
        for kind, why in effects.unlisted:
            self._unlisted(kind, why)
        for one in effects.to_server:
            self._to_server.put(one)
        for one in effects.to_host:
            self._to_host.put(one)

    def _tell(self, said: list[Effects], ahead: Outlet, *, is_due: bool) -> bool:
        """Tell people and the other threads what was said, and write what goes ahead; returns as `drain`."""
        behind = self._to_host if ahead is self._to_server else self._to_server
        is_news = any(effects.is_news for effects in said)
        if is_news:
            for effects in said:
                self._announce(effects)
        elif is_due or behind.frames or self._ending.is_host_gone:
            self._wakes.put(None)
        is_read = ahead.drain()
        if ahead is self._to_server and len(self._to_host.frames) > _QUEUED:
            self._to_host.drain()
        return is_read

    def _announce(self, effects: Effects) -> None:
        for entry in effects.log:
            self._log.entry(entry)
        if effects.close is not None:
            self._ending.tell("failed", GATE_FAILED)
        if effects.look_up and self._look_up is not None:
            self._thread(self._judge_anew, "look-up")
        for matter in effects.matters:
            self._thread(partial(self._attend_to, matter), "elicitation")
        self._wakes.put(None)

    def _keep_time(self) -> None:
        while True:
            with self._lock:
                deadline = self._gate.deadline
                self._planned = math.inf if deadline is None else deadline
            try:
                self._wakes.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            except Empty:
                with self._lock:
                    effects = self._gate.wake(time.monotonic())
                    self._queue(effects, b"", self._to_server)
                self._announce(effects)
            self._to_server.drain()
            self._to_host.drain()
            self._afterwards()
            if self._ending.is_host_gone:
                self._ending.tell("written")

    def _judge_anew(self) -> None:
        for judge in self._look_up() if self._look_up is not None else ():
            self._judged(partial(self._gate.repin, judge))

    def _judge_again(self) -> None:
        for _ in self._changes() if self._changes is not None else ():
            self._judged(self._gate.rejudge)

    def _attend_to(self, matter: Matter) -> None:
        invitation = None if self._attend is None else self._attend(matter)
        if invitation is not None:
            self._judged(lambda: self._gate.elicit(invitation, time.monotonic()))

    def _judged(self, judging: Callable[[], Effects]) -> None:
        with self._lock:
            effects = judging()
            self._queue(effects, b"", self._to_server)
        self._announce(effects)

    def _outlive(self) -> None:
        if self._lifeline is not None:
            os.read(self._lifeline, 1)
            self._ending.tell("failed", KILLED)

    def _is_waiting(self) -> bool:
        with self._lock:
            return self._gate.is_waiting
