# SPDX-License-Identifier: Apache-2.0
"""What the gate decided, as values: an audit trail or a span takes them down, the gate goes on without.

Nothing in them but names, ids and digests: no arguments, no descriptions, no words for people.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.verdict import Aspect, Judgement, Outcome, Reason, Verdict

if TYPE_CHECKING:
    from toolnotary_verifier.gate.refusal import Held
    from toolnotary_verifier.gate.view import Record

# A server chooses what is not as pinned: so many definitions of one judgement are told by name.
_NAMED: Final = 64


class Event(StrEnum):
    """What a decision was about."""

    JUDGED = "judged"
    ALLOWED = "allowed"
    REFUSED = "refused"
    ASKED = "asked"
    ANSWERED = "answered"


class Decision(NamedTuple):
    """One decision.

    Attributes:
        event: what it was about.
        kind: what was called, listed or judged; None where it is the server as a whole.
        name: its name as received (escape before showing); None for a list.
        verdict: what is decided about its definition; None where nothing is.
        reason: a code, where the verdict has none: `not-listed`, `listing-failed`, `too-many-waiting`; how a
            question in the host ended (`elicitation.Said`).
        judgement: of the server as a whole.
        unnamed: how many more definitions it withheld or noted than are told by name.
        request: the id of the host's request as received; None where none led to it.
        since: when that request came, in seconds of the clock that the gate is fed; None without one.
        protocol: the protocol revision that was agreed on.
    """

    event: Event
    kind: Kind | Aspect | None = None
    name: str | None = None
    verdict: Verdict | None = None
    reason: str = ""
    judgement: Judgement | None = None
    unnamed: int = 0
    request: JsonValue = None
    since: float | None = None
    protocol: str | None = None


def judged(judgement: Judgement, before: Judgement | None, *, protocol: str | None) -> Iterator[Decision]:
    """A judgement that is news, and what in it is not as pinned: what is withheld first."""
    if not judgement.verdicts or (before is not None and _is_same(judgement, before)):
        return
    changes = sorted(judgement.changes, key=lambda verdict: verdict.passes)
    unnamed = max(0, len(changes) - _NAMED)
    yield Decision(Event.JUDGED, judgement=judgement, unnamed=unnamed, protocol=protocol)
    for one in changes[:_NAMED]:
        yield Decision(Event.JUDGED, one.kind, one.name, one, protocol=protocol)


def _is_same(one: Judgement, other: Judgement) -> bool:
    if one.outcome is not other.outcome or len(one.verdicts) != len(other.verdicts):
        return False
    if not one.changes and not other.changes:  # as nearly always: nothing need be digested
        return True
    return one.change_set == other.change_set


def allowed(held: "Held", record: "Record") -> Decision:
    """A call that goes on to the server."""
    found = record.view.judgement
    verdicts = () if found is None else found.verdicts
    verdict = next((one for one in verdicts if one.kind is held.kind and one.name == held.name), None)
    return _of(Event.ALLOWED, held, record, verdict)


def refused(held: "Held", record: "Record", verdict: Verdict | None, reason: str) -> Decision:
    """A request that does not, and why where no verdict says so."""
    return _of(Event.REFUSED, held, record, verdict, reason="" if verdict is not None else reason)


def _of(
    event: Event, held: "Held", record: "Record", verdict: Verdict | None, *, reason: str = ""
) -> Decision:
    return Decision(
        event,
        held.kind,
        held.name,
        verdict,
        reason,
        request=held.id,
        since=held.since,
        protocol=record.view.protocol,
    )


def traced_of(judgement: Judgement, passing: Iterable[Definition], *, every_call: bool) -> frozenset[str]:
    """The names whose every call is to be recorded: all of them, or those that pass by break-glass."""
    if every_call:
        return frozenset(one.name for one in passing)
    if judgement.outcome is Outcome.VERIFIED:  # then there is none, and nothing need be looked through
        return frozenset()
    return frozenset(one.name for one in judgement.verdicts if one.reason is Reason.OVERRIDE)
