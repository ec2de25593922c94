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
@options.lockfile
@options.policy
@options.output
def command(
    *, server: str, tool: str | None, lockfile: Path | None, policy: Path | None, output: Output
) -> None:
    """Withdraw the pins of SERVER, or of one TOOL (or prompt, resource) of it.

    Your own state remembers it: what was withdrawn stays out, whatever a lockfile says, until you accept it
    again with `approve` or `lock`. It only makes things stricter, so nobody is asked. A proxy that runs
    (`toolnotary run`) follows within two seconds.
    """
    from toolnotary_cli.auditing import Audit, act
    from toolnotary_cli.opening import open_project
    from toolnotary_verifier.approval import withdraw

    project = open_project(lockfile=lockfile, policy=policy, server=server)
    audit = Audit(project.policy.audit, output.note)
    audit.expect()
    withdraw(project, server, name=tool)
    audit.write(act("revoked", server, None, name=tool))
    what = shown(server) if tool is None else f"{shown(tool)} of {shown(server)}"
    output.result(
        {"schema": SCHEMA, "server": server, "tool": tool, "lockfile": str(project.lockfile_path)},
        f"{styled('withdrawn', 'warn')}: {what}; it does not pass from now on",
    )
