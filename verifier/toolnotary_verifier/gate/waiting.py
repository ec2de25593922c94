# SPDX-License-Identifier: Apache-2.0
"""Requests of the host that wait for a verification, bounded in number and bytes, and their outcome."""

from collections.abc import Callable

from toolnotary_verifier.canonical import CanonicalError, Flaw, JsonValue, serialize
from toolnotary_verifier.gate.commands import Commands
from toolnotary_verifier.gate.decisions import allowed, refused
from toolnotary_verifier.gate.effects import Effects
from toolnotary_verifier.gate.exchanges import Exchange, Place, Placing
from toolnotary_verifier.gate.refusal import INVALID_PARAMS, Held, refuse
from toolnotary_verifier.gate.report import Report, objection_to, why_withheld
from toolnotary_verifier.gate.view import Record, View
from toolnotary_verifier.jsonrpc import LIST_METHOD, METHOD_NOT_FOUND, coerced_id, error, frame
from toolnotary_verifier.limits import Limits


class Waiting:
    """What the host asked for and nobody has answered yet.

    Attributes:
        held: how many requests wait here.
        awaiting: views by the places of `initialize` and `server/discover` requests that the server has.
        placing: where a request is found again.
    """

    def __init__(self, report: Report, commands: Commands, *, placing: Placing, limits: Limits) -> None:
        self.held = 0
        self.awaiting: dict[Place, View] = {}
        self.placing = placing
        self._held: dict[Place, tuple[Record, Held]] = {}
        self._report = report
        self._commands = commands
        self._limits = limits
        self._bytes = 0

    @property
    def is_empty(self) -> bool:
        """Whether no answer of the server can be one that is ours to give or to judge."""
        return not self.held and not self.awaiting

    def place_of(self, request_id: JsonValue, exchange: Exchange) -> Place | None:
        """Where the request stands that an answer in this exchange is for; None for an id that is none."""
        key = coerced_id(request_id)
        return None if key is None else self.placing.place(exchange, key)

    def has(self, place: Place) -> bool:
        """Whether the request at this place is held: the server never got it."""
        return place in self._held

    def holds(self, exchange: Exchange) -> bool:
        """Whether a request of this exchange is held."""
        return any(held.exchange == exchange for _, held in self._held.values())

    def add(self, record: Record, held: Held, ticket: int, effects: Effects) -> bool:
        """Hold a request until the listing with this ticket has ended; False if it was refused instead."""
        limits = self._limits
        if self.held >= limits.held_requests or self._bytes + len(held.line) > limits.held_bytes:
            if held.key:
                refusal = refuse(held, self._commands, "came while too many requests waited")
                effects.of(held.exchange).to_host.append(refusal)
            effects.note("too-many-waiting", "a request was refused: too many wait for a verification")
            effects.decisions.append(refused(held, record, None, "too-many-waiting"))
            return False
        kept = held._replace(ticket=ticket)
        record.waiting.append(kept)
        self.held += 1
        self._bytes += len(kept.line)
        if kept.key:
            self._held[self.placing.place(kept.exchange, kept.key)] = (record, kept)
        return True

    def cancel(self, place: Place) -> bool:
        """Drop a request that is held; False if there is none at this place."""
        found = self._held.get(place)
        if found is None:
            return False
        record, held = found
        record.waiting.remove(held)
        self._drop(held)
        return True

    def hang_up(self, exchange: Exchange) -> None:
        """Drop what an exchange asked for that has ended: nobody waits for an answer any more."""
        for place, (_, held) in list(self._held.items()):
            if held.exchange == exchange:
                self.cancel(place)
        if self.placing.is_shared:
            for place in [place for place in self.awaiting if place[0] == exchange]:
                del self.awaiting[place]

    def admit(
        self, exchange: Exchange, verified: Callable[[View, Held], Record | None], effects: Effects
    ) -> None:
        """Forward what an exchange holds and another gate's list has, which `verified` gives."""
        for record, held in list(self._held.values()):
            known = verified(record.view, held) if held.exchange == exchange else None
            if known is None or known.snapshot is None:
                continue
            record.waiting.remove(held)
            self._drop(held)
            effects.of(exchange).to_server.append(held.line)
            if held.name in known.snapshot.traced:
                effects.decisions.append(allowed(held, known))

    def release(self, record: Record, ticket: int, effects: Effects, *, failure: str) -> None:
        """Settle what waited for this listing; what came too late for it goes on waiting."""
        ready = [held for held in record.waiting if held.ticket <= ticket]
        record.waiting = [held for held in record.waiting if held.ticket > ticket]
        for held in ready:
            self._drop(held)
            self.settle(record, held, effects, failure=failure)

    def settle(self, record: Record, held: Held, effects: Effects, *, failure: str = "") -> None:
        """Answer or forward one request by what is verified now.

        Args:
            record: the list that it needs.
            held: the request.
            effects: where its answer, or the request itself, goes.
            failure: why nothing is verified now, if nothing is.
        """
        here = effects.of(held.exchange)
        if not failure and record.absent and held.name is None:
            text = f"method not found: {LIST_METHOD[record.kind]}"
            here.to_host.append(frame(error(held.id, METHOD_NOT_FOUND, text)))
            return
        if not failure and record.snapshot is not None:
            if held.name is None:
                self._list(held, record.snapshot.answer(held.id, held.cursor, stateless=held.stateless), here)
                return
            if held.name in record.snapshot.names:
                here.to_server.append(held.line)
                if held.name in record.snapshot.traced:
                    effects.decisions.append(allowed(held, record))
                return
        verdict = None if failure else objection_to(record.view.judgement, held.kind, held.name or "")
        why = failure or why_withheld(verdict)
        effects.decisions.append(
            refused(held, record, verdict, "listing-failed" if failure else "not-listed")
        )
        if held.key:
            here.to_host.append(refuse(held, self._commands, why))
        if held.name is not None:
            self._report.refused(held.kind, held.name, why, effects, verdict=verdict)

    def _list(self, held: Held, answer: bytes | None, effects: Effects) -> None:
        text = "the cursor belongs to no listing that is current; list again from the start"
        effects.to_host.append(answer or frame(error(held.id, INVALID_PARAMS, text)))

    def _drop(self, held: Held) -> None:
        self.held -= 1
        self._bytes -= len(held.line)
        self._held.pop(self.placing.place(held.exchange, held.key), None)


def answerable(request_id: JsonValue) -> bool:
    """Whether an answer can be given to this id: a string that can be written, or a number."""
    if coerced_id(request_id) is None or isinstance(request_id, Flaw):
        return False
    try:
        serialize(request_id)
    except CanonicalError:
        return False
    return True
