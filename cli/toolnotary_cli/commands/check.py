# SPDX-License-Identifier: Apache-2.0
"""`toolnotary check`: servers against the lockfile. It writes nothing, and starts what it was told to."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolnotary_cli import completion, options
from toolnotary_cli.reporting import Result
from toolnotary_cli.trailing import TrailingCommand

if TYPE_CHECKING:
    from toolnotary_cli.rendering.report import Report
    from toolnotary_cli.reporting import Reporting
    from toolnotary_cli.verdicts import Row
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.review.shadowing import Shadow

_EXPECTED: Final = "give a saved listing, a URL or a command behind --; --server NAME names a pinned server"


@click.command(cls=TrailingCommand)
@click.argument("source", required=False, shell_complete=completion.files)
@click.option(
    "--server",
    metavar="NAME",
    type=options.SERVER,
    shell_complete=completion.servers,
    help="Check this server only.",
)
@click.option(
    "--start", is_flag=True, help="Start the commands that the lockfile records; they are shown first."
)
@click.option(
    "--accept-project",
    is_flag=True,
    help="For this run, count what the project's files say as accepted: their review is the acceptance (CI).",
)
@options.lockfile
@options.policy
@options.registry
@options.offline
@options.fail_on
@options.reporting
def command(
    *,
    source: str | None,
    argv: tuple[str, ...],
    server: str | None,
    start: bool,
    accept_project: bool,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    fail_on: str,
    output: "Reporting",
) -> int:
    """Judge what servers show by what is pinned.

    With a SOURCE (a saved listing or a URL) or a command after --, the one server that it belongs to;
    otherwise every server of the lockfile, or the one that --server names. Each is in exactly one state:
    verified, drift, unpinned or not-inspected.

    Exit code 0: all verified, or what differs is less than --fail-on says. 1: something is not as pinned. 3:
    a server could not be inspected. 4: a file is not valid.
    """
    from toolnotary_cli import source as sources
    from toolnotary_cli.checking import Look
    from toolnotary_cli.opening import open_project, tell_unaccepted
    from toolnotary_cli.verdicts import exit_code

    project = open_project(lockfile=lockfile, policy=policy, server=server, accept_project=accept_project)
    tell_unaccepted(project.policy, output)
    is_reviewed = output.is_drawn or fail_on != "any"
    look = Look(project, registry=registry, offline=offline, output=output, is_reviewed=is_reviewed)
    if source is not None or argv:
        rows = [look.at(sources.one(source, argv, expected=_EXPECTED), server)]
    else:
        rows = look.at_entries(server, start=start)
    look.tell_unrecorded()
    found = look.shadows(server if source is None and not argv else rows[0].server)
    output.tell(_result(rows, project, found))
    return exit_code(rows) if fail_on == "any" else _graded(rows, fail_on)


def _result(rows: "Sequence[Row]", project: "Project", found: "Sequence[Shadow]") -> "Result":
    from toolnotary_cli.checked import document, lines

    def report() -> "Report":
        from toolnotary_cli.rendering.checks import report
        from toolnotary_cli.rendering.locations import of_entries

        return report(rows, found, lambda server: of_entries(project, server))

    return Result(lambda: document(rows, found), lambda _: lines(rows, project, found), report)


def _graded(rows: "Sequence[Row]", fail_on: str) -> int:
    """The exit code where changes below a class are not objected to; what was not inspected is as ever."""
    from toolnotary_cli import exits
    from toolnotary_cli.rendering.checks import items
    from toolnotary_cli.rendering.report import Location, fails
    from toolnotary_cli.verdicts import worst
    from toolnotary_verifier.review import Risk

    def graded(row: "Row") -> int:
        if row.judgement is None:
            return row.exit_code
        found = items(row, lambda _: Location(""))
        return exits.OBJECTION if fails(found, Risk(fail_on)) else exits.FINE

    return worst(map(graded, rows))
