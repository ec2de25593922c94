# SPDX-License-Identifier: Apache-2.0
"""`toolnotary diff`: what changed between two surfaces. No trust is involved."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import completion, exits, options

if TYPE_CHECKING:
    from toolnotary_cli.comparison import Comparison
    from toolnotary_cli.reporting import Reporting


@click.command()
@click.argument("old", metavar="A", shell_complete=completion.files)
@click.argument("new", metavar="B", shell_complete=completion.files)
@options.registry
@options.policy
@options.offline
@options.fail_on
@options.screened
def command(
    *,
    old: str,
    new: str,
    registry: str | None,
    policy: Path | None,
    offline: bool,
    fail_on: str,
    output: "Reporting",
) -> int:
    """Show what changed from surface A to surface B.

    A and B are sources: a file (a JSON-RPC response, {"tools": []}, an array of tools or of pages, a
    manifest), several files that belong together joined with +, MANIFEST#PROFILE, LOCKFILE#SERVER, - for
    standard input, a URL, a command such as 'stdio:npx -y x', or NAME@VERSION in a registry. Two profiles of
    one manifest are compared as 'FILE#default' 'FILE#capable'.

    The worst comes first, and text on a terminal fits one screen (--all shows everything).

    Exit code 0: every definition is equal, or differs less than --fail-on says. 1: something differs, or
    cannot be read and so cannot be equal.
    """
    from toolnotary_cli.comparison import compare
    from toolnotary_cli.loading import load
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_cli.rendering.comparisons import result
    from toolnotary_cli.source import parse

    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    url = registry or rules.registry_url
    sources = parse(old), parse(new)
    before, after = (load(source, registry=url, offline=offline, limits=rules.limits) for source in sources)
    comparison = compare(before, after)
    output.tell(result(comparison, (sources[1], sources[0])))
    return exits.OBJECTION if _objects(comparison, fail_on) else exits.FINE


def _objects(comparison: "Comparison", fail_on: str) -> bool:
    """Whether anything differs of the class that was asked about; what cannot be compared has none."""
    if fail_on == "any" or not comparison.differs:
        return comparison.differs
    from toolnotary_cli.rendering.comparisons import report
    from toolnotary_cli.rendering.report import Location, fails
    from toolnotary_verifier.review import Risk

    return fails(report(comparison, lambda _: Location("")).items, Risk(fail_on))
