# SPDX-License-Identifier: Apache-2.0
"""`toolnotary demo`: the whole story on this machine, in less than 20 seconds, leaving nothing behind."""

import click

from toolnotary_cli import extras, options


@click.command()
@options.color
def command() -> None:
    """Watch a server being signed, pinned, rug-pulled and blocked.

    Real commands, a registry on the loopback address, and a server that is shipped with this command. Nothing
    else is connected to, your own files are neither read nor written, and everything is removed at the end,
    or at Ctrl-C.
    """
    extras.ensure("registry", "review")  # before the story begins, not in its middle
    from toolnotary_cli.demo.stage import Stage
    from toolnotary_cli.demo.story import play

    with Stage() as stage:
        play(stage)
