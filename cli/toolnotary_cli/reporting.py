# SPDX-License-Identifier: Apache-2.0
"""Output of commands whose result is a report: in six formats, to standard output and into files.

Loaded by commands alone that are asked for more than text or JSON, but for this door itself.
"""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

import click

from toolnotary_cli.output import Format, Output, json_for_log
from toolnotary_cli.telling import for_log
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from toolnotary_cli.rendering.report import Report

FORMATS: Final[tuple[Format, ...]] = get_args(Format)
_PLAIN: Final = ("text", "json")


class Screen(NamedTuple):
    """How much room there is.

    Attributes:
        columns: of a line; None where lines are not broken.
        lines: of the screen; None where there is no limit.
    """

    columns: int | None = None
    lines: int | None = None

    @classmethod
    def here(cls, *, is_whole: bool) -> "Screen":
        """That of the terminal on standard output; none where it goes elsewhere.

        Args:
            is_whole: whether more is shown than fits.
        """
        if not sys.stdout.isatty():
            return cls()
        import shutil

        size = shutil.get_terminal_size()
        return cls(size.columns, None if is_whole else size.lines)


class Result(NamedTuple):
    """One result in every form; nothing is made that no format asks for.

    Attributes:
        document: the result as plain JSON values.
        lines: the same for people, as much as fits the screen; escaped.
        report: what every other format draws.
    """

    document: Callable[[], object]
    lines: Callable[[Screen], Iterable[str]]
    report: "Callable[[], Report]"


class Reporting(Output):
    """Where one command's report goes and in which forms; made by `options.reporting`."""

    def __init__(self, form: Format, files: tuple[tuple[Format, Path], ...], *, is_whole: bool) -> None:
        """Say where it goes.

        Args:
            form: of standard output.
            files: more forms, and where each is written.
            is_whole: whether text on a terminal is more than one screen.

        Raises:
            ConfigurationError: `file-not-writable`, for one of the files.
        """
        super().__init__(form)
        self._files = files
        self._is_whole = is_whole
        if files:
            from toolnotary_verifier.files import expect_writable

            for _, path in files:
                _expect_folder(path)
                expect_writable(path)

    @property
    def is_drawn(self) -> bool:
        """Whether any form is asked for that draws a report."""
        return any(form not in _PLAIN for form in (self.format, *(form for form, _ in self._files)))

    def tell(self, result: Result) -> None:
        """Print the result, and write it into the files.

        Raises:
            ConfigurationError: `file-not-writable`.
        """
        for form, path in self._files:
            from toolnotary_verifier.files import replace_file

            drawn = _for_log(form, click.unstyle(_drawn(form, result)))  # it may be printed later
            replace_file(path, f"{drawn}\n".encode())
        if self.format == "json":
            self.result(result.document(), "")
        elif self.format == "text":
            self.result(None, result.lines(Screen.here(is_whole=self._is_whole)))
        else:
            drawn = _annotated(result) if self.format == "github" else _drawn(self.format, result)
            click.echo(_for_log(self.format, drawn))


def _annotated(result: Result) -> str:
    """For a job of GitHub Actions, which names the file of its summary, or else says what shows the rest."""
    from toolnotary_cli.rendering.github import IN_SUMMARY, SUMMARY_VARIABLE, add_summary, annotations

    summary, report = os.environ.get(SUMMARY_VARIABLE), result.report()
    if summary and add_summary(report, Path(summary)):
        return "\n".join(annotations(report, rest_in=IN_SUMMARY))
    return "\n".join(annotations(report))


def _expect_folder(path: Path) -> None:
    """Refuse a path that leads nowhere: a folder made of a slip of the pen would never be looked into."""
    if not path.parent.is_dir():
        raise ConfigurationError(
            "file-not-writable",
            f"{escape(str(path), limit=300)}: the folder does not exist",
            remedy="make the folder, or name a file in one that exists",
        )


def _drawn(form: Format, result: Result) -> str:
    if form == "text":
        return "\n".join(result.lines(Screen()))
    if form == "json":
        from toolnotary_cli.output import json_text

        return json_text(result.document())
    report = result.report()
    if form == "sarif":
        from toolnotary_cli.rendering.sarif import sarif_text

        return sarif_text(report)
    if form == "github":
        from toolnotary_cli.rendering.github import annotations

        return "\n".join(annotations(report))
    if form == "markdown":
        from toolnotary_cli.rendering.markdown import markdown

        return markdown(report)
    from toolnotary_cli.rendering.page import html

    return html(report)


def _for_log(form: Format, text: str) -> str:
    """What the runner of GitHub Actions takes no command from that is not ours."""
    if form in ("json", "sarif"):
        return json_for_log(text)
    if form == "github":
        return "\n".join(f"{line[:2]}{for_log(line[2:])}" for line in text.split("\n"))
    return for_log(text)


def report_file(text: str) -> tuple[Format, Path]:
    """What `--report FORMAT=FILE` names.

    Raises:
        click.BadParameter: it is not of that form.
    """
    form, _, path = text.partition("=")
    known = next((one for one in FORMATS if one == form), None)
    if known is None or not path:
        raise click.BadParameter(f"expected FORMAT=FILE with one of the formats {', '.join(FORMATS)}")
    return known, Path(path)
