# SPDX-License-Identifier: Apache-2.0
"""`toolnotary run`: a server behind the gate. A host starts it in place of the server."""

from pathlib import Path

import click

from toolnotary_cli import extras, options
from toolnotary_cli.trailing import TrailingCommand


@click.command(cls=TrailingCommand)
@click.option(
    "--server",
    metavar="NAME",
    type=options.SERVER,
    help="The name that the server is pinned under; else its launch decides.",
)
@click.option(
    "--url", metavar="URL", help="Reach a server over HTTP (Streamable HTTP), in place of a command."
)
@options.header
@options.ca_file
@options.lockfile
@options.policy
@options.registry
@options.offline
def command(
    *,
    argv: tuple[str, ...],
    server: str | None,
    url: str | None,
    headers: tuple[str, ...],
    ca_file: Path | None,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
) -> int:
    """Start a server, or reach one over HTTP, and let only pinned definitions through.

    Speaks MCP over standard input and output with the host, and with a server that it starts; everything that
    is no listing and no call passes byte for byte. With --url it is a bridge to a server that speaks HTTP,
    for hosts that only start commands. Definitions that are not as pinned are withheld, calls to them are
    refused, and standard error says which and how to review them. Pins and policy come from --lockfile and
    --policy, their variables, or your personal files, never from the working directory. What becomes stricter
    while the server runs counts within two seconds, and so does what you accept; what else becomes looser
    counts from the next start on.

    Where something shows that nobody pinned, and a registry is named, it is asked in the background for a
    version that holds it. What a signer of your policy signed is pinned at first sight; a newer version waits
    for you: toolnotary approve.

    Exit code: that of the server; with --url, 0 once the host has gone. 1: it is not the pinned launch or
    URL, and was not started or reached. 3: it cannot be started or reached.
    """
    if url is not None:
        if argv:
            raise click.UsageError("got --url and a command behind --: a host is led to one server")
        with extras.needs("gateway"):
            from toolnotary_cli.bridging import bridge
        from toolnotary_verifier.guard import Settings

        settings = Settings(server, lockfile, policy, registry, offline)
        return bridge(url, headers=headers, ca_file=ca_file, settings=settings)
    if headers or ca_file is not None:
        raise click.UsageError("--header and --ca-file are for a server that is reached with --url")
    if not argv:
        raise click.UsageError("say which server to start, behind --, or to reach, with --url")
    from toolnotary_verifier.watcher import watched

    def work(lifeline: int | None) -> int:
        from toolnotary_cli.guarding import guard
        from toolnotary_verifier.guard import Settings

        return guard(argv, Settings(server, lockfile, policy, registry, offline), lifeline=lifeline)

    return watched(work)
