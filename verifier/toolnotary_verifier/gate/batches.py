# SPDX-License-Identifier: Apache-2.0
"""Batches of a host: they left the protocol with 2025-06-18, and pass where they hold nothing to look at."""

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, canonical_bytes, serialize
from toolnotary_verifier.gate.effects import Effects, Turn
from toolnotary_verifier.gate.elicitation import Elicitation
from toolnotary_verifier.gate.refusal import INVALID_REQUEST
from toolnotary_verifier.gate.shape import messages
from toolnotary_verifier.gate.unjudged import batch_refused, refused, why_unjudged
from toolnotary_verifier.limits import Limits


class Batches:
    """Decides about the batches of one host."""

    def __init__(self, elicitation: Elicitation, gated: frozenset[str], *, limits: Limits) -> None:
        """Nothing is kept from one batch to the next.

        Args:
            elicitation: takes answers to our own questions.
            gated: the letters and digits of the methods that no batch may hold.
            limits: bounds on the depth of a message.
        """
        self._elicitation = elicitation
        self._gated = gated
        self._limits = limits

    def receive(self, batch: list[JsonValue], turn: Turn) -> Effects:
        """What follows from one batch; answers to our own questions are taken out of it."""
        parts = list(messages(batch))
        ours: list[JsonObject] = []
        others: list[JsonValue] = []
        for part in parts:
            (ours if self._elicitation.is_answer(part) else others).append(part)
        if not ours:
            return self._plain(batch, parts)
        for answer in ours:
            self._elicitation.take(answer, turn)
        if others:
            rest = self._plain(others, others)
            turn.effects.to_host += rest.to_host
            turn.effects.to_server += rest.to_server
            turn.effects.log += rest.log
        return turn.effects

    def _plain(self, batch: list[JsonValue], parts: list[JsonValue]) -> Effects:
        if any(why_unjudged(part, self._gated) for part in parts):
            return batch_refused(parts)
        return respelled(batch, self._limits)


def respelled(value: JsonValue, limits: Limits) -> Effects:
    """The same message, or batch, in one line for every reader."""
    try:
        canonical_bytes(value, max_depth=limits.message_depth, parsed=True)
        effects = Effects()
        effects.to_server.append(serialize(value) + b"\n")
    except CanonicalError as fault:
        if isinstance(value, dict):
            return refused(value, INVALID_REQUEST, fault.message)
        return batch_refused(list(messages(value)))
    return effects
