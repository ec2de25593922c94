# SPDX-License-Identifier: Apache-2.0
"""Requests and their answers on one connection, on raw frames.

Only an answer to an id that this side chose counts. Requests of the server get the answer of a client that
has no folders, no model and nobody to ask; banners and other noise are passed over and noted.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from toolnotary_verifier.canonical import (
    CanonicalError,
    Flaw,
    JsonObject,
    JsonValue,
    canonical_bytes,
    parse_message,
    plain,
)
from toolnotary_verifier.capture.nobody import answered
from toolnotary_verifier.capture.transport import Transport
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.jsonrpc import notification, request
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits

CHANGED = {
    "notifications/tools/list_changed": (Kind.TOOL,),
    "notifications/prompts/list_changed": (Kind.PROMPT,),
    "notifications/resources/list_changed": (Kind.RESOURCE, Kind.TEMPLATE),
}
_MAX_NOTES = 20
_MAX_SAID = 300
_MAX_READ = 4096
_MARK = b'"jsonrpc"'
_MARK_WITHIN = 4096


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request.

    Attributes:
        result: the `result` member, None where the server answered with an error.
        code: the error's code, None where there is a result.
        message: the error's text, escaped and bounded.
        size: bytes of the whole frame.
    """

    result: JsonValue
    code: int | None
    message: str
    size: int


