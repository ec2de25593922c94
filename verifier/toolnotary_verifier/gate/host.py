# SPDX-License-Identifier: Apache-2.0
"""What a host says: its list requests are answered here, its calls pass only for verified definitions."""

from collections.abc import Callable

from toolnotary_verifier.canonical import (
    CanonicalError,
    Flaw,
    JsonObject,
    JsonValue,
    canonical_bytes,
    parse_message,
    serialize,
)
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate.effects import Effects, Turn
from toolnotary_verifier.gate.recognise import has_inner_return, head_id, may_be_request, plainly_called
from toolnotary_verifier.gate.refusal import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, Held
from toolnotary_verifier.gate.shape import lenient_ids, messages, misspells
from toolnotary_verifier.gate.verification import Verification
from toolnotary_verifier.gate.view import View
from toolnotary_verifier.gate.views import Views, stateless_meta
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, LIST_METHOD, coerced_id, error, frame, notification
from toolnotary_verifier.limits import Limits

LISTS = {method: kind for kind, method in LIST_METHOD.items()}
USES = {"tools/call": Kind.TOOL, "prompts/get": Kind.PROMPT}
CHANGED = {
    Kind.TOOL: "notifications/tools/list_changed",
    Kind.PROMPT: "notifications/prompts/list_changed",
    Kind.RESOURCE: "notifications/resources/list_changed",
    Kind.TEMPLATE: "notifications/resources/list_changed",
}
_FILTER = {
    Kind.TOOL: "toolsListChanged",
    Kind.PROMPT: "promptsListChanged",
    Kind.RESOURCE: "resourcesListChanged",
    Kind.TEMPLATE: "resourcesListChanged",
}
_META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_NAME = frozenset(("name",))
_CURSOR = frozenset(("cursor",))
_MAX_LISTENS = 32
_TOO_MANY = "too many protocol revisions or capabilities at once"


