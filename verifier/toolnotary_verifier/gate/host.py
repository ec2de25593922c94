# SPDX-License-Identifier: Apache-2.0
"""What a host says: its list requests are answered here, its calls pass only for verified definitions."""

from collections.abc import Callable

from toolnotary_verifier.canonical import (
    CanonicalError,
    JsonObject,
    JsonValue,
    parse_message,
    serialize,
)
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate.batches import Batches, respelled
from toolnotary_verifier.gate.effects import Effects, Turn
from toolnotary_verifier.gate.elicitation import Elicitation
from toolnotary_verifier.gate.exchanges import Exchange, Place
from toolnotary_verifier.gate.listens import CHANGED, Listens
from toolnotary_verifier.gate.recognise import has_inner_return, is_plain_answer, is_utf8, plainly_called
from toolnotary_verifier.gate.refusal import INVALID_PARAMS, INVALID_REQUEST, Held
from toolnotary_verifier.gate.shape import bare_method, misspells
from toolnotary_verifier.gate.unjudged import (
    TWO_READINGS,
    not_strict,
    refused,
    too_long,
    unreadable,
    why_unjudged,
)
from toolnotary_verifier.gate.verification import Verification
from toolnotary_verifier.gate.view import View
from toolnotary_verifier.gate.views import Views, stateless_meta
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, LIST_METHOD, coerced_id, frame, notification
from toolnotary_verifier.limits import Limits

_LISTS = {method: kind for kind, method in LIST_METHOD.items()}
_USES = {"tools/call": Kind.TOOL, "prompts/get": Kind.PROMPT}
_NAME = frozenset(("name",))
_CURSOR = frozenset(("cursor",))
_NOTHING: frozenset[str] = frozenset()
_TOO_MANY = "too many protocol revisions or capabilities at once"
_HEAD = 256  # bytes in which the id of a long answer stands
_NO_ID = "the id is neither a string nor a number"