class Conversation:
    """One connection's requests and answers.

    Attributes:
        transport: the connection.
        changed: kinds whose list the server has said to have changed since this was last cleared.
        notes: escaped lines about what was passed over.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        capabilities: Mapping[str, JsonValue],
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.transport = transport
        self.changed: set[Kind] = set()
        self.notes: list[str] = []
        self.clock = clock
        self._capabilities = capabilities
        self._limits = limits
        # A server that answers before it is asked must not guess the id.
        self._last_id = secrets.randbits(30)
        self._open: set[int] = set()
        self._answers: dict[int, Answer] = {}
        self._asked = ""
        self._patience = self._until = 0.0
        self._noise = 0
        self._foreign = 0

    def within(self, seconds: float) -> float:
        """The deadline that is so far off; what is not answered until then is told with this time."""
        self._patience, self._until = seconds, self.clock() + seconds
        return self._until

    def post(self, method: str, params: JsonObject, *, deadline: float) -> int:
        """Send a request and return its id without waiting."""
        self._last_id += 1
        self._open.add(self._last_id)
        self._asked = method
        with self._timed():
            self.transport.send(request(self._last_id, method, params), deadline=deadline)
        return self._last_id

    def tell(self, method: str, *, deadline: float) -> None:
        """Send a notification."""
        self.transport.send(notification(method), deadline=deadline)

    def wait(self, *ids: int, deadline: float) -> tuple[int, Answer] | None:
        """The first answer to one of `ids`, or None if there is none by `deadline` (monotonic seconds).

        Raises:
            CannotTell: the server is gone.
            InvalidInput: a frame that was meant as a message cannot be read.
        """
        while True:
            for request_id in ids:
                if request_id in self._answers:
                    return request_id, self._answers.pop(request_id)
            if self.clock() > deadline:
                return None  # a server that never stops talking does not extend its time
            with self._timed():
                frame = self.transport.receive(deadline=deadline)
            if frame is None:
                return None
            self._take(frame, deadline)

    def ask(self, method: str, params: JsonObject, *, deadline: float) -> Answer:
        """Send a request and return its answer.

        Raises:
            CannotTell: `no-answer` if none came by `deadline`; the server is gone.
            InvalidInput: a frame that was meant as a message cannot be read.
        """
        found = self.wait(self.post(method, params, deadline=deadline), deadline=deadline)
        if found is None:
            raise self.unanswered()
        return found[1]

    def drain(self, *, deadline: float) -> None:
        """Take what still comes, until `deadline`."""
        self.wait(deadline=deadline)

    def unanswered(self) -> CannotTell:
        """The error for the last request, which got no answer in time, with what did come instead."""
        instead = []
        if self._foreign:
            instead.append(f"{self._foreign} times an answer to a request that nobody made")
        if self._noise:
            instead.append(f"{self._noise} times what is no message")
        got = f", but {' and '.join(instead)}" if instead else ""
        waited = f" within {self._patience:g} seconds" if self.clock() >= self._until else ""
        return CannotTell(
            "no-answer",
            f"{self.transport.server}: no answer to {self._asked}{waited}{got}{self.transport.explain()}",
            remedy="see that it is up and what it needs; more time is given with timeouts in toolnotary.toml",
        )

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Let a connection's own error about silence tell what was asked, and how long it was waited for."""
        try:
            yield
        except CannotTell as error:
            if error.code != "no-answer":
                raise
            told = f"{error.message} ({self._asked}, {self._patience:g} seconds)"
            raise CannotTell(error.code, told, remedy=error.remedy) from None

    def note(self, line: str) -> None:
        """Keep a line for the result, once, and not without bound."""
        if line not in self.notes and len(self.notes) < _MAX_NOTES:
            self.notes.append(line)

    def _take(self, frame: bytes, deadline: float) -> None:
        message = self._read(frame)
        if message is None:
            self._noise += 1
            self.note(f"passed over a line that is no message: {self._shown(_text(frame), 80)}")
        elif isinstance(message.get("method"), str):
            if "id" in message:
                self._serve(message, deadline)
            else:
                self.changed.update(CHANGED.get(message["method"], ()))
        else:
            self._answer(message, len(frame))

    def _read(self, frame: bytes) -> JsonObject | None:
        """The message in this frame; None for noise.

        A line that calls itself JSON-RPC was meant as an answer: whoever waits for it should be told at once.
        """
        try:
            message = parse_message(frame, max_bytes=self._limits.frame_bytes)
        except CanonicalError as error_:
            if error_.code in ("too-deep", "too-large") or _MARK in frame[:_MARK_WITHIN]:
                raise self._unreadable(error_.code, error_.message) from None
            return None
        if isinstance(message, Flaw):
            raise self._unreadable(message.code, message.message)
        if isinstance(message, list) and _MARK in frame[:_MARK_WITHIN]:
            raise self._unreadable("batch", "a batch, which no revision since 2025-06-18 knows")
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return None
        return message

    def _unreadable(self, code: str, message: str) -> InvalidInput:
        return InvalidInput(code, f"{self.transport.server}: an answer that cannot be read: {message}")

    def _answer(self, message: JsonObject, size: int) -> None:
        request_id = plain(message.get("id"))
        if type(request_id) is not int or request_id not in self._open:
            self._foreign += 1
            self.note("passed over an answer to a request that nobody made")
            return
        self._open.discard(request_id)
        if isinstance(message.get("error"), dict):
            self._answers[request_id] = self._refusal(message["error"], size)
            return
        if "result" not in message:
            raise self._unreadable("answer-shape", "neither a result nor an error")
        rest = {key: value for key, value in message.items() if key != "result"}
        value = message["result"]
        if isinstance(value, Flaw):
            raise self._unreadable(value.code, value.message)
        try:
            canonical_bytes(rest)
        except CanonicalError as flaw:
            raise self._unreadable(flaw.code, flaw.message) from None
        self._answers[request_id] = Answer(value, None, "", size)

    def _refusal(self, body: JsonObject, size: int) -> Answer:
        code, message = plain(body.get("code")), body.get("message")
        shown = self._shown(message, _MAX_SAID) if isinstance(message, str) else ""
        return Answer(None, code if type(code) is int else 0, shown, size)

    def _shown(self, text: str, limit: int) -> str:
        return escape(self.transport.mask(text[:_MAX_READ]), limit=limit)

    def _serve(self, message: JsonObject, deadline: float) -> None:
        answer = answered(message, self._capabilities)
        if answer is None:
            self.note("passed over a request without a usable id")
        else:
            self.transport.send(answer, deadline=deadline)


def _text(frame: bytes) -> str:
    return frame[:400].strip().decode("utf-8", "backslashreplace")
