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
        try:
            rest = super().parse_args(ctx, args[:at])
        except click.UsageError as error:
            # An option that we do not have, or a word too many, is mostly the other command's.
            if at < len(args) or type(error) not in (click.UsageError, click.NoSuchOption):
                raise
            said = error.format_message().rstrip(".")
            message = f"{said} (the server's own command stands behind --)"
            raise click.UsageError(message, ctx=error.ctx or ctx) from None
        ctx.params["argv"] = argv
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line, with the other command at its end."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND [ARG]...]"]
