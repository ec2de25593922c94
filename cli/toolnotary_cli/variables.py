# SPDX-License-Identifier: Apache-2.0
"""Secrets named on a command line by the environment variables that hold them: others see a command line."""

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


def variable(option: str, name: str) -> str:
    """The value of an environment variable that an option names.

    Raises:
        click.UsageError: there is none.
    """
    value = os.environ.get(name)
    if value is None:
        raise click.UsageError(f"{option}: there is no environment variable {shown(name)}")
    return value


def _header(text: str) -> tuple[str, str]:
    name, equals, named = text.partition("=")
    if not equals or not name or not named:
        raise click.UsageError("--header expects NAME=VARIABLE: a secret on a command line is seen by others")
    return name, variable("--header", named)
