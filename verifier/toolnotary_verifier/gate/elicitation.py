# SPDX-License-Identifier: Apache-2.0
"""A question in the host about what is withheld, by the gate's own request (MCP: `elicitation/create`).

It announces, and an answer can decline; whether one can do more is decided elsewhere, by the user's policy.
Nothing waits for it. It is asked in the handshake era alone: a server of the stateless era sends no requests,
and an `input_required` in place of a refusal would keep the call open until a person comes, and ask again
with every call (2026-07-28: multi round-trip requests).

No server knows its id, which nobody else ever saw; what a server sends under an id like it is withheld, and
what a host answers under one that is not open is dropped.
"""

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate.decisions import Decision, Event
from toolnotary_verifier.gate.question import Answered, Invitation, Said, Withheld, params_of, said
from toolnotary_verifier.jsonrpc import frame, notification, request
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement, Reason

if TYPE_CHECKING:
    from toolnotary_verifier.gate.effects import Effects, Turn
    from toolnotary_verifier.gate.report import Report
    from toolnotary_verifier.gate.view import View

MARK: Final = "toolnotary-ask-"
_MARK_BYTES: Final = MARK.encode("ascii")
_SINCE: Final = "2025-06-18"  # the first revision with elicitation
_MODES_SINCE: Final = "2025-11-25"
_SETTLE: Final = 1.0  # seconds in which the lists of a server that connects are all judged
_MOST: Final = 8  # questions on one connection: a server that changes all the time asks for no more
_AT_ONCE: Final = 0.0


class _Open(NamedTuple):
    own_id: str
    invitation: Invitation
    judgement: Judgement
    deadline: float


class _Seen(NamedTuple):
    view: "View"
    surface: Surface
    judgement: Judgement


