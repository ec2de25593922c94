# SPDX-License-Identifier: Apache-2.0
"""The `toolnotary` command: its frame, and the conventions that every command follows.

To add a command NAME, write `commands/NAME.py` (with `_` for `-`) that holds a click command (or group)
called `command`, and give it a row in `COMMANDS` below. Nothing else is needed: the module is imported when
its command is called, and `--help` draws the table without importing any. A test holds table and files equal.

    @click.command()
    @click.argument("server")
    @options.policy                       # toolnotary_cli.options: one spelling of each shared option
    @options.output                       # gives `output: Output`: --format, and --color for what it prints
    def command(server: str, policy: Path | None, output: Output) -> int:
        '''First line of the help text.'''
        from toolnotary_verifier.decide import decide     # heavy imports inside

        ...
        output.result(document, text)     # results on stdout, everything else on stderr (output.note)
        return exits.OBJECTION            # or None / exits.FINE

- A command parses, calls one function, renders, and returns its exit code (see `exits`); None is 0.
- What goes wrong is raised: a `ToolnotaryError` becomes `error: CODE: message` and its remedy on stderr,
  escaped, a document on stdout with `--format json`, and its own exit code; click's usage errors become 2;
  Ctrl-C and an aborted prompt 130; a closed pipe 141; an `OSError` 2 with the file's name; anything else 70
  without a traceback, unless TOOLNOTARY_DEBUG is set. Nothing is raised once the result is printed.
- What needs an extra is imported under `extras.needs("registry")`: without it the command ends with 2 and
  says which extra to install.
- Where files lie is decided in `places`, what a SOURCE is in `source`, and a person is asked through
  `prompt`.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from toolnotary_cli import __version__, colors, exits, telling

# Every command and its one-line help, in the order in which a newcomer meets them.
COMMANDS = {
    "demo": "Watch a server being signed, pinned, rug-pulled and blocked.",
    "capture": "Record what a server advertises, as a manifest.",
    "keygen": "Make a signing key.",
    "sign": "Sign a captured manifest for a server name and version.",
    "publish": "Send a signed manifest to a registry.",
    "verify": "Judge a manifest and its signature.",
    "diff": "Show what changed between two surfaces.",
    "history": "List a server's versions in a registry, and what changed in each.",
    "snapshot": "Keep what a server says of itself beside its code, and check it in its tests.",
    "lock": "Pin a server's definitions.",
    "check": "Judge live servers or saved listings against the pins.",
    "approve": "Review a change of a pinned server, and accept it.",
    "revoke": "Withdraw the pins of a server.",
    "break-glass": "Let what is withheld pass for a while, in an emergency.",
    "status": "List every pinned server and the state it was last seen in.",
    "scan": "Find the servers of the hosts on this machine, and the state of each.",
    "wrap": "Have hosts start their servers behind the gate.",
    "unwrap": "Undo wrap.",
    "run": "Start a server behind the gate (stdio).",
    "gateway": "Stand before servers that speak HTTP, behind the gate.",
    "serve": "Run a registry.",
    "registry": "Administer a registry.",
    "explain": "Say why a server or a tool is in its state. Reads only.",
}
_PROGRAM = "toolnotary"
_COMPLETE = "_TOOLNOTARY_COMPLETE"


class _Commands(click.Group):
    """The table above as a click group: imports a command's module only to call it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = f"toolnotary_cli.commands.{cmd_name.replace('-', '_')}"
        try:
            command = import_module(module).command
        except ModuleNotFoundError as error:
            if error.name == module:
                return None
            raise
        assert isinstance(command, click.Command)  # noqa: S101 - the convention of this package
        command.name = cmd_name
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but for a command that does not exist: those that are spelled alike are named."""
        if args and not ctx.resilient_parsing and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise click.UsageError(f"there is no command {args[0]}{hint}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list["click.shell_completion.CompletionItem"]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    if value and not ctx.resilient_parsing:
        click.echo(f"{_PROGRAM} {__version__}")
        ctx.exit()


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
@colors.color
def toolnotary() -> None:
    """Sign, pin and enforce the tool definitions of MCP servers.

    A match means that these are the definitions which a publisher signed and you approved, and nothing more.

    Exit codes: 0 nothing to object to, 1 drift, refusal or an invalid signature, 2 usage or configuration,
    3 could not inspect or reach what was asked about, 4 input that is not valid, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code and raises nothing.

    Args:
        arguments: what follows the program's name; `sys.argv[1:]` if None.
    """
    if _COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(toolnotary, {}, _PROGRAM, _COMPLETE, os.environ[_COMPLETE])

    words = list(sys.argv[1:] if arguments is None else arguments)

    def invoke() -> int | None:
        with exits.orderly(), toolnotary.make_context(_PROGRAM, list(words)) as context:
            code: int | None = toolnotary.invoke(context)
            return code

    return exits.guard(invoke, as_json=telling.wants_json(words))
