# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages that the code itself can tell: `commands.md` and `review.md`.

`make docs` runs this; a test fails where a page is not what the code says.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from toolnotary_cli.main import COMMANDS, toolnotary
from toolnotary_verifier.review import RULES, Risk

REFERENCE = Path(__file__).parent / "reference"
PAGE = REFERENCE / "commands.md"
REVIEW = REFERENCE / "review.md"
# Everything of the page on reviews that stands before the rules.
REVIEW_HEAD = REFERENCE.parent / "review.head.md"
HEAD = """\
# Commands

What `--help` says, written by `make docs`. How sources are spelled, which files are written and what the
exit codes mean stands in [cli.md](cli.md).
"""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by its full name, groups before their members."""
    root = click.Context(toolnotary, info_name="toolnotary")
    for name in COMMANDS:
        command = toolnotary.get_command(root, name)
        if command is None:
            raise SystemExit(f"no such command: {name}")
        yield f"toolnotary {name}", command
        if isinstance(command, click.Group):
            for member in command.list_commands(root):
                inner = command.get_command(root, member)
                if inner is not None:
                    yield f"toolnotary {name} {member}", inner


def page() -> str:
    """The page's text."""
    parts = [HEAD]
    for name, command in commands():
        context = click.Context(command, info_name=name, max_content_width=100, terminal_width=100)
        parts.append(f"## {name}\n\n```text\n{command.get_help(context).rstrip()}\n```\n")
    return "\n".join(parts)


def review_page() -> str:
    """The page on the rules of a review: what is written about all of them, then each of them, by risk."""
    parts = [REVIEW_HEAD.read_text(encoding="utf-8")]
    for risk in reversed(Risk):
        rules = [rule for rule in RULES.values() if rule.risk is risk]
        parts.append(f"## Rules of risk `{risk}`\n")
        for rule in rules:
            parts.append(f"### {rule.id}\n\n{rule.title[0].upper()}{rule.title[1:]}. {rule.why}\n")
            parts.append(f"- Example: {rule.example}.\n- What to do: {rule.remedy}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    for path, text in ((PAGE, page()), (REVIEW, review_page())):
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}\n")
