# SPDX-License-Identifier: Apache-2.0
"""The gate: both directions of one connection, frame by frame, without any I/O and without a clock."""

from collections.abc import Callable, Sequence
from functools import partial

from toolnotary_verifier.canonical import CanonicalError, JsonObject
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.gate.commands import Commands
from toolnotary_verifier.gate.effects import Effects, Side, Turn
from toolnotary_verifier.gate.elicitation import Elicitation
from toolnotary_verifier.gate.exchanges import Exchange, Placing, Streams
from toolnotary_verifier.gate.host import HostSide
from toolnotary_verifier.gate.judging import Judge, Judging
from toolnotary_verifier.gate.question import Invitation
from toolnotary_verifier.gate.recognise import InParts
from toolnotary_verifier.gate.refusal import Held
from toolnotary_verifier.gate.report import Report
from toolnotary_verifier.gate.server import ServerSide
from toolnotary_verifier.gate.verification import Verification
from toolnotary_verifier.gate.view import Record, View
from toolnotary_verifier.gate.views import Views
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits

_HOST = Side.HOST  # looking a member up costs more than comparing it, on Python 3.11


class Gate:
    """Sees every message of one connection, and lets no definition through but by its judge.

    A frame is one message with its line feed, as a stream delivered it; times are seconds of any monotonic
    clock. Not thread-safe: one call at a time.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        server: str,
        commands: Commands | None = None,
        streams: Streams = Streams.ONE,
        report: Report | None = None,
        every_call: bool = False,
        asks: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """A gate for a connection that has just been opened.

        Args:
            judge: decides what of a surface may pass; may raise `ToolnotaryError`, nothing is verified then.
                Where it says `pending`, it is told what a look-up found by another judge (see `repin`).
            server: the name given by the user, for messages.
            commands: what people and models are told to run; None where the name is all that it takes.
            streams: whether requests have exchanges of their own, and whose the ids of hosts are.
            report: what people were told already, where other gates tell of the same server.
            every_call: whether each call that passes is a decision to be recorded, which costs a parse; else
                those alone that no pin lets through.
            asks: whether somebody attends to `Effects.matters`; else the host is never asked anything.
            limits: bounds on everything that host and server decide the size of.
        """
        self._views = Views(limits)
        told = commands or Commands(server)
        report = report or Report(told)
        placing = Placing(streams)
        # Where hosts share streams, a question could reach another one than it is for.
        self._elicitation = Elicitation(
            report,
            is_possible=asks and streams is not Streams.SHARED,
            is_heard=streams is Streams.ONE,
        )
        self._judging = Judging(judge, report, self._elicitation, every_call=every_call, limits=limits)
        self._verification = Verification(self._judging, report, told, placing=placing, limits=limits)
        sides = self._verification, self._views, self._elicitation
        self._host = HostSide(*sides, server=server, limits=limits)
        self._server = ServerSide(*sides, server=server, limits=limits)
        self._is_closed = False

    def receive(self, side: Side, frame: bytes, now: float, exchange: Exchange = None) -> Effects | None:
        """What follows from one frame; None if it goes on to the other side exactly as it is.

        Where there are exchanges, the frame stood in the one named. What follows for others stands in
        `Effects.others`: a request of our own is one, to be asked on behalf of this host; what follows for
        None is for any stream of the host that is no answer.

        Once the gate asked to close the connection, nothing passes any more.
        """
        if self._is_closed:
            return Effects()
        try:
            if side is _HOST:
                return self._host.receive(frame, now, exchange)
            return self._server.receive(frame, now, exchange)
        except Exception as error:  # noqa: BLE001 - a gate that failed once must not stay open
            return self._break(error)

    def passer(self, side: Side) -> Callable[[bytes], bool]:
        """The quick half of `receive` for one side: whether a frame goes on exactly as it is.

        It changes nothing, so that a shell may ask it from several threads at once without waiting for other
        calls; where it says no, `receive` decides. A frame that it passes may overtake one that waits. What
        grows old is noticed by `wake`.
        """
        return self._host.passes if side is _HOST else self._server.passes

    def passes_in_parts(self, parts: InParts) -> bool:
        """As `passer` for the server's side, of a large frame that was not put together yet.

        Where it says no, the frame is to be put together, and `receive` decides.
        """
        return not self._is_closed and self._server.passes_in_parts(parts)

    @property
    def deadline(self) -> float | None:
        """When `wake` is to be called, None if not before another frame came."""
        if self._is_closed:
            return None
        times = self._verification.deadline(self._views.all()), self._elicitation.deadline
        return min((one for one in times if one is not None), default=None)

    def wake(self, now: float) -> Effects:
        """What follows from the passing of time."""
        turn = Turn(now)
        if not self._is_closed:
            try:
                self._verification.wake(self._views.all(), turn)
                self._elicitation.wake(turn)
            except Exception as error:  # noqa: BLE001 - as in `receive`
                return self._break(error)
        return turn.effects

    def repin(self, judge: Judge) -> Effects:
        """Judge everything by another judge, because a look-up has ended.

        Tells the host which lists changed.
        """
        return self._anew(partial(self._judging.repin, judge))

    def rejudge(self) -> Effects:
        """Judge everything again, because what the judge goes by changed.

        Tells the host which lists changed. A look-up that is under way goes on.
        """
        return self._anew(self._judging.rejudge)

    def _anew(self, judging: Callable[[list[View], Effects], list[tuple[View, Kind]]]) -> Effects:
        effects = Effects()
        if self._is_closed:
            return effects
        try:
            for view, kind in judging(self._views.all(), effects):
                for exchange, frame in self._host.announcements(view, kind):
                    effects.of(exchange).to_host.append(frame)
        except Exception as error:  # noqa: BLE001 - as in `receive`
            return self._break(error)
        return effects

    def elicit(self, invitation: Invitation, now: float) -> Effects:
        """Ask the host about what is withheld, with the leave that `Effects.matters` led to."""
        turn = Turn(now)
        if not self._is_closed:
            try:
                self._elicitation.ask(invitation, turn)
            except Exception as error:  # noqa: BLE001 - as in `receive`
                return self._break(error)
        return turn.effects

    def hear(self, *, is_heard: bool) -> Effects:
        """The host has a stream for what it did not ask for, or has none any more; not for `Streams.ONE`."""
        self._elicitation.hear(is_heard=is_heard)
        return Effects()

    def leave(self) -> Effects:
        """The host is gone: a question that is open there gets no answer any more."""
        effects = Effects()
        self._elicitation.leave(effects)
        return effects

    def doubt(self) -> Effects:
        """Verify everything again before it is used next: the server announced a change to another gate."""
        for view in self._views.all():
            for record in view.records.values():
                self._verification.doubt(record)
        return Effects()

    def admit(self, exchange: Exchange, others: Sequence["Gate"], now: float) -> Effects:
        """Let the calls that an exchange holds go on by what gates beside this one have verified.

        For where the server shows its list to one authorization of a host and not to the next, which may call
        (RFC 6750, `insufficient_scope`). Whatever none of them has a current verified definition for stays
        held, and so does every list request: what a server shows to one it need not show to another.

        Args:
            exchange: where the calls came.
            others: gates of the same host and session, under other authorizations.
            now: as for `receive`.
        """
        turn = Turn(now)

        def verified(view: View, held: Held) -> Record | None:
            records = (other.current(view, held, now) for other in others)
            return next((record for record in records if record is not None), None)

        if not self._is_closed:
            self._verification.waiting.admit(exchange, verified, turn.effects)
        return turn.effects

    def current(self, view: View, held: Held, now: float) -> Record | None:
        """The list with the current verified definition that a call needs, as this gate has it; else None.

        Args:
            view: under which another gate holds the call.
            held: the call.
            now: as for `receive`.
        """
        own = self._views.like(view)
        record = None if own is None or self._is_closed else own.records.get(held.kind)
        if record is None or record.snapshot is None or not self._verification.is_current(record, now):
            return None
        return record if held.name in record.snapshot.names else None

    def hang_up(self, exchange: Exchange) -> None:
        """Forget what an exchange that has ended asked for."""
        self._verification.waiting.hang_up(exchange)
        self._host.hang_up(exchange)

    def give_up(self, exchange: str, why: str, now: float) -> Effects:
        """What follows from a request of our own, named by its exchange, that nothing will answer.

        Args:
            exchange: as it stood in `Effects.others`; nothing happens where it was answered.
            why: in words that go behind "tool listing".
            now: as for `receive`.
        """
        turn = Turn(now)
        if not self._is_closed:
            try:
                self._verification.give_up(exchange, why, turn)
            except Exception as error:  # noqa: BLE001 - as in `receive`
                return self._break(error)
        return turn.effects

    def definition(self, kind: Kind, name: str, params: JsonObject) -> Definition | None:
        """The verified definition that a use with these params goes by; None where there is none now."""
        try:
            view = self._views.of(params)
        except CanonicalError:
            return None
        record = None if view is None else view.records.get(kind)
        return None if record is None or record.snapshot is None else record.snapshot.find(name)

    def holds(self, exchange: Exchange) -> bool:
        """Whether a request of this exchange waits here for a verification."""
        return self._verification.waiting.holds(exchange)

    def awaits(self, exchange: str) -> bool:
        """Whether a request of our own, named by its exchange, waits for its answer."""
        return exchange in self._verification.under_way

    @property
    def is_waiting(self) -> bool:
        """Whether requests of the host wait here for an answer of the server."""
        return self._verification.waiting.held > 0

    def close(self) -> None:
        """Let nothing pass any more: what it decides cannot be taken down where it has to be."""
        self._is_closed = self._host.is_closed = self._server.is_closed = True

    def _break(self, error: Exception) -> Effects:
        self.close()
        effects = Effects(close=f"the gate failed: {type(error).__name__}")
        effects.note(
            "gate-failed", f"the gate failed and closes the connection: {type(error).__name__}: {error}"
        )
        return effects
