# SPDX-License-Identifier: Apache-2.0
"""Opening the files that a command works with, where `places` finds them."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from toolnotary_cli import places

if TYPE_CHECKING:
    from toolnotary_cli.output import Output
    from toolnotary_verifier.policy import Policy
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.state import State


def open_project(
    *,
    lockfile: Path | None,
    policy: Path | None,
    server: str | None = None,
    accept_project: bool = False,
    nearby: bool = True,
    new: bool = False,
) -> "Project":
    """Lockfile, objects, policy and state.

    Args:
        lockfile: the value of `--lockfile`.
        policy: the value of `--policy`.
        server: where a lockfile that was found does not name this server and the personal one does, the
            personal one is used, as `run` does.
        accept_project: count what the project's files say as accepted, for this run.
        new: whether `lockfile` may name one that is still to be written.
        nearby: whether the working directory and its repository are looked at (not for `run`).

    Raises:
        InvalidInput: `lockfile-*`, `state-corrupt`.
        ConfigurationError: `policy-*`, `state-permissions`, a file that cannot be read.
    """
    from toolnotary_verifier.project import Project

    files = places.policy_files(policy, project=nearby)
    found = places.lockfile(lockfile, project=nearby, new=new)
    project = Project.load(
        lockfile=found,
        state=places.state_file(),
        personal_policy=files.personal,
        project_policy=files.project,
        accept_project=accept_project,
    )
    tell_torn(project.state)
    personal = places.lockfile(None, project=False)
    if server is None or lockfile is not None or found == personal or project.lockfile.named(server):
        return project
    own = project.with_lockfile(personal)
    return own if own.lockfile.named(server) else project


def open_policy(policy: Path | None) -> "Policy":
    """What is in force for a command that needs no lockfile.

    Args:
        policy: the value of `--policy`.

    Raises:
        InvalidInput: `state-corrupt`.
        ConfigurationError: `policy-*`, `state-permissions`, a file that cannot be read.
    """
    from toolnotary_verifier.policy import Policy

    files = places.policy_files(policy)
    if files.project is None:  # then nothing asks what the user accepted of a project
        return Policy.load(personal=files.personal, project=None)
    from toolnotary_verifier.state import State

    state = State.load(places.state_file())
    tell_torn(state)
    return Policy.load(personal=files.personal, project=files.project, accepted=state.history.values)


def tell_torn(state: "State") -> None:
    """Say that the state's last line was cut off, and so does not count."""
    from toolnotary_verifier.project import torn

    line = torn(state)
    if line is not None:
        _tell_once(line)


@cache
def _tell_once(line: str) -> None:
    """Once in a process, which may open its files again."""
    from toolnotary_cli.telling import say

    say(line)


def tell_unaccepted(policy: "Policy", output: "Output") -> None:
    """Say which values of the project's policy do not count, because they would grant or loosen something."""
    for value in policy.unaccepted:
        output.note(
            f"the project's policy sets {value.option} to {value.value}; that grants or loosens, and counts "
            "only once you accept it: toolnotary lock --accept-project"
        )


def tell_file_too(version: str, output: "Output") -> None:
    """Say that a published version is meant, where a file has its name and other commands would read that.

    Args:
        version: NAME@VERSION, as it stands on the command line.
        output: where it is told.
    """
    from toolnotary_cli.source import is_file_too

    if is_file_too(version):
        output.note(f"{version}: the version in the registry is meant; the file of that name is ./{version}")
