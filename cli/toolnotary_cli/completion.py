# SPDX-License-Identifier: Apache-2.0
"""What a shell offers behind TAB: files where a SOURCE is asked for, pinned servers where a SERVER is.

A lockfile may lie in somebody else's repository, and what is offered lands on the person's command line: only
names that no shell takes for more than a word are offered.
"""

import re
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_PLAIN: Final = r"[A-Za-z0-9][A-Za-z0-9._/@+-]{0,199}"


def files(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Files, which is what a SOURCE mostly is; the shell itself lists them."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def servers(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The servers that the lockfile in force pins; none where it cannot be read, and nothing is said then."""
    from click.shell_completion import CompletionItem

    from toolnotary_cli import places
    from toolnotary_verifier.errors import ToolnotaryError
    from toolnotary_verifier.lockfile import Lockfile

    try:
        entries = Lockfile.load(places.lockfile(ctx.params.get("lockfile"))).entries
    except (ToolnotaryError, OSError):
        return []
    names = sorted({entry.server for entry in entries if re.fullmatch(_PLAIN, entry.server)})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def hosts(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The hosts whose files are known."""
    from click.shell_completion import CompletionItem

    from toolnotary_cli.hosts.table import HOSTS

    return [CompletionItem(name) for name in HOSTS if name.startswith(incomplete)]