class HostSide:
    """The direction from host to server.

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
        self.is_closed = False
        self._elicitation = elicitation
        self._verification = verification
        self._views = views
        self._server = server
        self._limits = limits
        self._is_initialized = False
        self._listens = Listens()
        self._gated: dict[str, Callable[[JsonObject, bytes, Turn], Effects | None]] = {
            **dict.fromkeys(_LISTS, self._list),
            **dict.fromkeys(_USES, self._use),
            "initialize": self._initialize,
            "server/discover": self._discover,
            "notifications/initialized": self._initialized,
            "notifications/cancelled": self._cancelled,
            "subscriptions/listen": self._listen,
        }
        self._bare = frozenset(map(bare_method, self._gated))
        self._batches = Batches(elicitation, self._bare, limits=limits)

    def passes(self, line: bytes) -> bool:
        """Whether a frame is a plain call of a verified tool, as most are; costs little, changes nothing."""
        tools = self._views.handshake.tools
        # Read once: another thread may withdraw it meanwhile, and then either order is a right one.
        snapshot = None if tools is None else tools.snapshot
        if self.is_closed or tools is None or snapshot is None or not tools.fresh:
            return False
        return plainly_called(line) in snapshot.spelled

    def receive(self, line: bytes, now: float, exchange: Exchange = None) -> Effects | None:
        """What follows from one frame of the host; None if it goes on to the server as it is."""
        if self.passes(line) or not line.strip():
            return None
        if len(line) > self._limits.frame_bytes:
            is_passed = is_plain_answer(line) and not self._elicitation.mentions(line[:_HEAD])
            return None if is_passed else self._kept(line, too_long(line, self._limits.frame_bytes))
        if not line.isascii() and not is_utf8(line):
            return self._kept(line, unreadable(line, INVALID_REQUEST, "the message is not in UTF-8"))
        try:
            message = parse_message(line, max_bytes=self._limits.frame_bytes)
        except CanonicalError as fault:
            return self._kept(line, not_strict(line, fault))
        if isinstance(message, list):
            return self._batches.receive(message, Turn(now, exchange))
        if not isinstance(message, dict):
            return self._kept(line, unreadable(line, INVALID_REQUEST, TWO_READINGS))
        if self._elicitation.is_answer(message):
            turn = Turn(now, exchange)
            self._elicitation.take(message, turn)
            return turn.effects
        gated = self._gated.get(message["method"]) if isinstance(message.get("method"), str) else None
        if why := why_unjudged(message, self._bare if gated is None else _NOTHING):
            return refused(message, INVALID_REQUEST, why)
        effects = None if gated is None else gated(message, line, Turn(now, exchange))
        return respelled(message, self._limits) if effects is None and has_inner_return(line) else effects

    def announcements(self, view: View, kind: Kind) -> list[tuple[Exchange, bytes]]:
        """How the host is told that a list changed, and in which exchange: by nobody's wish but ours."""
        if view is self._views.handshake:
            return [(None, frame(notification(CHANGED[kind])))] if self._is_initialized else []
        return self._listens.announcements(view, kind)

    def _kept(self, line: bytes, refusal: Effects) -> Effects:
        """The refusal of what cannot be read; no server hears of what may have answered us."""
        if self._elicitation.mentions(line):
            refusal.to_server = []
        return refusal

    # Requests that wait for, or are answered from, what is verified

    def _list(self, message: JsonObject, line: bytes, turn: Turn) -> Effects | None:
        kind = _LISTS[message["method"]]
        params = message.get("params", {})
        if "id" not in message:
            return Effects()  # nobody waits for an answer
        if not isinstance(params, dict) or misspells(params, _CURSOR):
            return refused(message, INVALID_PARAMS, "params can be read in more than one way")
        return self._gate(message, params, line, turn, kind=kind, name=None)

    def _use(self, message: JsonObject, line: bytes, turn: Turn) -> Effects | None:
        kind = _USES[message["method"]]
        params = message.get("params")
        if (
            not isinstance(params, dict)
            or not isinstance(params.get("name"), str)
            or misspells(params, _NAME)
        ):
            return refused(message, INVALID_PARAMS, "params have no name that is one string")
        return self._gate(message, params, line, turn, kind=kind, name=params["name"])

    def _gate(
        self,
        message: JsonObject,
        params: JsonObject,
        line: bytes,
        turn: Turn,
        *,
        kind: Kind,
        name: str | None,
    ) -> Effects | None:
        if "id" in message and not answerable(message["id"]):
            return refused(message, INVALID_REQUEST, _NO_ID)
        try:
            view = self._views.of(params)
            if has_inner_return(line):
                line = serialize(message) + b"\n"
        except CanonicalError as fault:
            return refused(message, INVALID_PARAMS, fault.message)
        if view is None:
            return refused(message, INTERNAL_ERROR, _TOO_MANY)
        # A session that is older than this gate was opened before it.
        self._is_initialized = self._is_initialized or view is self._views.handshake
        record = view.record(kind)
        is_current = self._verification.is_current(record, turn.now)
        shown = record.snapshot if is_current else None
        if shown is not None and name in shown.names and name not in shown.traced:
            return None
        cursor = params.get("cursor")
        held = Held(
            id=message.get("id"),
            key=coerced_id(message.get("id")) or "",
            kind=kind,
            name=name,
            cursor=cursor,
            stateless=view.meta is not None,
            line=line,
            ticket=0,
            exchange=turn.exchange,
            since=turn.now,
        )
        if is_current and (name is not None or cursor is not None):
            self._verification.waiting.settle(record, held, turn.effects)
        else:
            self._verification.hold(record, held, turn)
        return turn.effects

    # What is only noted

    def _initialize(self, message: JsonObject, line: bytes, turn: Turn) -> Effects | None:
        self._elicitation.leave(turn.effects)
        self._elicitation.declare(message.get("params"))
        refusal = self._await_about(message, self._views.restart(), turn)
        if refusal is not None or not turn.effects.matters:
            return refusal
        turn.effects.to_server.append(line)
        return turn.effects

    def _discover(self, message: JsonObject, _line: bytes, turn: Turn) -> Effects | None:
        try:
            view = self._views.of(message.get("params"))
        except CanonicalError as fault:
            return refused(message, INVALID_PARAMS, fault.message)
        if view is None:
            return refused(message, INTERNAL_ERROR, _TOO_MANY)
        return self._await_about(message, view, turn)

    def _await_about(self, message: JsonObject, view: View, turn: Turn) -> Effects | None:
        if not answerable(message.get("id")):
            return refused(message, INVALID_REQUEST, _NO_ID)
        awaiting = self._verification.waiting.awaiting
        if len(awaiting) >= self._limits.held_requests:
            return refused(message, INTERNAL_ERROR, "too many of these requests wait for an answer")
        awaiting[self._place(message["id"], turn)] = view
        return None

    def _initialized(self, _message: JsonObject, _line: bytes, _turn: Turn) -> Effects | None:
        self._is_initialized = True
        self._elicitation.ready()
        return None

    def _cancelled(self, message: JsonObject, _line: bytes, turn: Turn) -> Effects | None:
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        if coerced_id(request_id) is None:
            return None
        if self._elicitation.is_ours(request_id):
            return turn.effects
        place = self._place(request_id, turn)
        self._listens.close(place)
        # What waits here was never sent: the server knows nothing that it could cancel.
        return turn.effects if self._verification.waiting.cancel(place) else None

    def _listen(self, message: JsonObject, _line: bytes, turn: Turn) -> Effects | None:
        params = message.get("params")
        try:
            view = None if stateless_meta(params) is None else self._views.of(params)
        except CanonicalError as fault:
            return refused(message, INVALID_PARAMS, fault.message)
        listen_id = message.get("id")
        self._listens.open(self._place(listen_id, turn), listen_id, view, params, turn.exchange)
        return None

    def hang_up(self, exchange: Exchange) -> None:
        """Forget the streams of an exchange that has ended."""
        self._listens.hang_up(exchange)

    def _place(self, request_id: JsonValue, turn: Turn) -> Place:
        return self._verification.waiting.placing.place(turn.exchange, coerced_id(request_id) or "")
