# SPDX-License-Identifier: Apache-2.0
"""How results are printed: text for people, or JSON in pure ASCII with a published schema."""

from collections.abc import Iterable
from typing import Literal

import click

from toolnotary_cli.telling import for_log, is_runner
from toolnotary_verifier.escape import escape, visible

Format = Literal["text", "json", "sarif", "github", "markdown", "html"]
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
            _print(json_for_log(json_text(document)))
            return
        # In one piece: click flushes after each, and a listing has a line a tool.
        lines = [text] if isinstance(text, str) else list(text)
        if lines:
            _print(for_log("\n".join(lines)))

    def note(self, line: str) -> None:
        """Tell something beside the result, on stderr, in every format; what is not escaped yet is here."""
        _print(for_log(visible(line)), err=True)


def _print(text: str, *, err: bool = False) -> None:
    """Print, and name the stream in the error where it is full."""
    try:
        click.echo(text, err=err)
    except OSError as error:
        error.filename = f"standard {'error' if err else 'output'}"
        raise


def json_text(document: object) -> str:
    r"""A result in pure ASCII. Bytes of a file's name that are no UTF-8 become `\ufffd`, as JSON has none."""
    import json

    text = json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False)
    if "\\ud" not in text:
        return text
    import re

    halves = r"\\\\|\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f].."
    return re.sub(halves, lambda met: r"\ufffd" if len(met[0]) == 6 else met[0], text)


def json_for_log(text: str) -> str:
    """The same document where the runner of GitHub Actions reads it: it finds no command in there."""
    return text.replace("##[", "#\\u0023[") if is_runner() else text


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
