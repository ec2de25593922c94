# SPDX-License-Identifier: Apache-2.0
"""`toolnotary explain`: why a server or a tool is in its state. It reads, and does nothing else."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output

if TYPE_CHECKING:
    from toolnotary_cli.places import PolicyFiles
    from toolnotary_verifier.project import Project


@click.command()
@click.argument("server", type=options.SERVER, shell_complete=completion.servers)
@click.argument("tool", required=False)
@options.lockfile
@options.policy
@options.output
def command(
    *, server: str, tool: str | None, lockfile: Path | None, policy: Path | None, output: Output
) -> None:
    """Say why SERVER, or its TOOL, is in its state.

    That is: what is pinned, what did not pass when the server was last looked at and why, which command
    shows the difference, and which decides. It reads the lockfile, the policy and what was recorded; nothing
    is written, started or asked. Where the lockfile that is found does not name SERVER, the personal one is
    looked at, since that is what `run` uses.

    With TOOL, both sides of it are shown as far as they are at hand: the pinned definition and the one that
    was shown, what differs word by word, who signed or accepted it and when, and what would let it pass.
    These are words of the server, escaped; no refusal tells a model to ask for them.
    """
    from toolnotary_cli import places
    from toolnotary_cli.explained import document, lines
    from toolnotary_cli.explanation import explain

    given = {"lockfile": lockfile, "policy": policy}
    same = places.options(**{name: value for name, value in given.items() if _is_typed(name)})
    explanation = explain(_project(server, lockfile, policy), server, tool, options=same)
    output.result(document(explanation), lines(explanation))


def _is_typed(option: str) -> bool:
    """Whether an option stood on the command line; what a variable says holds for the next command too."""
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.COMMANDLINE


def _project(server: str, lockfile: Path | None, policy: Path | None) -> "Project":
    from toolnotary_cli import places

    files = places.policy_files(policy)
    found = _load(places.lockfile(lockfile), files)
    if lockfile is not None or found.lockfile.named(server):
        return found
    personal = places.lockfile(None, project=False)
    if policy is not None:
        return found.with_lockfile(personal)
    return _load(personal, places.policy_files(None, project=False))


def _load(lockfile: Path, files: "PolicyFiles") -> "Project":
    from toolnotary_cli import places
    from toolnotary_cli.opening import tell_torn
    from toolnotary_verifier.project import Project

    project = Project.load(
        lockfile=lockfile,
        state=places.state_file(),
        personal_policy=files.personal,
        project_policy=files.project,
    )
    tell_torn(project.state)
    return project
