# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages that the code itself can tell: `docs/reference/commands.md`.

`make docs` runs this; a test fails where a page is not what the code says.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from toolnotary_cli.main import COMMANDS, toolnotary

PAGE = Path(__file__).parent / "reference" / "commands.md"
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


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE}\n")
