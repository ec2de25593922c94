# SPDX-License-Identifier: Apache-2.0
"""What a server says: nothing that some reader could take for a listing passes unless it was verified."""

from itertools import islice

from toolnotary_verifier.canonical import (
    CanonicalError,
    JsonObject,
    JsonValue,
    canonical_bytes,
    parse_message,
    serialize,
)
from toolnotary_verifier.definition import INSTRUCTIONS_NAME, Kind
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.gate.about import Presented
from toolnotary_verifier.gate.effects import Effects, Turn
from toolnotary_verifier.gate.elicitation import Elicitation
from toolnotary_verifier.gate.exchanges import Exchange
from toolnotary_verifier.gate.listens import META_SUBSCRIPTION
from toolnotary_verifier.gate.recognise import InParts, has_inner_return, is_plain
from toolnotary_verifier.gate.shape import definition_members, messages, misspells
from toolnotary_verifier.gate.verification import Verification
from toolnotary_verifier.gate.view import About, View
from toolnotary_verifier.gate.views import Views
from toolnotary_verifier.gate.withholding import Withholding, is_answer, shown
from toolnotary_verifier.jsonrpc import META_SERVER, coerced_id
from toolnotary_verifier.limits import Limits

_ANNOUNCED = {
    "notifications/tools/list_changed": (Kind.TOOL,),
    "notifications/prompts/list_changed": (Kind.PROMPT,),
    "notifications/resources/list_changed": (Kind.RESOURCE, Kind.TEMPLATE),
}
_ABOUT = frozenset(("protocolVersion", "capabilities", "serverInfo", "instructions", "_meta"))
_ANSWER = frozenset(("jsonrpc", "id", "result"))
_SHOWN = 300
_ANSWERED = 16
_NEAR = 128  # bytes in which the id of nearly every answer stands
_BATCH = 1024  # messages; a longer batch is withheld, since each part of it costs a judgement and a line


