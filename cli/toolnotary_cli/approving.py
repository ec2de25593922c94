# SPDX-License-Identifier: Apache-2.0
"""What `approve` does: finds out what would be pinned in place of what is, asks a person, and pins it.

The answer is bound to what the person was shown: the change set, and the lockfile, decisions and policy that
it was judged by. Where one of them moved before the answer came, nothing is accepted (`grounds`).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from toolnotary_cli import exits
from toolnotary_cli.asking import Asker
from toolnotary_cli.auditing import Audit, act
from toolnotary_cli.caused import document as cause_document
from toolnotary_cli.changes import Changes, Question, changes_of
from toolnotary_cli.looking import (
    Seen,
    entry_launch,
    entry_source,
    is_file,
    look,
    recorded_source,
    refuse_secrets,
)
from toolnotary_cli.moving import to_version
from toolnotary_cli.offers import offers
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.shadowed import about, between_servers
from toolnotary_cli.shadowed import document as shadow_document
from toolnotary_cli.source import Command, Published, Source
from toolnotary_verifier.approval import accept, declined
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.decide import decide
from toolnotary_verifier.earlier import taken_back
from toolnotary_verifier.errors import CannotTell, Refused
from toolnotary_verifier.grounds import Grounds
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import Entry
from toolnotary_verifier.moves import Move
from toolnotary_verifier.pinning import judge_for, load_pins, record_outcome
from toolnotary_verifier.project import Project
from toolnotary_verifier.review.shadowing import Held, Shadow
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement

if TYPE_CHECKING:
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.pins import Pins
    from toolnotary_verifier.sightings import Sighting

SCHEMA: Final = "https://toolnotary.dev/output/approve/v1"
_STAYS: Final = "stays as it was pinned"


def check_command(server: str) -> str:
    """The command that shows what a server shows, and asks nobody."""
    return command("check", None, "--server", server, "--start")


class Approving:
    """One `approve`: the server that it is about, and the files that it works with.

    Args:
        project: the files.
        server: the name that the user gave the server.
        output: where results go.
        asker: asks the person.
        reopen: the files as they are by the time that the answer comes.
        digest: the change set that the person wants and no other.
        texts: whether objects go beside the lockfile.
    """

    def __init__(
        self,
        project: Project,
        server: str,
        output: Output,
        *,
        asker: Asker,
        reopen: Callable[[], Project],
        digest: str | None,
        texts: bool,
    ) -> None:
        self._project, self._server, self._output = project, server, output
        self._asker, self._reopen = asker, reopen
        self._digest, self._texts = digest, texts
        self._check = check_command(server)
        self._audit = Audit(project.policy.audit, output.note)
        self._grounds = Grounds.of(project, server)
        self._asked: Question | None = None

    def live(self, given: Source | None, *, start: bool, registry: str | None, offline: bool) -> int:
        """Accept what the server shows now, after a yes; returns the exit code.

        Args:
            given: where it shows it; None for what the lockfile records.
            start: whether a recorded command is started without asking.
            registry: the registry that may have a signed version of it.
            offline: open no socket.

        Raises:
            ToolnotaryError: it cannot be looked at, or not be accepted.
        """
        try:
            looked = self._look(given, start=start, offline=offline)
        except CannotTell as error:
            if error.code != "unauthorized":
                raise
            seen = command("approve", self._server, "--seen")
            raise CannotTell(
                "unauthorized", error.message, remedy=f"what your host was shown is reviewed with: {seen}"
            ) from None
        if looked is None:
            return self._declined(None, "was not started, and stays as it was pinned")
        return self._judged(*looked, registry=registry, offline=offline)

    def seen(self, *, registry: str | None, offline: bool) -> int:
        """Accept what a guarded connection showed last, after a yes; returns the exit code. Nothing starts.

        Args:
            registry: the registry that may have a signed version of it.
            offline: open no socket.

        Raises:
            CannotTell: `never-seen`.
            ToolnotaryError: it cannot be read, or not be accepted.
        """
        from toolnotary_verifier.places import seen_folder
        from toolnotary_verifier.sightings import Sightings

        entry = self._entry()
        launch = entry_launch(self._project, entry)
        kept = Sightings(seen_folder(), limits=self._project.policy.limits).last(self._server, launch.digest)
        if kept is None:
            raise CannotTell(
                "never-seen",
                f"no guarded connection kept anything that {shown(self._server)} showed under this launch "
                "and was not as pinned",
                remedy=f"let your host connect to it through toolnotary, or look at it: {self._check}",
            )
        refuse_secrets(recorded_source(self._project, entry), kept.surface)
        return self._judged(Seen(kept.surface, launch), launch, kept, registry=registry, offline=offline)

    def version(self, version: Published, *, registry: str | None, offline: bool) -> int:
        """Move the pin to a published version, after a yes; returns the exit code. Nothing is started.

        Args:
            version: which one.
            registry: where it is published; None for that of the policy.
            offline: open no socket.

        Raises:
            ToolnotaryError: it is not there, or cannot be pinned.
        """
        entry = self._entry()
        launch = entry_launch(self._project, entry)
        proposal = to_version(self._project, entry, launch, version, registry=registry, offline=offline)
        self._refuse_other(proposal.judgement)
        named = f"{version.server}@{version.version}"
        difference = command("diff", f"{self._project.lockfile_path}#{self._server}", named)
        judgement, move = proposal.judgement, proposal.move
        self._audit.expect()
        question = self._question(judgement, move, launch, proposal.changes)
        if not self._agreed(question._replace(signed=proposal.signed), move, shown_by=difference):
            self._write("declined", question, judgement, launch)
            return self._declined(judgement.change_set, _STAYS)
        self._applied(move)
        self._write("approved", question, judgement, launch)
        return self._accepted(judgement, shown(named))

    def _look(self, given: Source | None, *, start: bool, offline: bool) -> tuple[Seen, Launch] | None:
        """What the server shows, and the launch that it is pinned under; None where it may not be started."""
        project = self._project
        if given is not None and not is_file(given):
            seen = look(project, given, offline=offline)
            if seen.launch is not None:
                return seen, seen.launch
        entry = self._entry()
        launch = entry_launch(project, entry)
        if given is not None:
            return look(project, given, launched=recorded_source(project, entry)), launch
        recorded = entry_source(project, entry)
        asks = isinstance(recorded, Command) and not start
        if asks and not self._asker.may_start(self._server, launch.display):
            return None
        return look(project, recorded, offline=offline), launch

    def _judged(
        self,
        seen: Seen,
        launch: Launch,
        sighting: "Sighting | None" = None,
        *,
        registry: str | None,
        offline: bool,
    ) -> int:
        """Ask about a surface, and pin it after a yes."""
        project, server, surface = self._project, self._server, seen.surface
        pins, signed, judgement = self._weigh(surface, launch, registry=registry, offline=offline)
        self._refuse_other(judgement)
        self._audit.expect()
        move = accept(project, surface, judgement, launch=launch, candidates=signed)
        question = self._question(judgement, move, launch, changes_of(surface, judgement, pins))
        if not self._agreed(question._replace(seen=sighting), move, shown_by=self._check):
            self._write("declined", question, judgement, launch)
            return self._declined(judgement.change_set, _STAYS)
        moved = self._applied(move)
        after = judge_for(moved, server=server, launch=launch)(surface)
        record_outcome(moved, after, server=server, launch=launch)
        self._write("approved", question, judgement, launch)
        return self._accepted(judgement, f"{shown(server)}, in {shown(str(project.lockfile_path))}")

    def _weigh(
        self, surface: Surface, launch: Launch, *, registry: str | None, offline: bool
    ) -> "tuple[Pins, Sequence[Signed], Judgement]":
        """What is pinned, what a registry offers, and what follows; break-glass lets nothing pass here."""
        project, server = self._project, self._server
        pins = load_pins(project, server=server, launch=launch)._replace(overrides=())
        signed = offers(project, server, registry=registry, offline=offline, output=self._output).signed
        candidates = [one.verified for one in signed]
        return pins, signed, decide(server, surface, pins, policy=project.policy, candidates=candidates)

    def _entry(self) -> Entry:
        entry = self._project.entry_named(self._server)
        if entry is None:
            where = shown(str(self._project.lockfile_path), limit=300)
            lock = command("lock", None, "--server", self._server, behind="-- COMMAND")
            raise Refused(
                "not-pinned",
                f"{shown(self._server)} is not pinned in {where}",
                remedy=f"pin it first: {lock}",
            )
        return entry

    def _refuse_other(self, judgement: Judgement) -> None:
        if self._digest not in (None, judgement.change_set):
            raise Refused(
                "change-set-differs",
                f"the server now shows the change set {judgement.change_set}, "
                f"asked for was {shown(str(self._digest))}",
                remedy=f"what it shows now: {self._check}",
            )

    def _question(self, judgement: Judgement, move: Move, launch: Launch, changes: Changes) -> Question:
        known = self._project.state.history
        self._asked = Question(
            server=self._server,
            launch=launch.display,
            lockfile=self._project.lockfile_path,
            change_set=judgement.change_set,
            changes=changes,
            notes=move.notes,
            warnings=taken_back(known, move.entry, judgement.change_set),
            shadows=self._shadows(changes),
        )
        return self._asked

    def _shadows(self, changes: Changes) -> tuple[Shadow, ...]:
        """What of the change stands in the way of the other servers of the lockfile, or speaks of them."""
        seen = Held.of(changes.surface.definitions.values())
        found = between_servers(self._project, {self._server: seen})
        return tuple(about(found, self._server, changes.new.keys()))

    def _agreed(self, question: Question, move: Move, *, shown_by: str) -> bool:
        """Whether the person said yes; a no is remembered.

        `shown_by` is the command that shows the change where nobody can be asked.
        """
        if self._asker.agrees(question, otherwise=shown_by):
            return True
        self._project.state.append(*declined(self._server, question.change_set, move))
        return False

    def _applied(self, move: Move) -> Project:
        """The files after the move, which is made where nothing moved since it was shown.

        Raises:
            Refused: `decided-meanwhile`; nothing was accepted.
        """
        self._grounds.expect(Grounds.of(self._reopen(), self._server))  # before an object is stored
        return move.apply(self._project, texts=self._texts, unless=self._grounds.unmoved(self._reopen))

    def _write(self, event: str, question: Question, judgement: Judgement, launch: Launch) -> None:
        """Take down what the person decided."""
        change_set = question.change_set
        self._audit.write(act(event, self._server, launch, change_set=change_set, judgement=judgement))

    def _accepted(self, judgement: Judgement, what: str) -> int:
        self._asker.concludes(f"Accepted: {what}")
        text = f"{styled('accepted', 'good')}: {what}"
        self._output.result(self._document(judgement.change_set, accepted=True), text)
        return exits.FINE

    def _declined(self, change_set: Digest | None, what: str) -> int:
        self._asker.concludes(f"Declined: {shown(self._server)} {what}")
        text = f"{styled('declined', 'warn')}: {shown(self._server)} {what}"
        self._output.result(self._document(change_set, accepted=False), text)
        return exits.OBJECTION

    def _document(self, change_set: Digest | None, *, accepted: bool) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "server": self._server,
            "changeSet": change_set,
            "accepted": accepted,
            "shadows": [] if self._asked is None else [shadow_document(one) for one in self._asked.shadows],
            "causes": None if self._asked is None else cause_document(self._asked.changes.causes),
            "lockfile": str(self._project.lockfile_path),
        }