class Elicitation:
    """The questions of one connection, one at a time.

    Attributes:
        has_asked: whether anything was asked so far; else no frame can hold an id of ours.
    """

    def __init__(self, report: "Report", *, is_possible: bool, is_heard: bool) -> None:
        """Nothing was asked yet.

        Args:
            report: knows how a person reviews.
            is_possible: whether anything is asked on this connection.
            is_heard: whether the host hears what it did not ask for from the start.
        """
        self.has_asked = False
        self._report = report
        self._is_possible = is_possible
        self._is_heard = is_heard
        self._is_declared = self._is_ready = False
        self._named: set[Digest] = set()
        self._seen: _Seen | None = None
        self._open: _Open | None = None
        self._due_at: float | None = None

    # What is known of host and server

    def declare(self, params: JsonValue) -> None:
        """Take note of what a host declares in `initialize`; a new handshake ends what was open."""
        capabilities = params.get("capabilities") if isinstance(params, dict) else None
        declared = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
        self._is_declared = isinstance(declared, dict) and ("form" in declared or "url" not in declared)
        self._is_ready = False
        self._open = None

    def ready(self) -> None:
        """The handshake is over: requests may be sent."""
        self._is_ready = True
        self._look_soon()

    def hear(self, *, is_heard: bool) -> None:
        """Whether the host hears what it did not ask for has changed."""
        self._is_heard = is_heard
        if is_heard:
            self._look_soon()

    def judged(self, view: "View", surface: Surface, judgement: Judgement) -> None:
        """Take note of what was decided, once tools are known; what was asked before may be stale."""
        if self._is_possible and view.meta is None and Kind.TOOL in surface.inspected:
            self._seen = _Seen(view, surface, judgement)
            if judgement.objections or self._open is not None:
                self._due_at = _AT_ONCE

    def _look_soon(self) -> None:
        """Have `wake` called, where anything can be asked on this connection."""
        if self._is_possible:
            self._due_at = _AT_ONCE

    # Asking

    def ask(self, invitation: Invitation, turn: "Turn") -> None:
        """Ask, unless something else is shown by now, or nobody would hear it."""
        seen = self._seen
        is_current = seen is not None and _to_ask_about(seen.judgement) == invitation.change_set
        if seen is None or not is_current or self._open is not None or not self._may_ask(seen.view):
            self._named.discard(invitation.change_set)
            turn.effects.matters.append(Answered(invitation.change_set, Said.UNASKED))
            return
        own_id = f"{MARK}{os.urandom(16).hex()}"
        self.has_asked = True
        self._open = _Open(own_id, invitation, seen.judgement, turn.now + invitation.seconds)
        params = params_of(seen.judgement, self._report.remedy_for(seen.judgement), invitation)
        if (seen.view.protocol or "") >= _MODES_SINCE:
            params = {"mode": "form", **params}
        turn.effects.of(None).to_host.append(frame(request(own_id, "elicitation/create", params)))
        turn.effects.note("asked", f"your host was asked about the change set {invitation.change_set}")
        turn.effects.decisions.append(
            Decision(Event.ASKED, judgement=seen.judgement, protocol=seen.view.protocol)
        )

    def _may_ask(self, view: "View") -> bool:
        is_able = self._is_declared and self._is_ready and self._is_heard
        return is_able and (view.protocol or "") >= _SINCE

    # Answers

    def is_ours(self, request_id: JsonValue) -> bool:
        """Whether an id is one of ours, or nearly."""
        return isinstance(request_id, str) and request_id.strip().casefold().startswith(MARK)

    def mentions(self, line: bytes) -> bool:
        """Whether a frame may hold an id of ours, unescaped."""
        return self.has_asked and line.find(_MARK_BYTES) >= 0

    def is_answer(self, message: JsonValue) -> bool:
        """Whether a message of the host answers a question of ours, or nearly."""
        return isinstance(message, dict) and "method" not in message and self.is_ours(message.get("id"))

    def take(self, message: JsonObject, turn: "Turn") -> None:
        """Take an answer of the host; it never reaches the server."""
        asked = self._open
        if asked is None or message.get("id") != asked.own_id:
            turn.effects.note("stray-answer", "an answer to a question that is not open was dropped")
            return
        heard = said(message, asked.invitation)
        self._is_declared = self._is_declared and heard is not Said.UNSUPPORTED
        self._end(heard, turn.effects)

    def leave(self, effects: "Effects") -> None:
        """The host is gone: nobody answers any more."""
        if self._open is not None:
            self._end(Said.UNASKED, effects)

    def _end(self, heard: Said, effects: "Effects") -> None:
        asked, seen = self._open, self._seen
        if asked is None:
            return
        self._open, self._due_at = None, _AT_ONCE  # something else may be shown meanwhile
        if heard is Said.UNASKED:
            self._named.discard(asked.invitation.change_set)
        named = asked.invitation.change_set
        live = None if seen is None or not _is_live(seen, named) else seen.surface
        effects.matters.append(Answered(named, heard, live))
        effects.note("answered", f"the question about the change set {named} ended: {heard}")
        effects.decisions.append(Decision(Event.ANSWERED, reason=heard.value, judgement=asked.judgement))

    # Time

    @property
    def deadline(self) -> float | None:
        """When `wake` has something to do, None if never."""
        open_until = None if self._open is None else self._open.deadline
        return min((one for one in (self._due_at, open_until) if one is not None), default=None)

    def wake(self, turn: "Turn") -> None:
        """Ask about what has settled, give up what nobody answers."""
        if self._due_at == _AT_ONCE:
            self._due_at = turn.now + _SETTLE
        elif self._due_at is not None and turn.now >= self._due_at:
            self._due_at = None
            self._settled(turn.effects)
        if self._open is not None and turn.now >= self._open.deadline:
            self._cancel("nobody answered in time", turn.effects)
            self._end(Said.SILENT if self._is_heard else Said.UNASKED, turn.effects)

    def _settled(self, effects: "Effects") -> None:
        seen = self._seen
        if seen is None:
            return
        named = _to_ask_about(seen.judgement)
        if self._open is not None:
            if self._open.invitation.change_set != named:
                self._cancel("something else is shown meanwhile", effects)
                self._end(Said.STALE, effects)
            return
        if named is None or named in self._named or len(self._named) >= _MOST:
            return
        if self._may_ask(seen.view):
            self._named.add(named)
            effects.matters.append(Withheld(named, seen.surface, seen.judgement))

    def _cancel(self, why: str, effects: "Effects") -> None:
        if self._open is not None:
            params = {"requestId": self._open.own_id, "reason": why}
            effects.of(None).to_host.append(frame(notification("notifications/cancelled", params)))


def _to_ask_about(judgement: Judgement) -> Digest | None:
    """The change set that a person could decide about; None where there is nothing, or they withdrew it."""
    is_news = any(verdict.reason is not Reason.REVOKED for verdict in judgement.objections)
    return judgement.change_set if is_news and judgement.is_approvable else None


def _is_live(seen: _Seen, named: Digest) -> bool:
    """Whether what was asked about is what is verified now, and no change was announced since."""
    tools, judgement = seen.view.tools, seen.view.judgement
    is_fresh = tools is not None and tools.fresh and tools.snapshot is not None
    return is_fresh and judgement is not None and judgement.change_set == named
