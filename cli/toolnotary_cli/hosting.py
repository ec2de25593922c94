# SPDX-License-Identifier: Apache-2.0
"""The line by which a host starts a server that was just pinned: `run`, led to the same files."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from toolnotary_cli import places
from toolnotary_verifier.escape import escape
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.secrecy import MASK
from toolnotary_verifier.shellwords import told_url

_AS_GIVEN = "COMMAND"


def found_by_run(lockfile: Path) -> bool:
    """Whether `run` reads this lockfile unasked: it looks at the personal one alone."""
    return lockfile == places.lockfile(None, project=False)


def run_line(
    server: str,
    argv: Sequence[str],
    launch: Launch,
    *,
    url: str,
    lockfile: Path,
    options: Sequence[str],
) -> str | None:
    """The command for a host's configuration, as a shell reads it; None where nobody said how it is reached.

    A command that holds a secret, or that nobody could type as it is shown, is told as COMMAND, a URL as URL.

    Args:
        server: the name that it is pinned under.
        argv: its command as it was given.
        launch: the same, as it is recorded.
        url: where it is reached, as it was given; empty where it is started.
        lockfile: where it is pinned.
        options: other options that lead `run` to what `lock` read.
    """
    where = [] if found_by_run(lockfile) else ["--lockfile", str(lockfile)]
    words = ["toolnotary", "run", "--server", server, *where, *options]
    if url:
        return f"{escape(shlex.join([*words, '--url']), limit=None)} {told_url(url)}"
    if not argv:
        return None
    line = shlex.join([*words, "--"])
    command = shlex.join(argv)
    is_plain = MASK not in launch.display and escape(command, limit=None) == command
    return f"{escape(line, limit=None)} {command if is_plain else _AS_GIVEN}"