class ServerSide:
    """The direction from server to host.

    Attributes:
        is_closed: whether nothing passes any more.
    """

    def __init__(
        self,
        verification: Verification,
        views: Views,
        elicitation: Elicitation,
        *,
        server: str,
        limits: Limits,
    ) -> None:
        self._elicitation = elicitation
        self._server = server
        self._told = ""
        self._verification = verification
        self._views = views
        self._withholding = Withholding(verification)
        self._limits = limits
        self.is_closed = False
        self._waiting = verification.waiting
        self._under_way = verification.under_way
        self._prefix = verification.prefix.encode("ascii")

    def passes(self, line: bytes) -> bool:
        """Whether a frame holds nothing to look at, as most do; costs little, and changes nothing."""
        waiting = self._waiting
        if waiting.held or waiting.awaiting or self.is_closed:
            return False
        if self._elicitation.has_asked and self._elicitation.mentions(line):
            return False
        if self._under_way and line.find(self._prefix, 0, _NEAR) >= 0:
            return False
        return is_plain(line) and not (self._under_way and line.find(self._prefix) >= 0)

    def passes_in_parts(self, parts: InParts) -> bool:
        """As `passes`, of a large frame that was not put together; False where that is not cheap to tell."""
        waiting = self._waiting
        if (
            waiting.held
            or waiting.awaiting
            or self._under_way
            or self._elicitation.has_asked
            or self.is_closed
        ):
            return False
        return parts.is_plain

    def receive(self, line: bytes, now: float, exchange: Exchange = None) -> Effects | None:
        """What follows from one frame of the server; None if it goes on to the host as it is."""
        if self.passes(line):
            return None
        verification = self._verification
        turn = Turn(now, exchange)
        if verification.under_way and verification.recall(line, turn):
            return turn.effects
        if len(line) > self._limits.frame_bytes:
            return self._withholding.too_long(line, turn)
        try:
            value = parse_message(line, max_bytes=self._limits.frame_bytes)
        except CanonicalError as refused:
            self._withholding.unreadable(line, refused, turn)
            return turn.effects
        if isinstance(value, dict):
            return self._one(value, line, turn)
        self._others(value, line, turn)
        return turn.effects

    # One message

    def _one(self, message: JsonObject, line: bytes, turn: Turn) -> Effects | None:
        effects = turn.effects
        forwarded = self._judge(message, line, turn, alone=True)
        if forwarded is message and not has_inner_return(line) and not effects.log and not effects.is_stale:
            return None
        if forwarded is message and not has_inner_return(line):
            effects.to_host.append(line)
        elif forwarded is not None:
            effects.to_host.append(serialize(forwarded) + b"\n")
        return effects

    def _judge(self, message: JsonObject, line: bytes, turn: Turn, *, alone: bool) -> JsonObject | None:
        """The message that may go on; None if none does."""
        verification, effects = self._verification, turn.effects
        if verification.is_own(message.get("id")) and "method" not in message:
            verification.take(message, line, turn, alone=alone)
            return None
        try:
            canonical_bytes(message, max_depth=self._limits.message_depth, parsed=True)
        except CanonicalError as refused:
            self._withholding.withhold(message, f"it is no strict JSON: {refused.message}", effects)
            return None
        if misspells(message):
            self._withholding.withhold(message, "its keys can be read in more than one way", effects)
            return None
        if not _is_jsonrpc(message):
            effects.note("noise", shown(line))
            return None
        if self._elicitation.is_ours(message.get("id")) or self._cancels_ours(message):
            effects.note(
                "message-withheld", "a message of the server was withheld: it names a question of ours"
            )
            return None
        place = self._waiting.place_of(message.get("id"), turn.exchange) if "method" not in message else None
        view = None if place is None else verification.waiting.awaiting.get(place)
        members = definition_members(message)
        if members - ({INSTRUCTIONS_NAME} if view is not None else set()):
            self._withholding.withhold(message, "it holds definitions that nobody asked it for", effects)
            return None
        if place is not None and verification.waiting.has(place):
            effects.note("stray-answer", "an answer to a request that the server never got was dropped")
            return None
        if view is not None and place is not None:
            del verification.waiting.awaiting[place]
            return self._about(view, message, effects)
        if "method" in message and message["method"] in _ANNOUNCED:
            return self._changed(message, line, turn)
        return message

    def _cancels_ours(self, message: JsonObject) -> bool:
        params = message.get("params")
        return isinstance(params, dict) and self._elicitation.is_ours(params.get("requestId"))

    # What the server says of itself

    def _about(self, view: View, message: JsonObject, effects: Effects) -> JsonObject | None:
        result = message.get("result")
        if not isinstance(result, dict):
            return message  # an error: nothing in it is taken for a description
        if misspells(result, _ABOUT):
            self._withholding.withhold(message, "its keys can be read in more than one way", effects)
            return None
        meta = result.get("_meta")
        info = result.get("serverInfo", meta.get(META_SERVER) if isinstance(meta, dict) else None)
        version, capabilities = result.get("protocolVersion"), result.get("capabilities")
        view.about = About(
            protocol_version=version if isinstance(version, str) else view.about.protocol_version,
            server_info=info if isinstance(info, dict) else {},
            capabilities=capabilities if isinstance(capabilities, dict) else {},
            instructions=result.get("instructions"),
            is_known=True,
        )
        try:
            self._verification.judging.judge(view, effects)
        except ToolnotaryError as refused:
            view.judgement = None
            effects.note("listing-failed", f"the instructions could not be judged ({refused.code})")
        presented = Presented(result, view.judgement, server=self._server)
        if presented.missing and self._told != presented.told:
            self._told = presented.told
            effects.note(
                "about-withheld", f"of what the server says of itself was left out: {presented.told}"
            )
        if presented.result is result and message.keys() <= _ANSWER:
            return message
        return {"jsonrpc": "2.0", "id": message["id"], "result": presented.result}

    # What the server announces

    def _changed(self, message: JsonObject, line: bytes, turn: Turn) -> JsonObject | None:
        """A list_changed goes on once the list was verified again; at once where nobody listed yet."""
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        subscription = coerced_id(meta.get(META_SUBSCRIPTION)) if isinstance(meta, dict) else None
        told = False
        turn.effects.is_stale = not self._verification.waiting.placing.is_one
        kinds = _ANNOUNCED[message["method"]]
        clean = serialize(message) + b"\n" if has_inner_return(line) else line
        for view in reversed(self._views.all()):
            for kind in kinds:
                record = view.records.get(kind)
                if record is None or not record.ticket:
                    continue
                if told:
                    self._verification.doubt(record)
                else:
                    told = True
                    self._verification.announce(record, f"{kind} {subscription}", clean, turn)
        return None if told else message

    # What is no single message

    def _others(self, value: JsonValue, line: bytes, turn: Turn) -> None:
        if not isinstance(value, list):
            # A message whose own keys repeat, or no message at all.
            self._withholding.unreadable(line, CanonicalError("not-json", "it is no JSON-RPC message"), turn)
            return
        parts = list(islice(messages(value), _BATCH + 1))
        if len(parts) > _BATCH:
            why = f"a batch of more than {_BATCH} messages"
            self._withholding.unreadable(line, CanonicalError("too-large", why), turn)
            return
        kept = []
        for part in parts:
            if isinstance(part, dict):
                forwarded = self._judge(part, line, turn, alone=False)
                if forwarded is not None:
                    kept.append(forwarded)
            else:
                turn.effects.note("message-withheld", "a part of a batch was withheld: it is no message")
        if kept:
            turn.effects.to_host.append(serialize(kept) + b"\n")


def _is_jsonrpc(message: JsonObject) -> bool:
    """Whether it is a message at all (JSON-RPC 2.0, sections 4 and 5)."""
    if message.get("jsonrpc") != "2.0":
        return False
    return isinstance(message["method"], str) if "method" in message else is_answer(message)
