# SPDX-License-Identifier: Apache-2.0
"""Servers looked at and judged for `check`: each in one state, nothing started unasked."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from toolnotary_cli.looking import Seen
    from toolnotary_cli.output import Output
    from toolnotary_cli.source import Source
    from toolnotary_cli.verdicts import Row
    from toolnotary_verifier.definition import Definition
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.review.shadowing import Shadow
    from toolnotary_verifier.verify import VerifiedManifest


class Look:
    """Looks at servers and judges them, one row each.

    Args:
        project: the files.
        registry: the value of `--registry`; else policy names it.
        offline: open no socket.
        output: where what is started and asked is told.
        is_reviewed: whether what changed is taken apart too, where something is not as pinned.
    """

    def __init__(
        self,
        project: "Project",
        *,
        registry: str | None,
        offline: bool,
        output: "Output",
        is_reviewed: bool,
    ) -> None:
        self._project = project
        self._registry = registry
        self._offline = offline
        self._output = output
        self._is_reviewed = is_reviewed
        self._unrecorded: list[str] = []
        self._seen: dict[str, list[Definition]] = {}
        self._is_given_up = False

    def tell_unrecorded(self) -> None:
        """Say once of which servers nothing is recorded although their pins count."""
        from toolnotary_cli.wording import enumerated
        from toolnotary_verifier.project import on_policy_alone

        if self._unrecorded:
            self._output.note(on_policy_alone(self._project, enumerated(self._unrecorded)))

    def shadows(self, server: str | None) -> "list[Shadow]":
        """What the servers of the lockfile are to each other; of one of them, where one is asked about."""
        if len({entry.server for entry in self._project.lockfile.entries} | self._seen.keys()) < 2:
            return []
        from toolnotary_cli.shadowed import about, between_servers
        from toolnotary_verifier.review.shadowing import Held

        found = between_servers(self._project, {name: Held.of(some) for name, some in self._seen.items()})
        return found if server is None else about(found, server)

    def at(self, source: "Source", server: str | None) -> "Row":
        """The row of what stands on the command line; a file that is not valid ends the command."""
        from toolnotary_cli.looking import is_file, launch_of, look
        from toolnotary_cli.source import Published

        launch = launch_of(self._project, source)
        if server is None and launch is not None:
            server = self._project.server_of(launch)
        if server is None and isinstance(source, Published):
            server = source.server
        if server is None:
            raise click.UsageError("which server is it? say --server NAME")
        shown = "" if launch is None else launch.display
        if is_file(source):
            return self._judged(server, look(self._project, source), shown)
        named = server

        def seen() -> "Seen":
            self._refuse_other_launch(named, launch)
            return look(self._project, source, registry=self._registry, offline=self._offline)

        return self._row(server, shown, seen)

    def _refuse_other_launch(self, server: str, launch: "Launch | None") -> None:
        """What does not belong to the server is not even started.

        Raises:
            Refused: `identity`.
        """
        from toolnotary_verifier.errors import Refused
        from toolnotary_verifier.pinning import load_pins
        from toolnotary_verifier.shellwords import command
        from toolnotary_verifier.verdict import Reason

        standing = load_pins(self._project, server=server, launch=launch).standing
        lock = command("lock", None, "--server", server, behind="-- COMMAND")
        if standing is not None and standing.reason is Reason.IDENTITY:
            raise Refused(
                "identity",
                f"{standing.detail}; it was not started",
                remedy=f"undo that; if it is right, pin it too: {lock}",
            )

    def at_entries(self, server: str | None, *, start: bool) -> "list[Row]":
        """The rows of the lockfile's entries."""
        from toolnotary_verifier.errors import ConfigurationError

        entries = self._project.lockfile.entries if server is None else self._project.lockfile.named(server)
        if not entries:
            what = "nothing" if server is None else f"no server {server}"
            where = self._project.lockfile_path
            raise ConfigurationError(
                "nothing-pinned",
                f"{where} pins {what}",
                remedy="toolnotary lock --server NAME -- COMMAND pins a server; toolnotary status lists all",
            )
        return [self._entry(entry, start=start) for entry in entries]

    def _entry(self, entry: "Entry", *, start: bool) -> "Row":
        from toolnotary_cli.looking import entry_launch, entry_source, launch_of, look
        from toolnotary_cli.source import Command
        from toolnotary_verifier.errors import CannotTell

        launch = entry_launch(self._project, entry)

        def seen() -> "Seen":
            if not start:
                raise CannotTell(
                    "not-started",
                    "nothing was started or reached",
                    remedy="say --start, or check a saved listing",
                )
            source = entry_source(self._project, entry)
            self._refuse_other_launch(entry.server, launch_of(self._project, source))
            verb = "starting" if isinstance(source, Command) else "asking"
            self._output.note(f"{verb} {entry.server}: {launch.display}")
            return look(self._project, source, offline=self._offline)

        return self._row(entry.server, launch.display, seen)

    def _row(self, server: str, launch: str, seen: "Callable[[], Seen]") -> "Row":
        from toolnotary_cli.verdicts import Row
        from toolnotary_verifier.errors import ToolnotaryError

        try:
            return self._judged(server, seen(), launch)
        except ToolnotaryError as error:
            return Row(server=server, launch=launch, error=error)

    def _judged(self, server: str, seen: "Seen", launch: str) -> "Row":
        from toolnotary_cli.verdicts import Row
        from toolnotary_verifier.decide import decide
        from toolnotary_verifier.pinning import load_pins

        self._seen.setdefault(server, []).extend(seen.surface.definitions.values())
        pins = load_pins(self._project, server=server, launch=seen.launch)
        if pins.unrecorded:
            self._unrecorded.append(server)
        judgement = decide(server, seen.surface, pins, policy=self._project.policy)
        if judgement.objections:
            # Only now is it worth asking whether a version that the publisher signed explains what changed.
            offered = self._offered(server)
            if offered:
                judgement = decide(
                    server, seen.surface, pins, policy=self._project.policy, candidates=offered
                )
        row = Row(server=server, launch=launch, judgement=judgement)
        if not judgement.changes:
            return row
        if self._is_reviewed:
            from toolnotary_cli.changes import changes_of

            changes = changes_of(seen.surface, judgement, pins)
            return row._replace(changes=changes, causes=changes.causes)
        from toolnotary_cli.caused import of_pins

        causes = of_pins(seen.surface, pins, is_other_version=judgement.offered is not None)
        return row._replace(causes=causes)

    def _offered(self, server: str) -> "list[VerifiedManifest]":
        """What the registry offers; one that did not answer in its time is not waited for again."""
        if self._offline or not (self._registry or self._project.policy.registry_url):
            return []  # as `offers` says too, which need not be loaded for it
        if self._is_given_up:
            self._output.note(f"{server}: the registry is not asked again, since it did not answer before")
            return []
        from toolnotary_cli.offers import offers
        from toolnotary_verifier.errors import CannotTell

        found = offers(
            self._project, server, registry=self._registry, offline=self._offline, output=self._output
        )
        self._is_given_up = isinstance(found.failure, CannotTell)
        return [signed.verified for signed in found.signed]
