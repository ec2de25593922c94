# SPDX-License-Identifier: Apache-2.0
"""`toolnotary capture`: what a server says of itself, as a manifest that can be signed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import completion, exits, options
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.trailing import TrailingCommand
from toolnotary_cli.variables import headers_of, variable
from toolnotary_cli.wording import called, counted

if TYPE_CHECKING:
    from toolnotary_verifier.canonical import JsonObject
    from toolnotary_verifier.capture import Capture, Source, Unstable
    from toolnotary_verifier.manifest import UnnamedManifest
    from toolnotary_verifier.surface import Surface

_EXPECTED = "give a URL, 'stdio:COMMAND ARG...', or a command behind --"
_SECONDS = click.FloatRange(min=0.1, max=3600)


@click.command(cls=TrailingCommand)
@click.argument("source", required=False, shell_complete=completion.files)
@click.option(
    "-o",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="Where the manifest goes.",
)
@click.option(
    "--accept-unstable",
    is_flag=True,
    help="Write the manifest although definitions differ between looks, with every variant that was seen.",
)
@click.option(
    "--looks",
    type=click.IntRange(min=2, max=20),
    default=2,
    show_default=True,
    help="In how many looks each definition must have been the same.",
)
@click.option(
    "--env",
    "handed",
    metavar="NAME",
    multiple=True,
    help="Hand this variable to the server although CI tokens and our own variables are held back.",
)
@options.header
@options.ca_file
@click.option(
    "--start-timeout",
    metavar="SECONDS",
    type=_SECONDS,
    help="How long a server may take to start and introduce itself; 30, or what the policy says.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=_SECONDS,
    help="How long it may take for one list; 10, or what the policy says.",
)
@options.policy
@options.output
def command(
    *,
    source: str | None,
    argv: tuple[str, ...],
    out: Path,
    accept_unstable: bool,
    looks: int,
    handed: tuple[str, ...],
    headers: tuple[str, ...],
    ca_file: Path | None,
    start_timeout: float | None,
    timeout: float | None,
    policy: Path | None,
    output: Output,
) -> int:
    """Capture what a server says of itself, and write it as a manifest without a name.

    The server is a URL, 'stdio:COMMAND ARG...', or a command after --. It is looked at in each protocol
    revision that it speaks, without and with client capabilities, in fresh processes. Definitions that are
    not the same every time are named, with the words that moved, and nothing is written then.

    Exit code 0: written. 1: unstable. 3: the server could not be inspected. 4: its answers cannot be used.
    """
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_verifier.capture import capture
    from toolnotary_verifier.files import expect_writable, replace_file

    if out == Path("-"):
        raise click.UsageError("-o expects the name of a file: standard output tells the result")
    expect_writable(out)
    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    limits = rules.limits._replace(
        first_start_seconds=start_timeout or rules.limits.first_start_seconds,
        listing_seconds=timeout or rules.limits.listing_seconds,
    )
    asked = _source(source, argv, headers=headers, ca_file=ca_file, handed=frozenset(handed))
    found = capture(asked, looks=looks, limits=limits, progress=output.note)
    manifest = None
    if accept_unstable or not found.unstable:
        manifest = found.manifest(limits=limits)
        replace_file(out, manifest.canonical)
    for note in found.notes:
        output.note(f"note: {note}")
    output.result(_document(found, manifest, out), _lines(found, manifest, out))
    return exits.OBJECTION if manifest is None else exits.FINE


def _source(
    text: str | None,
    argv: tuple[str, ...],
    *,
    headers: tuple[str, ...],
    ca_file: Path | None,
    handed: frozenset[str],
) -> "Source":
    from toolnotary_cli.source import Command, Url, one
    from toolnotary_verifier.capture import CommandSource, UrlSource
    from toolnotary_verifier.errors import ConfigurationError

    given = one(text, argv, expected=_EXPECTED)
    if isinstance(given, Command):
        if headers or ca_file:
            raise click.UsageError("--header and --ca-file are for a URL, not for a command")
        for name in sorted(handed):
            variable("--env", name)
        return CommandSource(argv=given.argv, handed=handed, contained=True)
    if isinstance(given, Url):
        if handed:
            raise click.UsageError("--env is for a command, not for a URL")
        return UrlSource(url=given.url, headers=headers_of(headers), ca_file=ca_file)
    raise ConfigurationError("source", "only a live server can be captured", remedy=_EXPECTED)


def _document(found: "Capture", manifest: "UnnamedManifest | None", out: Path) -> "JsonObject":
    return {
        "schema": "https://toolnotary.dev/output/capture/v1",
        "file": None if manifest is None else str(out),
        "digest": None if manifest is None else manifest.digest,
        "profiles": {
            name: {
                "protocolVersion": about.protocol_version,
                "clientCapabilities": list(about.client_capabilities),
                "looks": len(surfaces),
                "definitions": _count(surfaces),
            }
            for name, (about, surfaces) in found.profiles.items()
        },
        "unstable": [_unstable(unstable) for unstable in found.unstable],
        "artifacts": [artifact.to_json() for artifact in found.artifacts],
        "remotes": list(found.remotes),
        "notes": list(found.notes),
    }


def _unstable(unstable: "Unstable") -> "JsonObject":
    return {
        "profile": unstable.profile,
        "kind": unstable.kind,
        "name": unstable.name,
        "variants": len(unstable.variants),
        "comesAndGoes": unstable.comes_and_goes,
        "moves": [
            {"place": move.place, "before": move.before, "after": move.after, "reordered": move.is_reordered}
            for move in unstable.moves
        ],
    }


def _count(looks: "Sequence[Surface]") -> int:
    """How many names the looks show together."""
    return len({key for surface in looks for key in surface.definitions})


def _lines(found: "Capture", manifest: "UnnamedManifest | None", out: Path) -> Iterator[str]:
    if manifest is None:
        differ = counted(len(found.unstable), "definition differs", "definitions differ")
        yield f"{styled('unstable', 'bad')}  nothing written: {differ} between looks"
    else:
        yield f"{styled('captured', 'good')}  {shown(str(out), limit=None)}"
        yield f"digest    {manifest.digest}"
    for name, (about, surfaces) in found.profiles.items():
        told = f"{counted(_count(surfaces), 'definition')}, {counted(len(surfaces), 'look')}"
        yield f"profile   {name}: revision {about.protocol_version}, {told}"
    for artifact in found.artifacts:
        yield f"artifact  {shown(artifact.purl)}{f' {artifact.digest}' if artifact.digest else ''}"
    for remote in found.remotes:
        yield f"remote    {shown(remote)}"
    for unstable in found.unstable:
        yield f"unstable  {called(unstable.kind, unstable.name)}, profile {unstable.profile}"
        if unstable.comes_and_goes:
            yield "          some looks do not have it"
        for move in unstable.moves:
            yield f"          {move}"
    if manifest is None:
        yield "          let it say the same every time, or write all variants with --accept-unstable"
