# SPDX-License-Identifier: Apache-2.0
"""`toolnotary snapshot`: what a server says of itself, kept beside its code and checked in its tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolnotary_cli import completion, exits, options
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.trailing import TrailingCommand
from toolnotary_cli.wording import counted

if TYPE_CHECKING:
    from toolnotary_cli.comparison import Comparison
    from toolnotary_cli.source import Source
    from toolnotary_verifier.surface import Surface

SCHEMA: Final = "https://toolnotary.dev/output/snapshot/v1"
DEFAULT: Final = "toolnotary.surface.json"
_EXPECTED: Final = "give a command behind --, a URL, or a file (- for standard input)"


@click.command(cls=TrailingCommand)
@click.argument("source", required=False, shell_complete=completion.files)
@click.option(
    "-o",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The file that is kept beside the code.",
)
@click.option(
    "--check", is_flag=True, help="Compare with FILE and write nothing: for the server's own tests."
)
@options.policy
@options.registry
@options.offline
@options.output
def command(
    *,
    source: str | None,
    argv: tuple[str, ...],
    out: Path,
    check: bool,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Keep what a server says of itself in a file beside its code, for whoever makes the server.

    The server is a command after --, a URL, or anything else that `diff` takes. FILE is laid out for review
    and is a source like any other. With --check nothing is written: the server is compared with FILE, and the
    command that accepts what changed is told.

    Exit code 0: written, or equal. 1: --check found a difference. 2: there is no FILE to compare with. 3: the
    server could not be inspected. 4: its answers, or FILE, are not valid.
    """
    from toolnotary_cli import source as sources
    from toolnotary_cli.comparison import compare
    from toolnotary_cli.loading import load
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_cli.snapshots import accepting, content
    from toolnotary_verifier.errors import ConfigurationError
    from toolnotary_verifier.files import expect_writable, replace_file

    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    given = sources.one(source, argv, expected=_EXPECTED)
    accept = accepting(str(out), given, default=DEFAULT)
    kept = None
    if out.is_file():
        kept = load(sources.Saved((out,)), limits=rules.limits)
    elif check:
        message = f"there is no {shown(str(out))} to compare with"
        raise ConfigurationError("snapshot-missing", message, remedy=f"make it: {accept}")
    if not check:
        expect_writable(out)
    now = load(given, registry=registry or rules.registry_url, offline=offline, limits=rules.limits)
    surface = now.one()
    _refuse_secrets(given, surface)
    written = None if check else content(surface)
    comparison = None if kept is None else compare(kept, now)
    if written is not None:
        replace_file(out, written)
    output.result(
        _document(out, surface, comparison, is_written=not check),
        _lines(out, surface, comparison, accept=accept if check else None),
    )
    return exits.OBJECTION if check and comparison is not None and comparison.differs else exits.FINE


def _refuse_secrets(source: "Source", surface: "Surface") -> None:
    """What repeats a secret of the server's start ends neither in a file nor in a log."""
    from toolnotary_cli.looking import refuse_secrets

    refuse_secrets(source, surface)


def _document(
    out: Path, surface: "Surface", comparison: "Comparison | None", *, is_written: bool
) -> dict[str, object]:
    from toolnotary_cli.comparison import document

    return {
        "schema": SCHEMA,
        "file": str(out),
        "written": is_written,
        "definitions": len(surface.definitions),
        "difference": None if comparison is None else document(comparison),
    }


def _lines(
    out: Path, surface: "Surface", comparison: "Comparison | None", *, accept: str | None
) -> Iterator[str]:
    from toolnotary_cli.comparison import lines

    if comparison is not None:
        yield from lines(comparison)
    if accept is None:
        told = counted(len(surface.definitions), "definition")
        yield f"{styled('written', 'good')}: {shown(str(out), limit=None)}, {told}"
    elif comparison is not None and comparison.differs:
        yield f"to accept it: {accept}"
