# SPDX-License-Identifier: Apache-2.0
"""Secrets named by the environment variables that hold them: others see a command line, and read a file."""

import os
from collections.abc import Iterable

import click

from toolnotary_cli.output import shown


def headers_of(texts: Iterable[str]) -> dict[str, str]:
    """The headers that `--header NAME=VARIABLE` asks for, with the values of the variables.

    Raises:
        click.UsageError: one is not of that form, or there is no such variable.
    """
    return dict(_header(text) for text in texts)


def variable(where: str, name: str) -> str:
    """The value of an environment variable.

    Args:
        where: what names it: an option, or a place in a file, escaped.
        name: the variable.

    Raises:
        click.UsageError: there is none.
    """
    value = os.environ.get(name)
    if value is None:
        raise click.UsageError(f"{where}: there is no environment variable {shown(name)}")
    return value


def _header(text: str) -> tuple[str, str]:
    name, equals, named = text.partition("=")
    if not equals or not name or not named:
        raise click.UsageError("--header expects NAME=VARIABLE: a secret on a command line is seen by others")
    return name, variable("--header", named)