class HostSide:
    """The direction from host to server.

    Attributes:
        is_closed: whether nothing passes any more.
    """

    def __init__(self, verification: Verification, views: Views, *, server: str, limits: Limits) -> None:
        self.is_closed = False
        self._verification = verification
        self._views = views
        self._server = server
        self._limits = limits
        self._is_initialized = False
        self._listens: dict[str, tuple[JsonValue, View, JsonObject]] = {}
        self._gated: dict[str, Callable[[JsonObject, bytes, float], Effects | None]] = {
            **dict.fromkeys(LISTS, self._list),
            **dict.fromkeys(USES, self._use),
            "initialize": self._initialize,
            "server/discover": self._discover,
            "notifications/initialized": self._initialized,
            "notifications/cancelled": self._cancelled,
            "subscriptions/listen": self._listen,
        }

    def passes(self, line: bytes) -> bool:
        """Whether a frame is a plain call of a verified tool, as most are; costs little, changes nothing."""
        tools = self._views.handshake.tools
        # Read once: another thread may withdraw it meanwhile, and then either order is a right one.
        snapshot = None if tools is None else tools.snapshot
        if self.is_closed or tools is None or snapshot is None or not tools.fresh:
            return False
        return plainly_called(line) in snapshot.spelled

    def receive(self, line: bytes, now: float) -> Effects | None:
        """What follows from one frame of the host; None if it goes on to the server as it is."""
        if self.passes(line) or not may_be_request(line) or not line.strip():
            return None
        if len(line) > self._limits.frame_bytes:
            return self._too_long(line)
        try:
            message = parse_message(line, max_bytes=self._limits.frame_bytes)
        except CanonicalError as refused:
            return _refused(_only_id(line), PARSE_ERROR, f"the message is not valid JSON: {refused.message}")
        if isinstance(message, list):
            return self._batch(message)
        if not isinstance(message, dict) or misspells(message):
            return _refused(_only_id(line), INVALID_REQUEST, "the message can be read in more than one way")
        effects = None
        gated = self._gated.get(message["method"]) if isinstance(message.get("method"), str) else None
        if gated is not None:
            effects = gated(message, line, now)
        elif isinstance(message.get("method"), Flaw):
            return _refused(_id_of(message), INVALID_REQUEST, "the message can be read in more than one way")
        return self._respelled(message) if effects is None and has_inner_return(line) else effects

    def announcements(self, view: View, kind: Kind) -> list[bytes]:
        """How the host is told that a list changed: by nobody's wish but ours."""
        if view is self._views.handshake:
            return [frame(notification(CHANGED[kind]))] if self._is_initialized else []
        told = []
        for listen_id, listening, wanted in self._listens.values():
            if listening is view and wanted.get(_FILTER[kind]) is True:
                params = {"_meta": {_META_SUBSCRIPTION: listen_id}}
                told.append(frame(notification(CHANGED[kind], params)))
        return told

    # Requests that wait for, or are answered from, what is verified

    def _list(self, message: JsonObject, line: bytes, now: float) -> Effects | None:
        kind = LISTS[message["method"]]
        params = message.get("params", {})
        if "id" not in message:
            return Effects()  # nobody waits for an answer
        if not isinstance(params, dict) or misspells(params, _CURSOR):
            return _refused(_id_of(message), INVALID_PARAMS, "params can be read in more than one way")
        return self._gate(message, params, line, now, kind=kind, name=None)

    def _use(self, message: JsonObject, line: bytes, now: float) -> Effects | None:
        kind = USES[message["method"]]
        params = message.get("params")
        if (
            not isinstance(params, dict)
            or not isinstance(params.get("name"), str)
            or misspells(params, _NAME)
        ):
            return _refused(_id_of(message), INVALID_PARAMS, "params have no name that is one string")
        return self._gate(message, params, line, now, kind=kind, name=params["name"])

    def _gate(
        self,
        message: JsonObject,
        params: JsonObject,
        line: bytes,
        now: float,
        *,
        kind: Kind,
        name: str | None,
    ) -> Effects | None:
        key = coerced_id(message.get("id"))
        if "id" in message and (key is None or isinstance(message["id"], Flaw)):
            return _refused(None, INVALID_REQUEST, "the id is neither a string nor a number")
        try:
            view = self._views.of(params)
        except CanonicalError as refused:
            return _refused(_id_of(message), INVALID_PARAMS, f"_meta: {refused.message}")
        if view is None:
            return _refused(_id_of(message), INTERNAL_ERROR, _TOO_MANY)
        record = view.record(kind)
        is_current = self._verification.is_current(record, now)
        if name is not None and is_current and record.snapshot is not None and name in record.snapshot.names:
            return None
        cursor = params.get("cursor")
        turn = Turn(now)
        held = Held(
            id=message.get("id"),
            key=key or "",
            kind=kind,
            name=name,
            cursor=cursor,
            stateless=view.meta is not None,
            line=_without_returns(message, line),
            ticket=0,
        )
        if is_current and (name is not None or cursor is not None):
            self._verification.waiting.settle(record, held, turn.effects)
        else:
            self._verification.hold(record, held, turn)
        return turn.effects

    # What is only noted

    def _initialize(self, message: JsonObject, _line: bytes, _now: float) -> Effects | None:
        return self._await_about(message, self._views.restart())

    def _discover(self, message: JsonObject, _line: bytes, _now: float) -> Effects | None:
        try:
            view = self._views.of(message.get("params"))
        except CanonicalError as refused:
            return _refused(_id_of(message), INVALID_PARAMS, f"_meta: {refused.message}")
        if view is None:
            return _refused(_id_of(message), INTERNAL_ERROR, _TOO_MANY)
        return self._await_about(message, view)

    def _await_about(self, message: JsonObject, view: View) -> Effects | None:
        key = coerced_id(message.get("id"))
        if key is None:
            return _refused(None, INVALID_REQUEST, "the id is neither a string nor a number")
        awaiting = self._verification.waiting.awaiting
        if len(awaiting) >= self._limits.held_requests:
            return _refused(_id_of(message), INTERNAL_ERROR, "too many of these requests wait for an answer")
        awaiting[key] = view
        return None

    def _initialized(self, _message: JsonObject, _line: bytes, _now: float) -> Effects | None:
        self._is_initialized = True
        return None

    def _cancelled(self, message: JsonObject, _line: bytes, _now: float) -> Effects | None:
        params = message.get("params")
        key = coerced_id(params.get("requestId")) if isinstance(params, dict) else None
        if key is None:
            return None
        self._listens.pop(key, None)
        # What waits here was never sent: the server knows nothing that it could cancel.
        return Effects() if self._verification.waiting.cancel(key) else None

    def _listen(self, message: JsonObject, _line: bytes, _now: float) -> Effects | None:
        key = coerced_id(message.get("id"))
        params = message.get("params")
        wanted = params.get("notifications") if isinstance(params, dict) else None
        if key is not None and isinstance(wanted, dict) and stateless_meta(params) is not None:
            view = self._views.of(params)
            if view is not None and len(self._listens) < _MAX_LISTENS:
                self._listens[key] = (message["id"], view, wanted)
        return None

    # What is no single request

    def _batch(self, batch: list[JsonValue]) -> Effects | None:
        """Batches left the protocol with 2025-06-18: they pass where they hold nothing to look at."""
        parts = list(messages(batch))
        for part in parts:
            method = part.get("method", "") if isinstance(part, dict) and not misspells(part) else None
            if not isinstance(method, str) or method in self._gated:
                break
        else:
            return self._respelled(batch)
        ids = [
            part["id"] for part in parts if isinstance(part, dict) and coerced_id(part.get("id")) is not None
        ]
        effects = Effects()
        answers = [error(one, INVALID_REQUEST, "send this request outside of a batch") for one in ids]
        if answers:
            effects.to_host.append(serialize(answers) + b"\n")
        effects.note("batch-refused", "a batch of the host was refused: it holds requests that must be gated")
        return effects

    def _too_long(self, line: bytes) -> Effects:
        effects = Effects()
        found = head_id(line)
        text = f"a request of more than {self._limits.frame_bytes} bytes cannot be checked"
        body = b'{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"%s"}}\n'
        effects.to_host.append(body % (found or b"null", INVALID_REQUEST, text.encode("ascii")))
        effects.note("request-refused", text)
        return effects

    def _respelled(self, value: JsonValue) -> Effects:
        """The same message in one line for every reader."""
        effects = Effects()
        try:
            canonical_bytes(value, max_depth=self._limits.message_depth, parsed=True)
            effects.to_server.append(serialize(value) + b"\n")
        except CanonicalError as refused:
            effects.note("request-refused", f"a message of the host was refused: {refused.message}")
        return effects


def _refused(request_id: JsonValue, code: int, why: str) -> Effects:
    effects = Effects()
    effects.to_host.append(frame(error(request_id, code, f"refused by toolnotary: {why}")))
    effects.note("request-refused", f"a message of the host was refused: {why}")
    return effects


def _id_of(message: JsonObject) -> JsonValue:
    request_id = message.get("id")
    return request_id if coerced_id(request_id) is not None and not isinstance(request_id, Flaw) else None


def _only_id(line: bytes) -> JsonValue:
    found = lenient_ids(line, requests=True)
    return found[0] if len(found) == 1 else None


def _without_returns(message: JsonObject, line: bytes) -> bytes:
    if not has_inner_return(line):
        return line
    try:
        return serialize(message) + b"\n"
    except CanonicalError:
        return b"\n"  # it can be read in more than one way: a blank line is what the server gets
