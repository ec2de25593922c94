# SPDX-License-Identifier: Apache-2.0
"""Starting the process of a command source, without what a server must not get."""

from collections.abc import Mapping
from pathlib import Path

from toolnotary_verifier import process
from toolnotary_verifier.capture.concealed import Concealed
from toolnotary_verifier.capture.held_back import child_environment
from toolnotary_verifier.capture.source import CommandSource
from toolnotary_verifier.capture.stdio import Stdio
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.limits import Limits

_SHOWN = 200


def start(
    source: CommandSource, *, limits: Limits, variables: Mapping[str, str], directory: Path | None
) -> Stdio:
    """Start the source's process and connect to it.

    Raises:
        CannotTell: `server-start`.
        InvalidInput: `launch-empty`.
    """
    environment = child_environment(source.environment, handed=source.handed)
    environment.update(variables)
    folder = directory or source.directory
    launch = Launch.from_command(source.argv, base=source.directory, environment=environment, folder=folder)
    child = process.start(source.argv, environment=environment, directory=folder, contained=source.contained)
    server = launch.display if len(launch.display) <= _SHOWN else f"{launch.display[:_SHOWN]}..."
    return Stdio(child, server=server, concealed=Concealed.of(source), limits=limits)
