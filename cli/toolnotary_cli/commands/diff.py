# SPDX-License-Identifier: Apache-2.0
"""`toolnotary diff`: what changed between two surfaces. No trust is involved."""

from pathlib import Path

import click

from toolnotary_cli import exits, options
from toolnotary_cli.output import Output


@click.command()
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
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
    from toolnotary_cli.registries import registry_url
    from toolnotary_cli.source import Published, parse
    from toolnotary_cli.subject import load

    sources = parse(old), parse(new)
    asks = policy is not None or any(isinstance(source, Published) for source in sources)
    url = registry_url(registry, policy=policy) if asks else None
    before, after = (load(source, registry=url, offline=offline) for source in sources)
    comparison = compare(before, after)
    output.result(document(comparison), lines(comparison))
    return exits.OBJECTION if comparison.differs else exits.FINE
