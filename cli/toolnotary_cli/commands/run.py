# SPDX-License-Identifier: Apache-2.0
"""`toolnotary run`: a server behind the gate. A host starts it in place of the server."""

from pathlib import Path

import click

from toolnotary_cli import options
from toolnotary_cli.trailing import TrailingCommand


@click.command(cls=TrailingCommand)
@click.option(
    "--server",
    metavar="NAME",
    type=options.SERVER,
    help="The name that the server is pinned under; else its launch decides.",
)
@options.lockfile
@options.policy
@options.registry
@options.offline
def command(
    *,
    argv: tuple[str, ...],
    server: str | None,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
) -> int:
    """Start a server and let only pinned definitions through.

    Speaks MCP over standard input and output on both sides; everything that is no listing and no call passes
    byte for byte. Definitions that are not as pinned are withheld, calls to them are refused, and standard
    error says which and how to review them. Pins and policy come from --lockfile and --policy, their
    variables, or your personal files, never from the working directory. What becomes stricter while the
    server runs counts within two seconds, and so does what you accept; what else becomes looser counts from
    the next start on.

    Where something shows that nobody pinned, and a registry is named, it is asked in the background for a
    version that holds it. What a signer of your policy signed is pinned at first sight; a newer version waits
    for you: toolnotary approve.

    Exit code: that of the server. 1: its launch is not the pinned one, and it was not started. 3: it cannot
    be started.
    """
    from toolnotary_verifier.watcher import watched

    if not argv:
        raise click.UsageError("say which server to start, behind --")

    def work(lifeline: int | None) -> int:
        from toolnotary_cli.guarding import guard

        return guard(
            argv,
            server=server,
            lockfile=lockfile,
            policy=policy,
            registry=registry,
            offline=offline,
            lifeline=lifeline,
        )

    return watched(work)
