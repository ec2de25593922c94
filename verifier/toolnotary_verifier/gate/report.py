# SPDX-License-Identifier: Apache-2.0
"""What people are told of judgements: each change set once, and how to review it."""

from collections.abc import Sequence

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate.effects import Effects
from toolnotary_verifier.verdict import Judgement, Outcome, Reason, Verdict

_NAMED = 8
_REMEMBERED = 256
# Why a definition is not handed out, for whoever reads a refusal: also a model.
_WHY = {
    Reason.INVALID: "has a definition that cannot be read in one way only",
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

    def __init__(self, server: str, options: str = "") -> None:
        """A report that names commands for `server`, with these options behind its name."""
        self._server = escape(server, limit=200)
        self._options = f" {options}" if options else ""
        self._remedy = f"to see why: toolnotary explain {self._server}"
        self._told: dict[str, None] = {}
        self._is_quiet = True

    def judged(self, judgement: Judgement, effects: Effects) -> None:
        """Tell a judgement, if it is news."""
        self._remedy = self._remedy_for(judgement)
        if self._is_quiet and judgement.outcome is Outcome.VERIFIED and not judgement.changes:
            return  # nobody was told of anything else
        if not self._is_news(f"{judgement.outcome} {judgement.change_set} {len(judgement.verdicts)}"):
            return
        self._is_quiet = False
        passing = len(judgement.forward)
        noted = [verdict for verdict in judgement.changes if verdict.passes]
        if judgement.objections:
            told = f"{judgement.outcome}: withheld {_named(judgement.objections)}; {self._remedy}"
            effects.note("withheld", told)
        elif noted or judgement.outcome is not Outcome.VERIFIED:
            what = f"; noted {_named(noted)}; {self._remedy}" if noted else ""
            effects.note("judged", f"{judgement.outcome}: {passing} definitions pass{what}")
        elif passing:
            effects.note("verified", f"verified: {passing} definitions are as pinned")

    def _remedy_for(self, judgement: Judgement) -> str:
        reasons = {verdict.reason for verdict in judgement.objections}
        if Reason.PENDING in reasons:
            return "the registry is being asked"
        if Reason.FIRST_SIGNED in reasons:
            return f"to pin it: toolnotary lock {self._server}@VERSION{self._options} -- COMMAND"
        if judgement.outcome is Outcome.UNPINNED:
            return f"to pin it: toolnotary lock --server {self._server}{self._options} -- COMMAND"
        return f"to review: toolnotary approve {self._server}{self._options}"

    def refused(self, kind: Kind, name: str, why: str, effects: Effects) -> None:
        """Tell that a call was refused, once for each name and reason."""
        if self._is_news(f"{kind} {name} {why}"):
            shown = escape(name, limit=120)
            effects.note("refused", f"refused {kind} {shown}: {why}; {self._remedy}")

    def _is_news(self, what: str) -> bool:
        if what in self._told:
            return False
        if len(self._told) >= _REMEMBERED:
            del self._told[next(iter(self._told))]
        self._told[what] = None
        return True


def _named(verdicts: Sequence[Verdict]) -> str:
    named = ", ".join(f"{v.kind} {escape(v.name, limit=60)} ({v.reason})" for v in verdicts[:_NAMED])
    return f"{named} and {len(verdicts) - _NAMED} more" if len(verdicts) > _NAMED else named


def why_withheld(judgement: Judgement | None, kind: Kind, name: str) -> str:
    """Why a name cannot be called, in words that a model may read."""
    for verdict in judgement.objections if judgement is not None else ():
        if verdict.kind is kind and verdict.name == name:
            return f"{_WHY.get(verdict.reason, _OTHER)} ({verdict.reason})"
    return _UNLISTED
