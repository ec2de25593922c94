# SPDX-License-Identifier: Apache-2.0
"""`toolnotary scan`: the servers of the hosts on this machine, each in exactly one state."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output

if TYPE_CHECKING:
    from toolnotary_cli.scan.survey import Pinning, Survey


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), shell_complete=completion.files)
@options.host
@click.option(
    "--start", is_flag=True, help="Start and reach the servers, as their hosts would; each is shown first."
)
@click.option(
    "--strict", is_flag=True, help="Object to every finding, not only to what leaves tools unchecked."
)
@options.lockfile
@options.policy
@options.offline
@options.output
def command(
    *,
    files: tuple[Path, ...],
    host: tuple[str, ...],
    start: bool,
    strict: bool,
    lockfile: Path | None,
    policy: Path | None,
    offline: bool,
    output: Output,
) -> int:
    """Find the servers that hosts on this machine are configured to use, and say in which state each is.

    The files of all hosts are looked for, or those that --host names; with FILES, those alone are read. Each
    server is verified, drift, unpinned or not-inspected, by what `run`, `lock` and `approve` recorded of it;
    an entry that `wrap` made is seen through. Nothing is written, and nothing started or reached but with
    --start.

    Told too: what a host starts without toolnotary in between, versions that move, secrets in plain text (by
    the name of their key), one server configured twice, and tools of several servers whose names are the
    same, or alike.

    Exit code 0: nothing to object to. 1: a server drifted, is not pinned, is not what is pinned, or is
    started unguarded; with --strict any finding. 3: a server or a file could not be inspected. Servers that
    are disabled in their host count for nothing.
    """
    from toolnotary_cli.scan.report import document, lines
    from toolnotary_cli.scan.survey import Pinning, compare_again, survey

    pinning = Pinning(lockfile, policy)
    found = survey(files, host, pinning)
    if start:
        _look(found, pinning, offline=offline, output=output)
        compare_again(found)
    output.result(document(found), list(lines(found)))
    return found.exit_code(is_strict=strict)


def _look(found: "Survey", pinning: "Pinning", *, offline: bool, output: Output) -> None:
    """Show every line that is started or reached, and then do it."""
    from toolnotary_cli.scan.state import look_at
    from toolnotary_cli.scan.survey import called
    from toolnotary_verifier.errors import CannotTell

    wanted = [one for one in found.servers if one.is_startable]
    for one in wanted:
        if one.launch is not None:
            output.note(f"{'starting' if one.url is None else 'asking'} {called(one)}: {one.launch.display}")
    for one in wanted:
        if one.url is not None and offline:
            one.fail(CannotTell("offline", "a URL cannot be asked offline", remedy="leave --offline out"))
        else:
            look_at(one, pinning)
