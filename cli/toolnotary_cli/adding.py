# SPDX-License-Identifier: Apache-2.0
"""Adding a pin: what a person is shown and asked before it, and what is written after a yes."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import click

from toolnotary_cli import exits
from toolnotary_cli.auditing import Audit, act
from toolnotary_cli.hosting import found_by_run, run_line
from toolnotary_cli.looking import launch_needed
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.shadowed import about, between_servers
from toolnotary_cli.shadowed import document as shadow_document
from toolnotary_cli.shadowed import lines as shadow_lines
from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.earlier import passed_over, taken_back
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import SignedEntry, UnsignedEntry
from toolnotary_verifier.moves import Move
from toolnotary_verifier.pinning import judge_for, load_pins, record_outcome
from toolnotary_verifier.project import Project
from toolnotary_verifier.review.shadowing import NOTHING_HELD, Held, Shadow
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.surface import Surface

SCHEMA: Final = "https://toolnotary.dev/output/lock/v1"


class Wanted(NamedTuple):
    """What is to be pinned.

    Attributes:
        move: what would be written.
        lines: what a person is shown.
        launch: how the server is started or reached.
        change_set: the digest of all that is shown.
        named: whether policy names the signer, so that nobody need be asked.
        seen: what the server showed, to be recorded; None for a version that nobody looked at.
        argv: the command as it was given; empty where the server is reached by a URL.
        url: that URL as it was given.
        held: what would be pinned, as it stands beside other servers.
    """

    move: Move
    lines: list[str]
    launch: Launch
    change_set: Digest
    named: bool = False
    seen: Surface | None = None
    argv: tuple[str, ...] = ()
    url: str = ""
    held: Held = NOTHING_HELD


class Adding:
    """Adds pins to the files of one command.

    Args:
        project: the files.
        output: where results go.
        yes: ask nobody, where that is enough.
        digest: the change set that the person wants and no other.
        texts: whether objects go beside the lockfile.
        options: what leads `run` to the policy and the registry that were named.
    """

    def __init__(
        self,
        project: Project,
        output: Output,
        *,
        yes: bool,
        digest: str | None,
        texts: bool,
        options: Sequence[str] = (),
    ) -> None:
        self._project, self._output, self._options = project, output, options
        self._yes, self._digest, self._texts = yes, digest, texts
        self._audit = Audit(project.policy.audit, output.note)

    def pin(self, wanted: Wanted) -> int:
        """Pin after a yes, or without one where policy names the signer; a no is remembered.

        Returns:
            The exit code.

        Raises:
            Refused: `already-pinned`, `change-set-differs`, `needs-a-person`, `no-terminal`.
            ConfigurationError: `file-not-writable`.
        """
        move, launch, change_set = wanted.move, wanted.launch, wanted.change_set
        found = about(between_servers(self._project, {move.entry.server: wanted.held}), move.entry.server)
        self._audit.expect()
        if self._digest not in (None, change_set):
            raise Refused(
                "change-set-differs",
                f"this is the change set {change_set}, asked for was {shown(str(self._digest))}",
                remedy="look at what would be pinned, in a terminal and without --digest",
            )
        if self._is_pinned(move, launch):
            _record(self._project, wanted)
            text = f"{shown(move.entry.server)} is pinned to this already"
            self._output.result(
                self._document(move, change_set, found, pinned=True), [text, *self._for_host(wanted)]
            )
            return exits.FINE
        before = _earlier(self._project.state.history, wanted)
        if not self._is_agreed(wanted, before, found):
            self._project.state.append(history.declined(move.entry.server, change_set))
            self._audit.write(act("declined", move.entry.server, launch, change_set=change_set))
            text = "declined: nothing was pinned"
            self._output.result(self._document(move, change_set, found, pinned=False), text)
            return exits.OBJECTION
        # Unasked, what another process recorded by then counts too; a person was shown what they answered.
        unless = (lambda known: bool(_earlier(known, wanted))) if self._yes else None
        moved = move.apply(self._project, texts=self._texts, unless=unless)
        _record(moved, wanted)
        signer = move.entry.signer if self._yes and isinstance(move.entry, SignedEntry) else None
        by = "user" if signer is None else f"signer {signer}"
        self._audit.write(act("pinned", move.entry.server, launch, change_set=change_set, by=by))
        where = shown(str(self._project.lockfile_path), limit=300)
        text = f"{styled('pinned', 'good')}: {shown(move.entry.server)}, in {where}"
        self._output.result(
            self._document(move, change_set, found, pinned=True), [text, *self._for_host(wanted)]
        )
        return exits.FINE

    def _is_agreed(self, wanted: Wanted, before: tuple[str, ...], found: list[Shadow]) -> bool:
        """Whether it is to be pinned: by the person's answer, or unasked where `--yes` suffices.

        Raises:
            Refused: `needs-a-person`, `no-terminal`.
        """
        from toolnotary_cli.prompt import confirm

        move = wanted.move
        if self._yes:
            self._refuse_unasked(wanted, before)
        told = (
            f"{shown(move.entry.server)}: {wanted.launch.display}",
            *wanted.lines,
            *shadow_lines(found),
            *move.notes,
            *(styled(line, "warn") for line in before),
            f"change set {wanted.change_set}",
        )
        if self._yes:
            for line in told:
                self._output.note(click.unstyle(line))
            return True
        question = f"pin {shown(move.entry.server)} to this?"
        return confirm(question, lines=told, otherwise=_without_terminal(wanted, before))

    def _for_host(self, wanted: Wanted) -> list[str]:
        """How a host starts the server; `run` reads the personal lockfile unless it is told another."""
        line = run_line(
            wanted.move.entry.server,
            wanted.argv,
            wanted.launch,
            url=wanted.url,
            lockfile=self._project.lockfile_path,
            options=self._options,
        )
        return [] if line is None else ["let your host start it with:", f"    {line}"]

    def _refuse_unasked(self, wanted: Wanted, before: tuple[str, ...]) -> None:
        """Refuse what `--yes` does not cover.

        A digest only narrows what may be accepted: a refusal tells it to whoever asks, a model included.

        Raises:
            Refused: `needs-a-person`.
        """
        server, remedy = shown(wanted.move.entry.server), "look at it in a terminal, without --yes"
        if not wanted.named:
            raise Refused(
                "needs-a-person",
                "--yes pins only what a signer that your policy names has signed; "
                f"this is the change set {wanted.change_set}",
                remedy=f"{remedy}; or name the signer's key in your policy",
            )
        if before:
            raise Refused(
                "needs-a-person",
                f"--yes pins {server} at first contact, or again as accepted last; {'; '.join(before)}",
                remedy=remedy,
            )

    def _is_pinned(self, move: Move, launch: Launch) -> bool:
        """Whether exactly this counts already; anything else that is pinned is not moved here.

        Raises:
            Refused: `already-pinned`.
        """
        entry = self._project.lockfile.entry(move.entry.server, move.entry.launch)
        if entry is None:
            return False
        if _pinned_to(entry) != _pinned_to(move.entry):
            to = move.entry
            version = (f"{to.server}@{to.version}",) if isinstance(to, SignedEntry) else ()
            behind = "" if version else launch_needed(self._project, entry.server)
            if not found_by_run(self._project.lockfile_path):
                self._output.note(
                    f"run does not look for {self._project.lockfile_path}: give it to it with --lockfile"
                )
            raise Refused(
                "already-pinned",
                f"{shown(entry.server)} is pinned to something else in {self._project.lockfile_path}",
                remedy=command("approve", entry.server, *version, behind=behind),
            )
        pins = load_pins(self._project, server=entry.server, launch=launch)
        state = self._project.state
        accepted = isinstance(entry, UnsignedEntry) or (
            state.accepts_manifest(*entry.place, entry.manifest)
            and entry.manifest not in state.revoked(entry.server)
        )
        return accepted and bool(pins.profiles) and not pins.unaccepted

    def _document(
        self, move: Move, change_set: str, found: list[Shadow], *, pinned: bool
    ) -> dict[str, object]:
        entry = move.entry
        signed = entry if isinstance(entry, SignedEntry) else None
        return {
            "schema": SCHEMA,
            "server": entry.server,
            "pinned": pinned,
            "version": None if signed is None else signed.version,
            "signer": None if signed is None else signed.signer,
            "changeSet": change_set,
            "shadows": [shadow_document(one) for one in found],
            "lockfile": str(self._project.lockfile_path),
        }


def _record(project: Project, wanted: Wanted) -> None:
    """Remember in which state the server was seen, for `status`."""
    if wanted.seen is None:
        return
    server, launch = wanted.move.entry.server, wanted.launch
    judgement = judge_for(project, server=server, launch=launch)(wanted.seen)
    record_outcome(project, judgement, server=server, launch=launch)


def _earlier(known: history.History, wanted: Wanted) -> tuple[str, ...]:
    """What the user decided before that this pin would undo."""
    entry = wanted.move.entry
    return (*taken_back(known, entry, wanted.change_set), *passed_over(known, entry))


def _without_terminal(wanted: Wanted, before: tuple[str, ...]) -> str:
    """What works where nobody can be asked (docs/reference/cli.md)."""
    if not isinstance(wanted.move.entry, SignedEntry):
        return "without one, only a published version whose signer your policy names is pinned, with --yes"
    if wanted.named and before:
        return f"--yes does not cover it; {'; '.join(before)}"
    if wanted.named:
        return "or say --yes: your policy names its signer"
    return "or name its signer's key in your policy ([[signers]]), and say --yes"


def _pinned_to(entry: SignedEntry | UnsignedEntry) -> object:
    """What an entry pins, without how its launch was written."""
    if isinstance(entry, SignedEntry):
        return (entry.manifest, entry.profiles)
    return entry.pins
