# SPDX-License-Identifier: Apache-2.0
"""What of a host's messages cannot be judged, and what is said in its place: it never reaches the server.

A server may read more leniently than we do: guess the encoding, ignore the case of a key, trim a method's
name. Whatever such a server could take for a listing or a call, and we do not, is answered with an error. A
notification is dropped, since nobody waits for it; where the host itself answered, the server gets the error.
"""

from toolnotary_verifier.canonical import (
    CanonicalError,
    Flaw,
    JsonObject,
    JsonValue,
    parse_message,
    serialize,
)
from toolnotary_verifier.gate.effects import Effects
from toolnotary_verifier.gate.recognise import begins_as_answer, head_id
from toolnotary_verifier.gate.refusal import INVALID_REQUEST, PARSE_ERROR
from toolnotary_verifier.gate.shape import bare_method, lenient_messages, misspells
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, error, frame

TWO_READINGS = "the message can be read in more than one way"
_MAX_METHOD = 200  # characters; no protocol names a method so
_SAID = "refused by toolnotary: "


def why_unjudged(message: JsonValue, gated: frozenset[str]) -> str:
    """Why some server could read a message of the host otherwise than we do; empty if none could.

    Args:
        message: one parsed message.
        gated: the letters and digits of the methods that are not merely forwarded.
    """
    if not isinstance(message, dict) or misspells(message):
        return TWO_READINGS
    method = message.get("method", "")
    if not isinstance(method, str):
        return TWO_READINGS if isinstance(method, Flaw) else "its method is no string"
    if len(method) > _MAX_METHOD:
        return "the name of its method is too long"
    return "its method is nearly another one" if gated and bare_method(method) in gated else ""


def refused(message: JsonObject, code: int, why: str) -> Effects:
    """The refusal of a message, given to whoever waits for an answer to it."""
    effects = _noted(why)
    request_id = message.get("id")
    shown = request_id if answerable(request_id) else None
    if "method" not in message and ("result" in message or "error" in message):
        if shown is not None:
            effects.to_server.append(frame(error(shown, INTERNAL_ERROR, f"{_SAID}{why}")))
    elif "id" in message or "method" not in message:
        effects.to_host.append(frame(error(shown, code, f"{_SAID}{why}")))
    return effects


def unreadable(line: bytes, code: int, why: str) -> Effects:
    """The refusal of a frame in which only a lenient reader finds a message."""
    found = lenient_messages(line)
    return refused(found[0] if len(found) == 1 else {}, code, why)


def not_strict(line: bytes, fault: CanonicalError) -> Effects:
    """The refusal of a frame that is no JSON."""
    return unreadable(line, PARSE_ERROR, f"the message is not valid JSON: {fault.message}")


def batch_refused(parts: list[JsonValue]) -> Effects:
    """The refusal of a batch: an error for each id in it."""
    effects = Effects()
    effects.note("batch-refused", "a batch of the host was refused: it holds requests that must be gated")
    ids = [part["id"] for part in parts if isinstance(part, dict) and answerable(part.get("id"))]
    if ids:
        answers = [error(one, INVALID_REQUEST, "send this request outside of a batch") for one in ids]
        effects.to_host.append(serialize(answers) + b"\n")
    return effects


def too_long(line: bytes, most: int) -> Effects:
    """The refusal of a frame that is not parsed, since it is longer than `most` bytes."""
    text = f"a message of more than {most} bytes cannot be checked"
    found = head_id(line)
    request_id = None if found is None else parse_message(found)
    member = "result" if begins_as_answer(line) else "method"
    return refused({"id": request_id, member: ""}, INVALID_REQUEST, text)


def _noted(why: str) -> Effects:
    effects = Effects()
    effects.note("request-refused", f"a message of the host was refused: {why}")
    return effects
