# SPDX-License-Identifier: Apache-2.0
"""How results are printed: text for people, or JSON in pure ASCII with a published schema."""

import sys
from collections.abc import Iterable
from typing import Literal

import click

from toolnotary_verifier.escape import escape

Format = Literal["text", "json"]
Look = Literal["good", "bad", "warn", "dim", "strong"]


class Output:
    """Where one command's result goes and in which form; made by `options.output`."""

    def __init__(self, form: Format) -> None:
        self.format: Format = form

    @property
    def is_json(self) -> bool:
        """Whether the result is read by a program."""
        return self.format == "json"

    def result(self, document: object, text: str | Iterable[str]) -> None:
        """Print a result on stdout.

        Args:
            document: the result as plain JSON values, printed with `--format json`.
            text: the same for people: one string, or lines; text from a server already escaped (see `shown`).
        """
        if self.is_json:
            import json

            click.echo(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))
            return
        # In one piece: click flushes after each, and a listing has a line a tool.
        lines = [text] if isinstance(text, str) else list(text)
        if lines:
            click.echo("\n".join(lines))

    def note(self, line: str) -> None:
        """Tell something beside the result, on stderr, in every format; escaped here."""
        click.echo(escape(line), err=True)


def shown(text: str, *, limit: int | None = 200) -> str:
    """Text from a server, in one line, safe to print."""
    return escape(text, limit=limit)


def styled(text: str, look: Look) -> str:
    """`text` with a colour, dropped where no terminal reads it, with NO_COLOR and `--color never`."""
    if look == "dim":
        return click.style(text, dim=True)
    if look == "strong":
        return click.style(text, bold=True)
    return click.style(text, fg={"good": "green", "bad": "red", "warn": "yellow"}[look])


def is_terminal() -> bool:
    """Whether a person reads stdout as it is written."""
    return sys.stdout.isatty()
