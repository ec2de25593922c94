# SPDX-License-Identifier: Apache-2.0
"""`toolnotary approve`: a person looks at what changed in a pinned server, and accepts or declines it."""

from pathlib import Path

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output
from toolnotary_cli.trailing import TrailingCommand


@click.command(cls=TrailingCommand)
@click.argument("server", type=options.SERVER, shell_complete=completion.servers)
@click.argument("source", required=False, shell_complete=completion.files)
@click.option(
    "--digest", metavar="CHANGESET", help="Refuse anything but this set of changes, as check or run told it."
)
@click.option(
    "--seen",
    is_flag=True,
    help="Review what a guarded connection of your host was shown last, and start nothing.",
)
@click.option("--page", is_flag=True, help="Ask on a page in a browser on this machine, not in the terminal.")
@click.option(
    "--no-open", is_flag=True, help="Open no browser for --page: its URL is told on standard error."
)
@click.option(
    "--wait",
    type=click.IntRange(1, 86400),
    metavar="SECONDS",
    help="How long --page waits for an answer; 600 if left out.",
)
@click.option("--start", is_flag=True, help="Start the command that the lockfile records without asking.")
@click.option("--no-texts", is_flag=True, help="Keep the definitions' texts out of the lockfile's folder.")
@options.lockfile
@options.policy
@options.registry
@options.offline
@options.output
def command(
    *,
    server: str,
    source: str | None,
    argv: tuple[str, ...],
    digest: str | None,
    seen: bool,
    page: bool,
    no_open: bool,
    wait: int | None,
    start: bool,
    no_texts: bool,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Show what SERVER shows now and is not pinned, and pin exactly that once you say yes.

    The server is started as the lockfile records it, after you agreed to the line; or give a command after
    --, a URL, or a saved listing. With NAME@VERSION nothing is started: the pin moves to that version of the
    registry. The answer is read from your terminal and from nowhere else; or, with --page, from a page that
    opens in your browser and is served by this command alone, until you answered.

    Exit code 0: accepted. 1: declined, not answered in time, or it cannot be accepted.
    """
    from functools import partial

    from toolnotary_cli import source as sources
    from toolnotary_cli.approving import Approving, check_command
    from toolnotary_cli.asking import Asker, AtTerminal
    from toolnotary_cli.opening import open_project, tell_file_too, tell_unaccepted

    given = sources.one(source, argv, deciding=True) if source is not None or argv else None
    if seen and (given is not None or start):
        raise click.UsageError("--seen reviews what was seen: give no source beside it, and no --start")
    if not page and (no_open or wait is not None):
        raise click.UsageError("--no-open and --wait say how --page asks: give that too")
    reopen = partial(open_project, lockfile=lockfile, policy=policy, server=server)
    project = reopen()
    tell_unaccepted(project.policy, output)

    def decide(asker: Asker) -> int:
        approving = Approving(
            project, server, output, asker=asker, reopen=reopen, digest=digest, texts=not no_texts
        )
        if seen:
            return approving.seen(registry=registry, offline=offline)
        if source is not None and isinstance(given, sources.Published):
            tell_file_too(source, output)
            return approving.version(given, registry=registry, offline=offline)
        return approving.live(given, start=start, registry=registry, offline=offline)

    if not page:
        return decide(AtTerminal(check_command(server), or_page=True))
    from toolnotary_cli.page.review import WAIT, ReviewPage

    with ReviewPage(output, wait=wait or WAIT, opens=not no_open) as asker:
        return decide(asker)
