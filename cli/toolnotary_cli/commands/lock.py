# SPDX-License-Identifier: Apache-2.0
"""`toolnotary lock`: pin a server, to a version that its publisher signed or to what it shows now."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output
from toolnotary_cli.trailing import TrailingCommand

if TYPE_CHECKING:
    from toolnotary_cli.source import Source

_EXPECTED = (
    "a published version is written NAME@VERSION; to pin what a server shows, say its name with --server and "
    "put its command behind --"
)
_NAMELESS = (
    "say what to pin: NAME@VERSION for a published version, or --server NAME (what a server calls itself is "
    "no name)"
)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=TrailingCommand)
@click.argument("source", required=False, shell_complete=completion.files)
@click.option(
    "--server",
    metavar="NAME",
    type=options.SERVER,
    help="The name to pin it under; a published version has its own.",
)
@click.option("--url", metavar="URL", help="Where a published version is reached, in place of a command.")
@click.option(
    "--profile", "profiles", metavar="NAME", multiple=True, help="Accept this profile only (repeatable)."
)
@click.option(
    "--key", metavar="PUB", type=_FILE, help="Public key that signs for this server, from now on; asks first."
)
@click.option("--digest", metavar="CHANGESET", help="Refuse anything but this change set.")
@click.option(
    "--yes",
    is_flag=True,
    help="Ask nobody; only for what a signer that your policy names has signed, at first contact or again as "
    "accepted last.",
)
@click.option(
    "--accept-project",
    is_flag=True,
    help="Accept what the project's policy grants or loosens; asks, and pins nothing.",
)
@click.option("--no-texts", is_flag=True, help="Keep the definitions' texts out of the lockfile's folder.")
@options.lockfile
@options.policy
@options.registry
@options.offline
@options.output
def command(
    *,
    source: str | None,
    argv: tuple[str, ...],
    server: str | None,
    url: str | None,
    profiles: tuple[str, ...],
    key: Path | None,
    digest: str | None,
    yes: bool,
    accept_project: bool,
    no_texts: bool,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Pin a server. Pins are added, never moved: that is what `approve` is for.

    \b
    lock NAME@VERSION -- COMMAND ARG...     a version from the registry, signed
    lock NAME@VERSION --url URL
    lock --server NAME -- COMMAND ARG...    what the server shows now, unsigned
    lock --server NAME URL
    lock --server NAME FILE -- COMMAND...   what a saved listing shows
    lock --accept-project                   what the project's policy grants or loosens

    What would be pinned is shown, and your terminal is asked. Afterwards the line is printed by which a host
    starts the server: `run`, led to this lockfile.

    Exit code 0: pinned. 1: declined, refused, or already pinned to something else.
    """  # noqa: D301 - click takes the backspace for "do not wrap"
    from toolnotary_cli import places
    from toolnotary_cli.adding import Adding
    from toolnotary_cli.locking import Locking
    from toolnotary_cli.loosening import accept_policy
    from toolnotary_cli.opening import open_project, tell_unaccepted
    from toolnotary_cli.source import Published

    project = open_project(lockfile=lockfile, policy=policy, new=True)
    if accept_project:
        if source is not None or argv or server is not None:
            raise click.UsageError("--accept-project stands alone: it pins nothing")
        return accept_policy(project, output)
    tell_unaccepted(project.policy, output)
    same = places.options(policy=policy, registry=registry)
    adding = Adding(project, output, yes=yes, digest=digest, texts=not no_texts, options=same)
    locking = Locking(project, adding, offline=offline)
    given = None if source is None else _given(source, output)
    if isinstance(given, Published):
        if server not in (None, given.server):
            raise click.UsageError(f"--server {server} is not the name in {source}")
        launched = _launched(url, argv)
        return locking.published(given, launched, registry=registry, profiles=profiles, key=key)
    if profiles or key is not None or url is not None:
        raise click.UsageError("--profile, --key and --url belong to a published version, NAME@VERSION")
    if server is None:
        raise click.UsageError(_NAMELESS)
    return locking.unsigned(server, given, argv)


def _given(source: str, output: Output) -> "Source":
    """What SOURCE is; a version that is meant is one, also where a file has its name, and that is told."""
    from toolnotary_cli import source as sources
    from toolnotary_cli.opening import tell_file_too

    given = sources.parse(source, expected=_EXPECTED, deciding=True)
    if isinstance(given, sources.Published):
        tell_file_too(source, output)
    return given


def _launched(url: str | None, argv: tuple[str, ...]) -> "Source | None":
    """How a published version is started or reached, None where nothing says so."""
    from toolnotary_cli import source as sources

    if url is not None and argv:
        raise click.UsageError("got --url and a command behind --: a pin is for one of them")
    if url is not None:
        return sources.Url(url)
    return sources.one(None, argv) if argv else None
