# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share, spelled and explained once.

Each is a decorator; the name of the parameter it fills is its own (`output` fills `output: Output`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, get_args

import click

from toolnotary_cli.colors import Decorator, color
from toolnotary_cli.completion import hosts
from toolnotary_cli.output import Format, Output

__all__ = [
    "SERVER",
    "ca_file",
    "color",
    "database",
    "dry_run",
    "fail_on",
    "header",
    "host",
    "lockfile",
    "offline",
    "output",
    "policy",
    "registry",
    "reporting",
    "screened",
]


class _ServerName(click.types.StringParamType):
    """The name of a server, refused here where no lockfile and no state could hold it."""

    name = "server"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it was typed, or a usage error that names the argument."""
        from toolnotary_verifier.local_name import fault

        name = str(super().convert(value, param, ctx))
        found = fault(name)
        if found:
            self.fail(f"the name of a server {found}", param, ctx)
        return name


SERVER: Final = _ServerName()


class _Host(click.types.StringParamType):
    """The name of a host of the table, which is read only where one is named."""

    name = "host"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it was typed, or a usage error that lists those that are known."""
        from toolnotary_cli.hosts.table import HOSTS

        if value not in HOSTS:
            self.fail(f"no such host; known are {', '.join(HOSTS)}", param, ctx)
        return str(value)


_format: Decorator = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    callback=lambda _ctx, _parameter, value: Output(value),
    help="Text for people, or JSON (pure ASCII, with a published schema).",
)


def output(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--format text|json` as `output: Output`, and `--color`."""
    return _format(color(command))


def reporting(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--format` with every format and `--report` as `output: Reporting`, and `--color`."""
    from functools import wraps

    @wraps(command)
    def told(*, form: Format, files: tuple[str, ...], is_whole: bool = False, **rest: object) -> object:
        from toolnotary_cli.reporting import Reporting, report_file

        given = tuple(map(report_file, files))
        return command(output=Reporting(form, given, is_whole=is_whole), **rest)

    return _all_formats(_report(color(told)))


def screened(command: Callable[..., Any]) -> Callable[..., Any]:
    """As `reporting`, and `--all` for a text that fits one screen otherwise."""
    return _all(reporting(command))


_all_formats: Decorator = click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Format)),
    default="text",
    show_default=True,
    help="Text for people, JSON (pure ASCII, with a published schema), SARIF for code scanning, annotations"
    " and job summary for GitHub Actions, Markdown for a pull request, or an HTML file.",
)
_report: Decorator = click.option(
    "--report",
    "files",
    metavar="FORMAT=FILE",
    multiple=True,
    help="Write the result in this format into this file too (repeatable).",
)
_all: Decorator = click.option(
    "--all", "is_whole", is_flag=True, help="Text on a terminal: show everything, not one screen of it."
)
fail_on: Decorator = click.option(
    "--fail-on",
    type=click.Choice(["any", "low", "medium", "high", "critical"]),
    default="any",
    show_default=True,
    help="End with 1 only for changes of this class or a worse one; what has no class always counts.",
)
registry: Decorator = click.option(
    "--registry",
    metavar="URL",
    envvar="TOOLNOTARY_REGISTRY",
    help="Registry to talk to (also TOOLNOTARY_REGISTRY, or `registry` in the policy).",
)
policy: Decorator = click.option(
    "--policy",
    metavar="FILE",
    type=click.Path(path_type=Path),
    envvar="TOOLNOTARY_POLICY",
    help="Policy to use in place of the files that are found (also TOOLNOTARY_POLICY).",
)
lockfile: Decorator = click.option(
    "--lockfile",
    metavar="FILE",
    type=click.Path(path_type=Path),
    envvar="TOOLNOTARY_LOCKFILE",
    help="Lockfile to use in place of the one that is found (also TOOLNOTARY_LOCKFILE).",
)
offline: Decorator = click.option(
    "--offline", is_flag=True, help="Open no socket: judge from what is at hand."
)
header: Decorator = click.option(
    "--header",
    "headers",
    metavar="NAME=VARIABLE",
    multiple=True,
    help="Send this header to a URL, with the value of an environment variable.",
)
host: Decorator = click.option(
    "--host",
    metavar="HOST",
    multiple=True,
    type=_Host(),
    shell_complete=hosts,
    help="Files of this host only (repeatable); of a FILE, that this host reads it.",
)
dry_run: Decorator = click.option(
    "--dry-run", is_flag=True, help="Show the difference, with secrets masked, and write nothing."
)
ca_file: Decorator = click.option(
    "--ca-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Accept the certificates in this PEM file beside those of the system.",
)
database: Decorator = click.option(
    "--database",
    metavar="URL",
    envvar="TOOLNOTARY_DATABASE",
    help="Where the registry stores: sqlite:///FILE or postgresql://USER@HOST/DATABASE (also"
    " TOOLNOTARY_DATABASE); by default registry.sqlite in the personal directory.",
)
