# SPDX-License-Identifier: Apache-2.0
"""A command line that may end in another one: `... -- COMMAND ARG...`.

click drops the `--` and cannot tell the two halves apart afterwards. Everything after the first `--` is taken
off before click sees it, so that no option of the other command is ever taken for one of ours.
"""

import click


class TrailingCommand(click.Command):
    """A command that gets what stands after `--` as `argv: tuple[str, ...]`, empty where there is none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before `--`."""
        at = args.index("--") if "--" in args else len(args)
        argv = tuple(args[at + 1 :])
        rest = super().parse_args(ctx, args[:at])
        ctx.params["argv"] = argv
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line, with the other command at its end."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND [ARG]...]"]
