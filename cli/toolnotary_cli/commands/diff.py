# SPDX-License-Identifier: Apache-2.0
"""`toolnotary diff`: what changed between two surfaces. No trust is involved."""

from pathlib import Path

import click

from toolnotary_cli import completion, exits, options
from toolnotary_cli.output import Output


@click.command()
@click.argument("old", metavar="A", shell_complete=completion.files)
@click.argument("new", metavar="B", shell_complete=completion.files)
@options.registry
@options.policy
@options.offline
@options.output
def command(
    *, old: str, new: str, registry: str | None, policy: Path | None, offline: bool, output: Output
) -> int:
    """Show what changed from surface A to surface B.

    A and B are sources: a file (a JSON-RPC response, {"tools": []}, an array of tools or of pages, a
    manifest), several files that belong together joined with +, MANIFEST#PROFILE, LOCKFILE#SERVER, - for
    standard input, a URL, a command such as 'stdio:npx -y x', or NAME@VERSION in a registry. Two profiles of
    one manifest are compared as 'FILE#default' 'FILE#capable'.

    Exit code 0: every definition is equal. 1: something differs, or cannot be read and so cannot be equal.
    """
    from toolnotary_cli.comparison import compare, document, lines
    from toolnotary_cli.loading import load
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_cli.source import parse

    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    url = registry or rules.registry_url
    before, after = (
        load(source, registry=url, offline=offline, limits=rules.limits)
        for source in (parse(old), parse(new))
    )
    comparison = compare(before, after)
    output.result(document(comparison), lines(comparison))
    return exits.OBJECTION if comparison.differs else exits.FINE
