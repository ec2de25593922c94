# SPDX-License-Identifier: Apache-2.0
"""The option `--color`. Apart from the other options: `--help` needs it, and they cost more to load."""

import os
from collections.abc import Callable
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _color(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value == "always":
        ctx.color = True
    elif value == "never":
        ctx.color = False
    elif value == "auto":
        ctx.color = None
    elif ctx.color is None and os.environ.get("NO_COLOR"):  # https://no-color.org: weaker than an option
        ctx.color = False


color: Decorator = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    expose_value=False,
    is_eager=True,
    callback=_color,
    help="Colours in text output: on a terminal, always or never. NO_COLOR is respected.",
)
