# SPDX-License-Identifier: Apache-2.0
"""`toolnotary break-glass`: let what is withheld pass for a while, with a reason and without moving a pin."""

from pathlib import Path

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output
from toolnotary_cli.trailing import TrailingCommand


@click.command(cls=TrailingCommand)
@click.argument("server", type=options.SERVER, shell_complete=completion.servers)
@click.option(
    "--reason", required=True, metavar="TEXT", help="Why; it is recorded, and told wherever it counts."
)
@click.option(
    "--for",
    "lasting",
    default="1h",
    show_default=True,
    metavar="TIME",
    help="How long: 90s, 30m, 2h; at most 24h, or what the policy says.",
)
@click.option(
    "--tool",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only this tool, prompt or resource; may be repeated.",
)
@click.option(
    "--seen", is_flag=True, help="Go by what a guarded connection was shown last, and start nothing."
)
@click.option("--start", is_flag=True, help="Start the command that the lockfile records without asking.")
@options.lockfile
@options.policy
@options.registry
@options.offline
@options.output
def command(
    *,
    server: str,
    argv: tuple[str, ...],
    reason: str,
    lasting: str,
    names: tuple[str, ...],
    seen: bool,
    start: bool,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Let what SERVER shows and is not pinned pass until a moment, after you say yes.

    For an emergency: no pin moves, and when the time is over it is withheld again, also in a proxy that
    runs. Exactly the definitions that you are shown pass, and no other ones. What is not what it claims to be
    (invalid, ambiguous, identity, revoked, signer-changed, rollback, mixed) stays withheld, and so does a
    server of which nothing is pinned. The answer is read from your terminal and from nowhere else.
    `revoke SERVER --override` ends it before.

    Exit code 0: it passes. 1: declined, or it cannot be.
    """
    from functools import partial

    from toolnotary_cli import source as sources
    from toolnotary_cli.approving import check_command
    from toolnotary_cli.asking import AtTerminal
    from toolnotary_cli.breaking import Breaking, Terms, seconds_of
    from toolnotary_cli.opening import open_project, tell_unaccepted

    if seen and (argv or start):
        raise click.UsageError("--seen goes by what was seen: give no command beside it, and no --start")
    reopen = partial(open_project, lockfile=lockfile, policy=policy, server=server)
    project = reopen()
    tell_unaccepted(project.policy, output)
    asker = AtTerminal(check_command(server), or_page=False)
    terms = Terms(reason, seconds_of(lasting, project.policy), names)
    breaking = Breaking(project, server, output, asker=asker, reopen=reopen, terms=terms)
    breaking.allow()
    if seen:
        return breaking.seen(registry=registry, offline=offline)
    given = sources.one(None, argv, deciding=True) if argv else None
    return breaking.live(given, start=start, registry=registry, offline=offline)
