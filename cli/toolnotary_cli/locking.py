# SPDX-License-Identifier: Apache-2.0
"""What `lock` does: finds out what a server would be pinned to; `adding` asks about it and pins it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolnotary_cli.adding import Adding, Wanted
from toolnotary_cli.looking import Seen, is_file, launch_of, look
from toolnotary_cli.offers import named_version
from toolnotary_cli.output import shown, styled
from toolnotary_cli.proposal import signed_lines
from toolnotary_cli.reading import KEY_BYTES, about, read
from toolnotary_cli.source import Command, Published, Source, Url
from toolnotary_cli.source import one as one_source
from toolnotary_cli.wording import called
from toolnotary_verifier import history
from toolnotary_verifier.decide import decide
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.moves import pin_signed, pin_surface
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.project import Project
from toolnotary_verifier.review.shadowing import Held
from toolnotary_verifier.shellwords import command

if TYPE_CHECKING:
    from toolnotary_verifier.keys import PublicKey

# A secret is masked where it is recognized; whoever reads the line above this one knows what was missed.
_RECORDED: Final = (
    "this line is recorded in the lockfile and committed with it; what is masked (***) is not: "
    "say no if a secret is left in it"
)


class Locking:
    """One `lock`: the files that it works with, and how it finds out what is wanted.

    Args:
        project: the files.
        adding: asks, and adds what is wanted to them.
        offline: open no socket.
    """

    def __init__(self, project: Project, adding: Adding, *, offline: bool) -> None:
        self._project, self._adding, self._offline = project, adding, offline

    def published(
        self,
        version: Published,
        launched: Source | None,
        *,
        registry: str | None,
        profiles: Sequence[str],
        key: Path | None,
    ) -> int:
        """Pin a published version under the launch that `launched` is; returns the exit code."""
        project = self._project
        launch = None if launched is None else launch_of(project, launched)
        if launch is None:
            name = f"{version.server}@{version.version}"
            told = command("lock", name, behind="-- COMMAND, or with --url URL in its place")
            raise _launch_needed(shown(name), told)
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
        manifest = signed.verified.manifest
        by_policy = signer.removeprefix("key:") in named
        lines = [_RECORDED, *signed_lines(signed)]
        argv, url = _argv(launched), _url(launched)
        held = Held.of(one.definition for found in manifest.variants.values() for one in found)
        wanted = Wanted(move, lines, launch, manifest.digest, named=by_policy, argv=argv, url=url, held=held)
        return self._adding.pin(wanted)

    def unsigned(self, server: str, source: Source | None, argv: Sequence[str]) -> int:
        """Pin what a server shows now, or what a saved listing shows; returns the exit code."""
        from toolnotary_cli.proposal import definition_lines, summary_lines

        if source is None and not argv:
            raise _launch_needed(
                shown(server), command("lock", None, "--server", server, behind="-- COMMAND")
            )
        seen, notes = self._see(source, argv)
        if seen.launch is None:
            raise _launch_needed(
                f"{shown(server)}: a saved listing",
                command("lock", None, "--server", server, behind="FILE -- COMMAND"),
            )
        move = pin_surface(seen.surface, server=server, launch=seen.launch)
        first = decide(server, seen.surface, Pins(), policy=self._project.policy)
        lines = [
            _RECORDED,
            *definition_lines(list(seen.surface.definitions.values())),
            *summary_lines(seen.surface),
            *notes,
            "nobody signed this: you accept what the server shows today",
        ]
        started = tuple(argv) or _argv(source)
        return self._adding.pin(
            Wanted(
                move,
                lines,
                seen.launch,
                first.change_set,
                seen=seen.surface,
                argv=started,
                url=_url(source),
                held=Held.of(seen.surface.definitions.values()),
            )
        )

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
            f"{styled('!', 'warn')} {called(kind, name)} differs between two looks: whenever it is not "
            "as it was in the first, it will be withheld"
            for kind, name in moved
        ]
        what = "started" if isinstance(given, Command) else "asked"
        return first, [*notes, *([] if moved else [f"{what} twice, with the same answer"])]


def _argv(source: Source | None) -> tuple[str, ...]:
    """The command that a source is; none where it is a URL or a file."""
    return source.argv if isinstance(source, Command) else ()


def _url(source: Source | None) -> str:
    """The URL that a source is; empty where it is none."""
    return source.url if isinstance(source, Url) else ""


def _launch_needed(what: str, command: str) -> ConfigurationError:
    return ConfigurationError(
        "launch-needed",
        f"{what} does not say how the server is started or reached, and a pin binds both together",
        remedy=f"say how: {command}",
    )


def _read_key(path: Path) -> "PublicKey":
    from toolnotary_verifier.keys import PublicKey

    with about(path):
        return PublicKey.from_pem(read(path, KEY_BYTES))
