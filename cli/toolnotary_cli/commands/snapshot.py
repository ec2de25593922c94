# SPDX-License-Identifier: Apache-2.0
"""`toolnotary snapshot`: what a server says of itself, kept beside its code and checked in its tests."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from toolnotary_cli import completion, exits, options
from toolnotary_cli.output import shown, styled
from toolnotary_cli.reporting import Result
from toolnotary_cli.trailing import TrailingCommand
from toolnotary_cli.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolnotary_cli.comparison import Comparison
    from toolnotary_cli.rendering.report import Report
    from toolnotary_cli.reporting import Reporting, Screen
    from toolnotary_cli.source import Source

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
@options.screened
def command(
    *,
    source: str | None,
    argv: tuple[str, ...],
    out: Path,
    check: bool,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: "Reporting",
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
    written = None if check else content(surface)
    comparison = None if kept is None else compare(kept, now)
    if written is not None:
        replace_file(out, written)
    told = _Told(out, len(surface.definitions), comparison, accept if check else None)
    output.tell(told.result((sources.Saved((out,)),)))
    return exits.OBJECTION if check and comparison is not None and comparison.differs else exits.FINE


class _Told(NamedTuple):
    """What the command tells.

    Attributes:
        file: the file.
        definitions: how many the server shows.
        comparison: with the file as it was; None where there was none.
        accept: the command that accepts what differs; None where it was written.
    """

    file: Path
    definitions: int
    comparison: "Comparison | None"
    accept: str | None

    def result(self, sources: "Sequence[Source]") -> "Result":
        """The same in every form, pointed to by the file."""
        from toolnotary_cli.rendering.comparisons import result

        drawn = None if self.comparison is None else result(self.comparison, sources, command="snapshot")

        def document() -> dict[str, object]:
            return {
                "schema": SCHEMA,
                "file": str(self.file),
                "written": self.accept is None,
                "definitions": self.definitions,
                "difference": None if drawn is None else drawn.document(),
            }

        def lines(screen: "Screen") -> "Iterator[str]":
            if drawn is not None:
                yield from drawn.lines(screen)
            yield from self._ending()

        def report() -> "Report":
            from toolnotary_cli.rendering.report import Report

            if drawn is not None:
                return drawn.report()
            return Report(command="snapshot", headline=f"written: {self._file}", is_fine=True, items=())

        return Result(document, lines, report)

    @property
    def _file(self) -> str:
        return shown(str(self.file), limit=None)

    def _ending(self) -> "Iterator[str]":
        if self.accept is None:
            yield f"{styled('written', 'good')}: {self._file}, {counted(self.definitions, 'definition')}"
        elif self.comparison is not None and self.comparison.differs:
            yield f"to accept it: {self.accept}"
