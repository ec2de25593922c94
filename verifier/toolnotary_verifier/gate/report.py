# SPDX-License-Identifier: Apache-2.0
"""What people are told of judgements: each change set once, and how to review it."""

from collections.abc import Sequence

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape, visible
from toolnotary_verifier.gate.commands import Commands
from toolnotary_verifier.gate.effects import Effects
from toolnotary_verifier.verdict import Inspection, Judgement, Outcome, Reason, Verdict

_NAMED = 8
_REMEMBERED = 256
_DETAIL = 120  # characters of why a definition is not valid
_LONGEST = 1300  # characters of all that is named: the command behind it is told whole
# Why a definition is not handed out, for whoever reads a refusal: also a model.
_WHY = {
    Reason.INVALID: "has a definition that is not valid",
    Reason.AMBIGUOUS: "has more than one definition, or a name that cannot be told from another",
    Reason.CHANGED: "has a definition that differs from the pinned one",
    Reason.UPGRADE: "has a newer definition, signed by its publisher, that nobody has approved yet",
    Reason.ADDED: "is not among the pinned definitions",
    Reason.REVOKED: "was withdrawn",
    Reason.PENDING: "is still being looked up",
    Reason.FIRST_SIGNED: "is of a server that is signed and not pinned yet",
    Reason.FIRST_UNSIGNED: "is of a server of which nothing is pinned",
}
_OTHER = "has no verified definition"
_UNLISTED = "is not listed by this server"


class Report:
    """Remembers what was told, so that the same thing is not told again."""

    def __init__(self, commands: Commands) -> None:
        """A report that names these commands."""
        self._commands = commands
        self._remedy = f"to see why: {commands.explain}"
        self._told: dict[str, None] = {}
        self._is_quiet = True

    def judged(self, judgement: Judgement, effects: Effects) -> None:
        """Tell a judgement, if it is news."""
        self._remedy = self.remedy_for(judgement)
        if self._is_quiet and judgement.outcome is Outcome.VERIFIED and not judgement.changes:
            return  # nobody was told of anything else
        if not self._is_news(f"{judgement.outcome} {judgement.change_set} {len(judgement.verdicts)}"):
            return
        self._is_quiet = False
        passing = len(judgement.forward)
        is_wire = judgement.inspection is Inspection.WIRE
        seen = "" if is_wire else f" (inspection: {judgement.inspection})"
        noted = [verdict for verdict in judgement.changes if verdict.passes]
        by_person = [verdict for verdict in noted if verdict.reason is Reason.OVERRIDE]
        if by_person:
            effects.note("override", f"no pin lets this pass: {_named(by_person)}; {_ends(by_person)}")
        if judgement.objections:
            told = f"{judgement.outcome}{seen}: withheld {_named(judgement.objections)}; {self._remedy}"
            effects.note("withheld", told)
        elif noted or judgement.outcome is not Outcome.VERIFIED:
            what = f"; noted {_named(noted)}; {self._remedy}" if noted else ""
            effects.note("judged", f"{judgement.outcome}{seen}: {passing} definitions pass{what}")
        elif passing:
            effects.note("verified", f"verified{seen}: {passing} definitions are as pinned")

    def remedy_for(self, judgement: Judgement) -> str:
        """What a person can do about what was judged."""
        reasons = {verdict.reason for verdict in judgement.objections}
        if Reason.PENDING in reasons:
            return "the registry is being asked"
        if not judgement.is_approvable:
            return f"no approval covers that; to see more: {self._commands.explain}"
        if judgement.outcome is Outcome.UNPINNED or Reason.FIRST_SIGNED in reasons:
            signed = judgement.offered is not None
            return f"to pin it: {self._commands.lock_version if signed else self._commands.lock}"
        return f"to review: {self._commands.approve()}"

    def refused(
        self, kind: Kind, name: str, why: str, effects: Effects, *, verdict: Verdict | None = None
    ) -> None:
        """Tell that a call was refused, once for each name and reason.

        Args:
            kind: what was called or fetched.
            name: its name.
            why: the words that the host was told.
            effects: where it is told.
            verdict: what was decided about it, None where its list failed or does not name it.
        """
        if self._is_news(f"{kind} {name} {why}"):
            shown = escape(name, limit=120)
            is_decided = verdict is not None and (verdict.live is not None or not verdict.code)
            remedy = self._remedy if is_decided else f"to see more: {self._commands.explain}"
            effects.note("refused", f"refused {kind} {shown}: {why}; {remedy}")

    def _is_news(self, what: str) -> bool:
        if what in self._told:
            return False
        if len(self._told) >= _REMEMBERED:
            del self._told[next(iter(self._told))]
        self._told[what] = None
        return True


def _ends(overrides: Sequence[Verdict]) -> str:
    """Until when, and why, as the person said it; the detail is escaped already."""
    return visible(overrides[0].detail, limit=_DETAIL * 3)


def _named(verdicts: Sequence[Verdict]) -> str:
    named = ", ".join(f"{v.kind} {escape(v.name, limit=60)} ({_reason(v)})" for v in verdicts[:_NAMED])
    named = named if len(named) <= _LONGEST else f"{named[:_LONGEST]}..."
    return f"{named} and {len(verdicts) - _NAMED} more" if len(verdicts) > _NAMED else named


def _reason(verdict: Verdict) -> str:
    if verdict.reason is not Reason.INVALID or not verdict.detail:
        return verdict.reason
    return f"{verdict.reason}: {visible(verdict.detail, limit=_DETAIL)}"


def objection_to(judgement: Judgement | None, kind: Kind, name: str) -> Verdict | None:
    """What was decided about a name that cannot be called; None where the server does not list it."""
    objections = judgement.objections if judgement is not None else ()
    return next((one for one in objections if one.kind is kind and one.name == name), None)


def why_withheld(verdict: Verdict | None) -> str:
    """Why a name cannot be called, in words that a model may read: none of them are the server's."""
    if verdict is None:
        return _UNLISTED
    code = f": {verdict.code}" if verdict.reason is Reason.INVALID and verdict.code else ""
    return f"{_WHY.get(verdict.reason, _OTHER)} ({verdict.reason}{code})"
