# SPDX-License-Identifier: Apache-2.0
"""The line by which a host starts a server that was just pinned: `run`, led to the same files."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from toolnotary_cli import places
from toolnotary_verifier.escape import escape
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.secrecy import MASK

_AS_GIVEN = "COMMAND"


def found_by_run(lockfile: Path) -> bool:
    """Whether `run` reads this lockfile unasked: it looks at the personal one alone."""
    return lockfile == places.lockfile(None, project=False)


def run_line(
    server: str, argv: Sequence[str], launch: Launch, *, lockfile: Path, options: Sequence[str]
) -> str | None:
    """The command for a host's configuration, as a shell reads it; None where nothing is started (a URL).

    A command that holds a secret, or that nobody could type as it is shown, is told as COMMAND.

    Args:
        server: the name that it is pinned under.
        argv: its command as it was given.
        launch: the same, as it is recorded.
        lockfile: where it is pinned.
        options: other options that lead `run` to what `lock` read.
    """
    if not argv:
        return None
    where = [] if found_by_run(lockfile) else ["--lockfile", str(lockfile)]
    line = shlex.join(["toolnotary", "run", "--server", server, *where, *options, "--"])
    command = shlex.join(argv)
    is_plain = MASK not in launch.display and escape(command, limit=None) == command
    return f"{escape(line, limit=None)} {command if is_plain else _AS_GIVEN}"
