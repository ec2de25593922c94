# SPDX-License-Identifier: Apache-2.0
"""`toolnotary history`: the versions of a server in a registry, their sizes, and what each changed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolnotary_cli import options
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.wording import counted

if TYPE_CHECKING:
    from toolnotary_cli.versions import Version

SCHEMA: Final = "https://toolnotary.dev/output/history/v1"
_COLUMNS: Final = ("version", "sequence", "tools", "bytes", "~tokens", "changes")


@click.command()
@click.argument("server", metavar="NAME")
@click.option(
    "--last",
    type=click.IntRange(min=1, max=1000),
    default=20,
    show_default=True,
    help="How many versions, newest first.",
)
@options.registry
@options.policy
@options.offline
@options.output
def command(
    *, server: str, last: int, registry: str | None, policy: Path | None, offline: bool, output: Output
) -> int | None:
    """List the versions of the server NAME in a registry, with what changed in each.

    The size is that of what a host hands to a model: tools and instructions, in tools, bytes of their
    canonical form and estimated tokens (a quarter of the bytes). No trust is involved: `verify` judges the
    signature of a version, and `diff NAME@OLD NAME@NEW` shows a change in full.
    """
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_cli.registries import registry as named_registry
    from toolnotary_cli.versions import versions

    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    client = named_registry(registry, rules=rules, offline=offline)
    found = versions(client, server, last=last, limits=rules.limits)
    output.result(_document(server, client.url, found), _lines(server, found))
    return None


def _document(server: str, url: str, found: "Sequence[Version]") -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "server": server,
        "registry": url,
        "versions": [
            {
                "version": one.published.version,
                "sequence": one.published.sequence,
                "manifest": one.published.manifest,
                "signer": one.published.signer,
                "signedByAnother": one.is_signed_by_another,
                "tools": one.size.tools,
                "bytes": one.size.bytes,
                "tokens": one.size.tokens,
                "changes": None if one.comparison is None else one.comparison.counts,
                "risk": None if one.comparison is None else one.comparison.risk.value,
            }
            for one in found
        ],
    }


def _lines(server: str, found: "Sequence[Version]") -> Iterator[str]:
    yield f"{shown(server)}: {counted(len(found), 'version')}, newest first"
    rows = [_COLUMNS, *map(_row, found)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_COLUMNS))]
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if at in (0, len(row) - 1) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(cells).rstrip()
        yield line if number else styled(line, "strong")
        if number and found[number - 1].is_signed_by_another:
            yield f"  {styled('signed by another identity', 'bad')} than the version before it"
    yield styled("tokens are estimated: a quarter of the bytes of tools and instructions", "dim")


def _row(one: "Version") -> tuple[str, ...]:
    from toolnotary_cli.comparison import told_counts

    size = one.size
    found = one.comparison
    told = "the first one" if found is None else told_counts(found) or "none"
    told += f", risk {found.risk}" if found is not None and found.differs else ""
    version = shown(one.published.version, limit=40)
    numbers = (one.published.sequence, size.tools, size.bytes, size.tokens)
    return (version, *map(str, numbers), told)
