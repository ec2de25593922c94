# SPDX-License-Identifier: Apache-2.0
"""What `approve` does: finds out what would be pinned in place of what is, asks a person, and pins it."""

from typing import Final

from toolnotary_cli import exits
from toolnotary_cli.looking import Seen, entry_launch, entry_source, is_file, look, recorded_source
from toolnotary_cli.moving import to_version
from toolnotary_cli.offers import offers
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.prompt import confirm
from toolnotary_cli.proposal import change_lines
from toolnotary_cli.source import Command, Published, Source
from toolnotary_verifier import history
from toolnotary_verifier.approval import accept
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.decide import decide
from toolnotary_verifier.earlier import taken_back
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import Entry, SignedEntry
from toolnotary_verifier.moves import Move
from toolnotary_verifier.pinning import judge_for, load_pins, record_outcome
from toolnotary_verifier.project import Project
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.verdict import Judgement

SCHEMA: Final = "https://toolnotary.dev/output/approve/v1"


class Approving:
    """One `approve`: the server that it is about, and the files that it works with.

    Args:
        project: the files.
        server: the name that the user gave the server.
        output: where results go.
        digest: the change set that the person wants and no other.
        texts: whether objects go beside the lockfile.
    """

    def __init__(
        self, project: Project, server: str, output: Output, *, digest: str | None, texts: bool
    ) -> None:
        self._project, self._server, self._output = project, server, output
        self._digest, self._texts = digest, texts
        self._check = (
            f"to see the change without one: {command('check', None, '--server', server, '--start')}"
        )

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
        project, server = self._project, self._server
        looked = self._look(given, start=start, offline=offline)
        if looked is None:
            return self._declined(None, "was not started, and stays as it was pinned")
        seen, launch = looked
        pins = load_pins(project, server=server, launch=launch)
        signed = offers(project, server, registry=registry, offline=offline, output=self._output).signed
        candidates = [one.verified for one in signed]
        judgement = decide(server, seen.surface, pins, policy=project.policy, candidates=candidates)
        self._refuse_other(judgement)
        move = accept(project, seen.surface, judgement, launch=launch, candidates=signed)
        lines = list(change_lines(seen.surface, judgement, pins))
        if not self._agreed(judgement, move, lines, launch=launch, shown_by=self._check):
            return self._declined(judgement.change_set, "stays as it was pinned")
        moved = move.apply(project, texts=self._texts)
        after = judge_for(moved, server=server, launch=launch)(seen.surface)
        record_outcome(moved, after, server=server, launch=launch)
        return self._accepted(judgement, f"{shown(server)}, in {shown(str(project.lockfile_path))}")

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
        if not self._agreed(judgement, move, proposal.lines, launch=launch, shown_by=difference):
            return self._declined(judgement.change_set, "stays as it was pinned")
        move.apply(self._project, texts=self._texts)
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
        if asks and not confirm(f"start {launch.display} ?", otherwise=_without_terminal(self._check)):
            return None
        return look(project, recorded, offline=offline), launch

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

    def _agreed(
        self, judgement: Judgement, move: Move, lines: list[str], *, launch: Launch, shown_by: str
    ) -> bool:
        """Whether the person said yes; a no is remembered.

        `shown_by` is the command that shows the change where nobody can be asked.
        """
        state, server, entry = self._project.state, self._server, move.entry
        about = (
            f"{shown(server)}: {launch.display}",
            *lines,
            *move.notes,
            *(styled(line, "warn") for line in taken_back(state.history, entry, judgement.change_set)),
            f"change set {judgement.change_set}",
        )
        if confirm(f"accept this for {shown(server)}?", lines=about, otherwise=_without_terminal(shown_by)):
            return True
        # A no to a signed version is a no to it wherever else it is offered; `lock` knows it by its manifest.
        signed = {entry.manifest} if isinstance(entry, SignedEntry) else set()
        state.append(*(history.declined(server, no) for no in sorted({judgement.change_set, *signed})))
        return False

    def _accepted(self, judgement: Judgement, what: str) -> int:
        text = f"{styled('accepted', 'good')}: {what}"
        self._output.result(self._document(judgement.change_set, accepted=True), text)
        return exits.FINE

    def _declined(self, change_set: Digest | None, what: str) -> int:
        text = f"{styled('declined', 'warn')}: {shown(self._server)} {what}"
        self._output.result(self._document(change_set, accepted=False), text)
        return exits.OBJECTION

    def _document(self, change_set: Digest | None, *, accepted: bool) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "server": self._server,
            "changeSet": change_set,
            "accepted": accepted,
            "lockfile": str(self._project.lockfile_path),
        }


def _without_terminal(check: str) -> str:
    return f"to see the change without one: {check}"
