# SPDX-License-Identifier: Apache-2.0
"""What a gate decided on one connection, taken down line by line before anything goes on."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate import Decision, Effects, Event, Said
from toolnotary_verifier.guard import telemetry
from toolnotary_verifier.policy_rules import AuditRules
from toolnotary_verifier.verdict import Reason, Verdict

if TYPE_CHECKING:
    from toolnotary_verifier.audit.file import AuditFile
    from toolnotary_verifier.audit.line import Line

# What the gate tells people of messages that it kept back; how many there are is up to the server.
_MESSAGES: Final = {
    "message-withheld": "withheld",
    "about-withheld": "withheld",
    "stray-answer": "withheld",
    "listing-failed": "failed",
    "request-refused": "refused",
    "batch-refused": "refused",
    "gate-failed": "failed",
}
_BURST: Final = 100  # such lines at once; what comes faster than one a second is counted
_PAUSE: Final = 2.0  # seconds for which a file that could not be written is left alone


class Trail:
    """The lines of one connection; may be called by several threads.

    Attributes:
        connection: what tells this connection from others.
    """

    def __init__(
        self,
        rules: AuditRules,
        *,
        server: str,
        launch: str | None,
        inspection: str = "wire",
        tell: Callable[[str], None],
        masked: Callable[[str], str] = str,
    ) -> None:
        """A trail without a line; what it needs is loaded with the first one.

        Args:
            rules: what policy says of it.
            server: the name that the user gave.
            launch: digest of the launch identity.
            inspection: `wire` where bytes are judged, `parsed` where an SDK parsed them before.
            tell: told, for people, once that it cannot be written, and once that it can be again.
            masked: gives a name that nobody pinned without the secrets of the server.
        """
        self.connection = os.urandom(8).hex()
        self._rules = rules
        self._about = server, launch, inspection
        self._tell = tell
        self._masked = masked
        self._lock = threading.Lock()
        self._missed = 0
        self._failed_at: float | None = None
        self._left, self._at = float(_BURST), time.monotonic()

    @cached_property
    def _file(self) -> "AuditFile":
        from toolnotary_verifier.audit.opening import file_of

        return file_of(self._rules)

    @cached_property
    def _base(self) -> "Line":
        from toolnotary_verifier.audit.line import Line

        server, launch, inspection = self._about
        return Line("", server=server, launch=launch, connection=self.connection, inspection=inspection)

    def decided(self, effects: Effects) -> bool:
        """Take down what was decided; False if that failed, and nothing may go on without it."""
        if not (effects.decisions or effects.log) or not self._is_wanted:
            return True
        lines = [*map(self.line, effects.decisions), *self._messages(effects)]
        return self.write(*lines)

    @property
    def _is_wanted(self) -> bool:
        return self._rules.enabled or telemetry.is_wanted()

    def line(self, decision: Decision) -> "Line":
        """A decision as it is taken down."""
        verdict, judgement = decision.verdict, decision.judgement
        line = self._base._replace(
            event=decision.event.value,
            protocol=decision.protocol,
            kind=None if decision.kind is None else decision.kind.value,
            name=self._name(decision),
            reason=decision.reason or None,
            by="policy",
            request=decision.request,
            latency=None if decision.since is None else _micros(time.monotonic() - decision.since),
            unnamed=decision.unnamed,
        )
        if verdict is not None:
            line = line._replace(
                live=verdict.live,
                pinned=verdict.pinned,
                verdict=verdict.action.value,
                reason=verdict.reason.value,
                by=decided_by(verdict),
            )
        if judgement is not None:
            line = line._replace(
                outcome=judgement.outcome.value,
                change_set=judgement.change_set,
                counts={reason.value: count for reason, count in judgement.counts.items()},
                by="policy" if judgement.changes else "pin",
            )
        if decision.event is Event.ANSWERED and Said(decision.reason).is_by_a_person:
            return line._replace(by="user")
        return line

    def _name(self, decision: Decision) -> str | None:
        """The name as it may be written: what is pinned repeats no secret, anything else may."""
        name, verdict = decision.name, decision.verdict
        if name is None or (verdict is not None and verdict.reason in (Reason.VERIFIED, Reason.EQUIVALENT)):
            return name
        return self._masked(name)

    def event(self, event: str, **members: str | None) -> bool:
        """Take down what a shell did itself, such as `pinned`; returns as `decided`."""
        if not self._is_wanted:
            return True
        return self.write(self._base._replace(event=event, **members))  # type: ignore[arg-type]  # texts alone

    def _messages(self, effects: Effects) -> Iterator["Line"]:
        for entry in effects.log:
            event = _MESSAGES.get(entry.code)
            if event is not None and self._may():
                yield self._base._replace(event=event, reason=entry.code, by="policy")

    def _may(self) -> bool:
        """Whether another line is written that a server, or whoever sends messages, can have at will."""
        with self._lock:
            now = time.monotonic()
            self._left = min(float(_BURST), self._left + now - self._at)
            self._at = now
            if self._left < 1:
                self._missed += 1
                return False
            self._left -= 1
            return True

    def _is_kept(self, line: "Line") -> bool:
        """Whether policy wants it in the file; spans may have more."""
        is_plain = line.event == "allowed" and line.by != "break-glass"
        return self._rules.enabled and (not is_plain or self._rules.every_call)

    def write(self, *lines: "Line") -> bool:
        """Write lines; False if that failed, and nothing may go on without them."""
        if telemetry.is_wanted():
            for line in lines:
                telemetry.tell(line)
        lines = tuple(filter(self._is_kept, lines))
        if not lines:
            return True
        with self._lock:
            if self._failed_at is not None and time.monotonic() < self._failed_at + _PAUSE:
                self._missed += len(lines)
                return not self._rules.required
            first = lines[0]._replace(missed=self._missed)
            try:
                self._file.append(b"".join(line.encode() for line in (first, *lines[1:])))
            except OSError as error:
                self._missed += len(lines)
                self._failed(error)
                return not self._rules.required
            self._missed = 0
            if self._failed_at is not None:
                self._failed_at = None
                self._tell("the audit trail is written again")
            return True

    def _failed(self, error: OSError) -> None:
        if self._failed_at is None:
            where = escape(str(self._file.path), limit=300)
            why = (error.strerror or "it cannot be written").lower()
            then = "the connection is closed" if self._rules.required else "what is pinned goes on without it"
            self._tell(f"decisions are not taken down: {where}: {why}; {then}")
        self._failed_at = time.monotonic()


def decided_by(verdict: Verdict) -> str:
    """Who let a definition through or kept it back: a pin, or what policy says of its reason."""
    if verdict.reason is Reason.OVERRIDE:
        return "break-glass"
    return "pin" if verdict.reason in (Reason.VERIFIED, Reason.EQUIVALENT) and verdict.passes else "policy"


def _micros(seconds: float) -> int:
    return max(0, round(seconds * 1_000_000))
