# SPDX-License-Identifier: Apache-2.0
"""What is written of questions in a host: which were asked, what was declined there, and what was accepted.

A question about one set of changes is asked once, whichever of a user's hosts it reaches first: that is
decided under the lock of the user's state. A no counts as one at `approve` does. A yes counts only where the
user's own policy says so, and then only for exactly what was named: what is shown, what is pinned, what was
decided, and the policy are what they were (`grounds`), and nothing of it is a verdict that a person must look
at.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_verifier import history
from toolnotary_verifier.errors import Refused, ToolnotaryError
from toolnotary_verifier.gate import Answered, Invitation, Matter, Said, Withheld
from toolnotary_verifier.verdict import NEVER_APPROVED, Judgement, Outcome, Reason

if TYPE_CHECKING:
    from toolnotary_verifier.canonical import Digest
    from toolnotary_verifier.grounds import Grounds
    from toolnotary_verifier.guard.notes import Notes
    from toolnotary_verifier.guard.trail import Trail
    from toolnotary_verifier.in_force import InForce
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.moves import Move, Signed
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.surface import Surface

# What nobody accepts without a look at it, whatever the policy says.
NEVER_ACCEPTED_UNSEEN: Final = NEVER_APPROVED | {
    Reason.INVALID,
    Reason.AMBIGUOUS,
    Reason.REVOKED,
    Reason.SIGNER_CHANGED,
    Reason.ROLLBACK,
}


class _Asked(NamedTuple):
    surface: "Surface"
    grounds: "Grounds"


class Announcing:
    """The questions about one server; its methods are called by several threads."""

    def __init__(
        self,
        server: str,
        launch: "Launch",
        *,
        in_force: "InForce",
        reopen: "Callable[[], Project]",
        log: "Notes",
        trail: "Callable[[], Trail]",
        offered: "Callable[[], Sequence[Signed]]",
        refuse_secrets: "Callable[[Surface], None]",
    ) -> None:
        """Nothing was asked yet.

        Args:
            server: the name that the user gave.
            launch: how the server is started or reached.
            in_force: what the server is held to.
            reopen: the files as they are now.
            log: where people read what was done.
            trail: where what a person decided is taken down.
            offered: the signed versions that a registry offers, as far as they are known.
            refuse_secrets: refuses a surface that repeats a secret of the launch.
        """
        self._server = server
        self._launch = launch
        self._in_force = in_force
        self._reopen = reopen
        self._log = log
        self._trail = trail
        self._offered = offered
        self._refuse_secrets = refuse_secrets
        self._lock = threading.Lock()
        self._open: dict[Digest, _Asked] = {}
        self._is_over = False

    def attend(self, matter: Matter) -> Invitation | None:
        """Do what a gate wants; gives leave to ask, where it wants that and nobody was asked yet.

        Never raises what can go wrong with files: it is told, and then nobody is asked, and nothing accepted.
        """
        with self._lock:
            try:
                if isinstance(matter, Withheld):
                    return self._invitation(matter)
                self._ended(matter)
            except ToolnotaryError as error:
                self._log.note("elicitation", f"{error.message} ({error.code})")
                if isinstance(matter, Answered):
                    named = matter.change_set
                    self._trail().event("refused", reason=error.code, by="policy", change_set=named)
            return None

    def close(self) -> None:
        """Nobody answers any more: what is open may be asked elsewhere."""
        with self._lock:
            self._is_over = True
            try:
                for change_set in [*self._open]:
                    self._ended(Answered(change_set, Said.UNASKED))
            except ToolnotaryError as error:
                self._log.note("elicitation", f"{error.message} ({error.code})")

    # Asking

    def _invitation(self, matter: Withheld) -> Invitation | None:
        rules = self._in_force.policy.elicitation
        if self._is_over or not rules.enabled:
            return None
        from toolnotary_verifier.grounds import Grounds

        project, named = self._reopen(), matter.change_set
        judgement = self._decide(project, matter.surface)
        if judgement.change_set != named:
            return None  # the files changed, and what is shown is judged anew within a second

        def is_known(known: history.History) -> bool:
            tables = known.announced, known.refused
            return any(named in table.get(self._server, ()) for table in tables)

        grounds = Grounds.of(project, self._server)
        if not project.state.append(history.announced(self._server, named), unless=is_known):
            return None
        self._open[named] = _Asked(matter.surface, grounds)
        may_accept = rules.grant and project.policy.elicitation.grant and _may_be_accepted(judgement)
        return Invitation(named, may_accept, rules.seconds)

    def _decide(self, project: "Project", surface: "Surface") -> Judgement:
        from toolnotary_verifier.decide import decide
        from toolnotary_verifier.pinning import load_pins

        pins = load_pins(project, server=self._server, launch=self._launch)
        candidates = [one.verified for one in self._offered()]
        return decide(self._server, surface, pins, policy=project.policy, candidates=candidates)

    # Answers

    def _ended(self, matter: Answered) -> None:
        asked = self._open.pop(matter.change_set, None)
        if not matter.said.was_shown:
            self._reopen().state.append(history.unannounced(self._server, matter.change_set))
        elif asked is not None and matter.said is Said.DECLINED:
            self._decline(matter.change_set, asked)
        elif asked is not None and matter.said is Said.ACCEPTED:
            self._accept(matter, asked)

    def _decline(self, named: "Digest", asked: _Asked) -> None:
        from toolnotary_verifier.approval import declined

        project = self._reopen()
        try:
            move = self._move(project, asked.surface, self._decide(project, asked.surface))
        except Refused:  # nothing could be accepted of it: then there is no more to decline
            move = None
        project.state.append(*declined(self._server, named, move))
        self._trail().event("declined", by="user", change_set=named)
        self._log.note("declined", "declined in your host, and withheld as before")

    def _accept(self, matter: Answered, asked: _Asked) -> None:
        from toolnotary_verifier.audit.opening import expect
        from toolnotary_verifier.earlier import taken_back
        from toolnotary_verifier.grounds import Grounds

        project, surface = self._reopen(), matter.live
        if not (self._in_force.policy.elicitation.grant and project.policy.elicitation.grant):
            raise self._refused("your policy lets no answer in a host accept anything")
        if surface is None:
            raise self._refused("something else is shown by now, or a change was announced")
        asked.grounds.expect(Grounds.of(project, self._server))
        judgement = self._decide(project, surface)
        if judgement.change_set != matter.change_set:
            raise self._refused("something else is shown by now")
        if not _may_be_accepted(judgement):
            raise self._refused("a person has to look at it")
        self._refuse_secrets(surface)
        move = self._move(project, surface, judgement)
        if taken_back(project.state.history, move.entry, matter.change_set):
            raise self._refused("it would take back what you declined or withdrew before")
        expect(project.policy.audit)
        move.apply(project, unless=asked.grounds.unmoved(self._reopen))
        self._trail().event("approved", by="user", change_set=matter.change_set)
        self._log.note("approved", "accepted in your host, as your policy allows, and pinned")

    def _move(self, project: "Project", surface: "Surface", judgement: Judgement) -> "Move":
        from toolnotary_verifier.approval import accept

        return accept(project, surface, judgement, launch=self._launch, candidates=self._offered())

    def _refused(self, why: str) -> Refused:
        from toolnotary_verifier.shellwords import command

        return Refused(
            "not-accepted-unseen",
            f"an answer in your host accepted nothing: {why}",
            remedy=f"look at it: {command('approve', self._server)}",
        )


def _may_be_accepted(judgement: Judgement) -> bool:
    """Whether a yes to names and reasons alone could move the pin."""
    reasons = {verdict.reason for verdict in judgement.verdicts}
    return judgement.outcome is Outcome.DRIFT and not reasons & NEVER_ACCEPTED_UNSEEN
