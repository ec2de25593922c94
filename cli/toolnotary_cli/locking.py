# SPDX-License-Identifier: Apache-2.0
"""What `lock` does: finds out what a server would be pinned to, shows it, asks, and pins it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolnotary_cli import exits
from toolnotary_cli.looking import Seen, is_file, launch_of, look
from toolnotary_cli.offers import named_version
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.proposal import signed_lines
from toolnotary_cli.source import Command, Published, Source
from toolnotary_cli.source import one as one_source
from toolnotary_verifier import history
from toolnotary_verifier.decide import decide
from toolnotary_verifier.errors import ConfigurationError, Refused
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import SignedEntry, UnsignedEntry
from toolnotary_verifier.moves import Move, pin_signed, pin_surface
from toolnotary_verifier.pinning import judge_for, load_pins, record_outcome
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.project import Project

if TYPE_CHECKING:
    from toolnotary_verifier.keys import PublicKey

SCHEMA: Final = "https://toolnotary.dev/output/lock/v1"
_MAX_KEY_BYTES = 1 << 14


class Locking:
    """One `lock`: the files it works with, and how it may ask.

    Args:
        project: the files.
        output: where results go.
        yes: ask nobody, where that is enough.
        digest: the change set that the person wants and no other.
        texts: whether objects go beside the lockfile.
        offline: open no socket.
    """

    def __init__(
        self, project: Project, output: Output, *, yes: bool, digest: str | None, texts: bool, offline: bool
    ) -> None:
        self._project, self._output = project, output
        self._yes, self._digest, self._texts, self._offline = yes, digest, texts, offline

    def published(
        self,
        version: Published,
        launched: Source,
        *,
        registry: str | None,
        profiles: Sequence[str],
        key: Path | None,
    ) -> int:
        """Pin a published version under the launch that `launched` is; returns the exit code."""
        project = self._project
        launch = launch_of(project, launched)
        if launch is None:
            raise ConfigurationError(
                "source", "a saved listing is no way to start a server", remedy="put its command behind --"
            )
        trusted = project.trusted(version.server)
        named = set(project.policy.signers_for(version.server))
        given = _read_key(key) if key is not None else None
        if given is not None:
            trusted = {**trusted, given.key_id: given}
        signed = named_version(project, version, registry=registry, offline=self._offline, trusted=trusted)
        move = pin_signed(project, signed, launch=launch, profiles=profiles)
        signer = signed.verified.signer.identity
        if given is not None and signer == f"key:{given.key_id}":
            event = history.trusted_key(
                version.server, key_id=given.key_id, pem=given.to_pem().decode("ascii")
            )
            move = replace(move, events=(event, *move.events))
        digest = signed.verified.manifest.digest
        by_policy = signer.removeprefix("key:") in named
        return self._pin(move, list(signed_lines(signed)), launch=launch, change_set=digest, named=by_policy)

    def unsigned(self, server: str, source: Source | None, argv: Sequence[str]) -> int:
        """Pin what a server shows now, or what a saved listing shows; returns the exit code."""
        from toolnotary_cli.proposal import definition_lines, summary_lines

        seen, notes = self._see(source, argv)
        if seen.launch is None:
            raise ConfigurationError(
                "launch-needed",
                "a pin binds a name to the way its server is started, and a saved listing does not say how",
                remedy="put the server's command behind --",
            )
        move = pin_surface(seen.surface, server=server, launch=seen.launch)
        first = decide(server, seen.surface, Pins(), policy=self._project.policy)
        lines = [
            *definition_lines(list(seen.surface.definitions.values())),
            *summary_lines(seen.surface),
            *notes,
            "nobody signed this: you accept what the server shows today",
        ]
        code = self._pin(move, lines, launch=seen.launch, change_set=first.change_set, named=False)
        if code == exits.FINE:
            project = Project.load(lockfile=self._project.lockfile_path, state=self._project.state.path)
            judgement = judge_for(project, server=server, launch=seen.launch)(seen.surface)
            record_outcome(project, judgement, server=server, launch=seen.launch)
        return code

    def _see(self, source: Source | None, argv: Sequence[str]) -> tuple[Seen, list[str]]:
        """What there is to pin; a server is looked at twice, in fresh processes."""
        if source is not None and is_file(source):
            launched = one_source(None, argv) if argv else None
            launch = None if launched is None else launch_of(self._project, launched)
            return Seen(look(self._project, source, launched=launched).surface, launch), []
        given = one_source(None, argv) if source is None else source
        if source is not None and argv:
            raise ConfigurationError(
                "source", "got a URL and a command after --", remedy="give one of the two"
            )
        first = look(self._project, given, offline=self._offline)
        again = look(self._project, given, offline=self._offline)
        before, after = first.surface.definitions, again.surface.definitions
        moved = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
        notes = [
            f"{styled('!', 'warn')} {kind.value} {shown(name)} differs between two looks: whenever it is not "
            "as it was in the first, it will be withheld"
            for kind, name in moved
        ]
        what = "started" if isinstance(given, Command) else "asked"
        return first, [*notes, *([] if moved else [f"{what} twice, with the same answer"])]

    def _pin(self, move: Move, lines: list[str], *, launch: Launch, change_set: str, named: bool) -> int:
        """Pin after a yes; `named` says that policy names the signer, so that nobody need be asked."""
        from toolnotary_cli.prompt import confirm

        if self._digest not in (None, change_set):
            raise Refused(
                "change-set-differs",
                f"this is the change set {change_set}, asked for was {shown(str(self._digest))}",
            )
        if self._is_pinned(move, launch):
            text = f"{shown(move.entry.server)} is pinned to this already"
            self._output.result(self._document(move, change_set, pinned=True), text)
            return exits.FINE
        # A digest only narrows what may be accepted: a refusal tells it to whoever asks, a model included.
        sure = self._yes and named
        if self._yes and not sure:
            raise Refused(
                "needs-a-person",
                "--yes pins only what a signer that your policy names has signed; "
                f"this is the change set {change_set}",
                remedy="look at it in a terminal, without --yes",
            )
        about = (f"{shown(move.entry.server)}: {launch.display}", *lines, f"change set {change_set}")
        if sure:
            for line in about:
                self._output.note(click.unstyle(line))
        elif not confirm(f"pin {shown(move.entry.server)} to this?", lines=about):
            text = "declined: nothing was pinned"
            self._output.result(self._document(move, change_set, pinned=False), text)
            return exits.OBJECTION
        move.apply(self._project, texts=self._texts)
        where = shown(str(self._project.lockfile_path), limit=300)
        text = f"{styled('pinned', 'good')}: {shown(move.entry.server)}, in {where}"
        self._output.result(self._document(move, change_set, pinned=True), text)
        return exits.FINE

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
            wanted = f" {to.server}@{to.version}" if isinstance(to, SignedEntry) else ""
            raise Refused(
                "already-pinned",
                f"{shown(entry.server)} is pinned to something else in {self._project.lockfile_path}",
                remedy=f"toolnotary approve {shown(entry.server)}{shown(wanted)}",
            )
        pins = load_pins(self._project, server=entry.server, launch=launch)
        accepted = isinstance(entry, UnsignedEntry) or self._project.state.accepts_manifest(
            *entry.place, entry.manifest
        )
        return accepted and bool(pins.profiles) and not pins.unaccepted

    def _document(self, move: Move, change_set: str, *, pinned: bool) -> dict[str, object]:
        entry = move.entry
        signed = entry if isinstance(entry, SignedEntry) else None
        return {
            "schema": SCHEMA,
            "server": entry.server,
            "pinned": pinned,
            "version": None if signed is None else signed.version,
            "signer": None if signed is None else signed.signer,
            "changeSet": change_set,
            "lockfile": str(self._project.lockfile_path),
        }


def accept_policy(project: Project, output: Output) -> int:
    """Accept what the project's policy grants or loosens, after a yes; returns the exit code.

    Raises:
        Refused: `no-terminal`, `nothing-to-approve`.
    """
    from toolnotary_cli.prompt import confirm

    values = project.policy.unaccepted
    if not values:
        raise Refused("nothing-to-approve", "the project's policy holds nothing that waits for a yes")
    lines = tuple(f"{value.option} = {shown(value.value, limit=400)}" for value in values)
    agreed = confirm("let the project's policy say this?", lines=lines)
    if agreed:
        events = [history.accepted_value(value.option, value.value) for value in values]
        project.state.append(*events)
    document = {
        "schema": SCHEMA,
        "accepted": agreed,
        "values": [{"option": value.option, "value": value.value} for value in values],
    }
    told = styled("accepted", "good") if agreed else styled("declined", "warn")
    output.result(document, f"{told}: {len(values)} values of the project's policy")
    return exits.FINE if agreed else exits.OBJECTION


def _pinned_to(entry: SignedEntry | UnsignedEntry) -> object:
    """What an entry pins, without how its launch was written."""
    if isinstance(entry, SignedEntry):
        return (entry.manifest, entry.profiles)
    return entry.pins


def _read_key(path: Path) -> "PublicKey":
    from toolnotary_verifier.keys import PublicKey

    with path.open("rb") as file:
        return PublicKey.from_pem(file.read(_MAX_KEY_BYTES))
