# SPDX-License-Identifier: Apache-2.0
"""`toolnotary revoke`: take back what was accepted of a server."""

from pathlib import Path
from typing import Final

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output, shown, styled

SCHEMA: Final = "https://toolnotary.dev/output/revoke/v1"


@click.command()
@click.argument("server", type=options.SERVER, shell_complete=completion.servers)
@click.argument("tool", required=False)
@click.option(
    "--override", is_flag=True, help="End only what passes by break-glass, and leave the pins as they are."
)
@options.lockfile
@options.policy
@options.output
def command(
    *,
    server: str,
    tool: str | None,
    override: bool,
    lockfile: Path | None,
    policy: Path | None,
    output: Output,
) -> None:
    """Withdraw the pins of SERVER, or of one TOOL (or prompt, resource) of it.

    Your own state remembers it: what was withdrawn stays out, whatever a lockfile says, until you accept it
    again with `approve` or `lock`. What passes by break-glass ends too. It only makes things stricter, so
    nobody is asked. A proxy that runs (`toolnotary run`) follows within two seconds.
    """
    from toolnotary_cli.auditing import Audit, act
    from toolnotary_cli.opening import open_project
    from toolnotary_verifier.approval import end_overrides, withdraw

    project = open_project(lockfile=lockfile, policy=policy, server=server)
    audit = Audit(project.policy.audit, output.note)
    audit.expect()
    if override:
        for ended in end_overrides(project, server, name=tool):
            line = act("ended", server, None, name=ended.name)
            audit.write(line._replace(kind=ended.kind.value, live=ended.digest, until=ended.until))
    else:
        withdraw(project, server, name=tool)
        audit.write(act("revoked", server, None, name=tool))
    what = shown(server) if tool is None else f"{shown(tool)} of {shown(server)}"
    said = "break-glass ended" if override else "withdrawn"
    output.result(
        {
            "schema": SCHEMA,
            "server": server,
            "tool": tool,
            "override": override,
            "lockfile": str(project.lockfile_path),
        },
        f"{styled(said, 'warn')}: {what}; it does not pass from now on",
    )
