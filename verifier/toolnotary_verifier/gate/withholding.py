# SPDX-License-Identifier: Apache-2.0
"""What of a server's messages is kept back: whoever waits for it as an answer gets an error in its place."""

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, parse_message
from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate.effects import Effects, Turn
from toolnotary_verifier.gate.recognise import head_id, is_plain
from toolnotary_verifier.gate.shape import lenient_ids
from toolnotary_verifier.gate.verification import Verification
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, error, frame

_SHOWN = 300  # bytes of what is no message
_ANSWERED = 16  # ids in one frame that nobody can read


class Withholding:
    """Keeps back messages of the server on one connection."""

    def __init__(self, verification: Verification) -> None:
        self._verification = verification

    def withhold(self, message: JsonObject, why: str, effects: Effects) -> None:
        """Keep a message back; whoever waits for it as an answer gets an error."""
        effects.note("message-withheld", f"a message of the server was withheld: {why}")
        if "method" not in message or is_answer(message):
            self._answer(message.get("id"), effects)

    def unreadable(self, line: bytes, why: CanonicalError, turn: Turn) -> None:
        """Keep back a frame that is no message, or none that can be read in one way only."""
        text = line.strip()
        if not text or self._verification.lose(line, why.code, turn):
            return
        if b'"jsonrpc"' not in text:
            turn.effects.note("noise", shown(text))
            return
        turn.effects.note("message-withheld", f"a message of the server was withheld: {why.message}")
        for request_id in lenient_ids(line)[:_ANSWERED]:
            self._answer(request_id, turn.effects)

    def too_long(self, line: bytes, turn: Turn) -> Effects | None:
        """A frame that is never parsed passes where nothing in it can be a listing or an answer to us."""
        size = f"{len(line)} bytes"
        if self._verification.lose(line, size, turn):
            return turn.effects
        waiting = self._verification.waiting
        found = head_id(line)
        request_id = None if found is None else parse_message(found)
        place = waiting.place_of(request_id, turn.exchange)
        is_expected = place is None or place in waiting.awaiting or waiting.has(place)
        if is_plain(line) and (waiting.is_empty or not is_expected):
            return None
        turn.effects.note(
            "message-withheld", f"a message of the server was withheld: {size} cannot be checked"
        )
        self._answer(request_id, turn.effects)
        return turn.effects

    def _answer(self, request_id: JsonValue, effects: Effects) -> None:
        waiting = self._verification.waiting
        place = waiting.place_of(request_id, effects.exchange) if answerable(request_id) else None
        if place is not None and not waiting.has(place) and not self._verification.is_own(request_id):
            waiting.awaiting.pop(place, None)
            text = "toolnotary withheld the answer of this server: it cannot be verified"
            effects.to_host.append(frame(error(request_id, INTERNAL_ERROR, text)))


def shown(noise: bytes) -> str:
    """What is no message, for people."""
    return escape(noise[:_SHOWN].decode("utf-8", "replace").rstrip("\r\n"))


def is_answer(message: JsonObject) -> bool:
    """Whether a message answers something."""
    return "result" in message or "error" in message
