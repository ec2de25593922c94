# SPDX-License-Identifier: Apache-2.0
"""One gate, and the exchanges that stand before it: those of one session, or of hosts that look alike."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from toolnotary_verifier.gate import Effects, Exchange, Gate, Side
from toolnotary_verifier.shells.http.message import Header, Response

_QUEUED: Final = 1024  # frames that wait for a host to read them; then its oldest are gone


class Inbox:
    """What waits to be sent in one exchange.

    Attributes:
        to_host: frames for the host.
        to_server: what may go on to the server, once it may.
        response: what the host is answered instead of anything else.
        news: set whenever something was put in here.
    """

    def __init__(self) -> None:
        self.to_host: list[bytes] = []
        self.to_server: list[bytes] = []
        self.response: Response | None = None
        self.news = asyncio.Event()

    def take(self, effects: Effects) -> None:
        """Put in what follows for this exchange."""
        if effects.to_host or effects.to_server:
            self.to_host.extend(effects.to_host)
            self.to_server.extend(effects.to_server)
            del self.to_host[:-_QUEUED]
            self.news.set()

    def conclude(self, response: Response) -> None:
        """Have the host answered with this."""
        self.response = response
        self.news.set()

    def frames(self) -> list[bytes]:
        """Take out what is there for the host."""
        taken, self.to_host = self.to_host, []
        self.news.clear()
        return taken


class Lane:
    """A gate with its exchanges; all of it happens on one event loop.

    Attributes:
        gate: decides about every frame.
        facts: the headers under which the server knows this host, for requests of our own.
        inboxes: the exchanges that are open.
        streams: those of them that hear what nobody asked for, newest last.
        has_events: whether the server answers a listing with an event stream.
        used: when it was last used, in seconds of the loop's clock.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        ask: Callable[["Lane", str, bytes], None],
        heard: Callable[["Lane", Effects], None],
    ) -> None:
        """A lane that nothing has passed yet.

        Args:
            gate: its gate.
            ask: sends a request of the gate's own, which is named, or withdraws it.
            heard: is given what follows from every frame, before any of it goes on: lines for people,
                look-ups, an end. What must not go on it takes out.
        """
        self.gate = gate
        self.facts: Sequence[Header] = ()
        self.inboxes: dict[Exchange, Inbox] = {}
        self.streams: list[Exchange] = []
        self.has_events = False
        self._heard_in: set[Exchange] = set()
        self.used = time.monotonic()
        self._ask = ask
        self._heard = heard
        self._timer: asyncio.TimerHandle | None = None

    def open(self, exchange: Exchange, *, hears_all: bool = False) -> Inbox:
        """An exchange begins.

        Args:
            exchange: its name.
            hears_all: whether it is a stream for what nobody asked for (a GET).
        """
        inbox = self.inboxes[exchange] = Inbox()
        if hears_all:
            self.streams.append(exchange)
        return inbox

    def close(self, exchange: Exchange) -> None:
        """An exchange has ended."""
        self.inboxes.pop(exchange, None)
        if exchange in self.streams:
            self.streams.remove(exchange)
        self.gate.hang_up(exchange)
        if exchange in self._heard_in:
            self._heard_in.remove(exchange)
            if not self._heard_in:
                self.follow(self.gate.hear(is_heard=False))

    def hears(self, exchange: Exchange) -> None:
        """The host has a stream, opened for what nobody asked for, on which it reads by now."""
        self._heard_in.add(exchange)
        self.follow(self.gate.hear(is_heard=True))

    def receive(self, side: Side, frame: bytes, exchange: Exchange) -> Effects | None:
        """As `Gate.receive`, with everything told and sent that is not for this exchange."""
        effects = self.gate.receive(side, frame, time.monotonic(), exchange)
        if effects is not None:
            self.follow(effects)
        return effects

    def follow(self, effects: Effects, *, also_here: bool = False) -> None:
        """Do what follows from a frame or from time.

        Args:
            effects: what follows.
            also_here: whether its own frames are to be sent, too: nobody else does.
        """
        self._heard(self, effects)
        if also_here:
            self._deliver(effects)
        for other in effects.others.values():
            self._deliver(other)
        self._keep_time()

    def pass_on(self, frame: bytes) -> None:
        """Give the host a frame that belongs to none of its exchanges, if it listens for such."""
        if self.streams:
            effects = Effects()
            effects.to_host.append(frame)
            self.inboxes[self.streams[-1]].take(effects)

    def stir(self) -> None:
        """Have whatever waits here look again whether it still waits for anything."""
        for inbox in self.inboxes.values():
            inbox.news.set()

    def admit_held(self, kin: Sequence["Lane"]) -> None:
        """Let calls that wait for a verification go on by what these lanes have verified (`Gate.admit`)."""
        gates = [lane.gate for lane in kin]
        for exchange in list(self.inboxes):
            if self.gate.holds(exchange):
                self.follow(self.gate.admit(exchange, gates, time.monotonic()), also_here=True)

    def fail_held(self, response: Response) -> None:
        """Answer whatever waits for a verification as the server answered us, since none will come."""
        for exchange, inbox in list(self.inboxes.items()):
            if self.gate.holds(exchange):
                self.gate.hang_up(exchange)
                inbox.conclude(response)

    def rest(self) -> None:
        """Keep no time any more: nobody uses this lane."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end(self, response: Response) -> None:
        """Answer everything that waits: nothing passes here any more."""
        self.rest()
        for inbox in self.inboxes.values():
            inbox.conclude(response)

    def _deliver(self, effects: Effects) -> None:
        inbox = self.inboxes.get(effects.exchange)
        if inbox is not None:
            inbox.take(effects)
        elif isinstance(effects.exchange, str):  # one of our own
            for frame in effects.to_server:
                self._ask(self, effects.exchange, frame)
            for frame in effects.to_host:
                self.pass_on(frame)
        elif self.streams:  # the exchange it was for has ended: any stream of the host will do
            self.inboxes[self.streams[-1]].take(effects)

    def _keep_time(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        deadline = self.gate.deadline
        self._timer = None
        if deadline is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, deadline - time.monotonic()), self._wake)

    def _wake(self) -> None:
        self.follow(self.gate.wake(time.monotonic()), also_here=True)
