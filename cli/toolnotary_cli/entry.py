# SPDX-License-Identifier: Apache-2.0
"""The door of the command: `run`, as hosts spell it, goes straight to the gate; all else through click.

A host starts `toolnotary run` for every server it has, each time it starts. Loading click costs three times
what starting an interpreter costs, and would be spent on reading four words. A spelling that is not plainly
one of those below is left to click, which reads the same options in `commands/run.py` and words every error.
"""

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from toolnotary_cli import exits

# The options of `run`, and the variables that stand in for them.
_OPTIONS: Final = {
    "--server": None,
    "--lockfile": "TOOLNOTARY_LOCKFILE",
    "--policy": "TOOLNOTARY_POLICY",
    "--registry": "TOOLNOTARY_REGISTRY",
}
_FLAG: Final = "--offline"

# The command behind `--`, the values of the options above, of which an empty one is absent, and the flag.
Run = tuple[tuple[str, ...], str, str, str, str, bool]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code and raises nothing.

    Args:
        arguments: what follows the program's name; `sys.argv[1:]` if None.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    run = None if "_TOOLNOTARY_COMPLETE" in os.environ else plain_run(words)
    if run is None:
        from toolnotary_cli.main import main as through_click

        return through_click(words)
    return exits.guard(lambda: _guard(*run[:-1], offline=run[-1]))


def plain_run(words: Sequence[str]) -> Run | None:
    """What a `run` in its plain spelling asks for; None for everything else, which click reads."""
    if not words or words[0] != "run" or "--" not in words:
        return None
    at = words.index("--")
    given = {name: os.environ.get(variable or "", "") for name, variable in _OPTIONS.items()}
    before = [word for word in words[1:at] if word != _FLAG]
    names, values = before[::2], before[1::2]
    if len(before) % 2 or len({*names}) < len(names) or not {*names} <= {*_OPTIONS}:
        return None
    if any(value.startswith("-") or not value for value in values) or at + 1 == len(words):
        return None
    # The flag stands where a name could: behind one, click takes it for the name's value.
    if any(word in _OPTIONS and follows == _FLAG for word, follows in pairwise(words[1:at])):
        return None
    given |= dict(zip(names, values, strict=True))
    if not _is_plain(given["--server"]):
        return None
    server, lockfile, policy, registry = given.values()
    return tuple(words[at + 1 :]), server, lockfile, policy, registry, _FLAG in words[1:at]


def _is_plain(server: str) -> bool:
    """Whether this is plainly the name of a server; what else may be one is left to click (`local_name`)."""
    return server.isascii() and server.isprintable() and server == server.strip() and len(server) <= 200


def _guard(
    argv: tuple[str, ...], server: str, lockfile: str, policy: str, registry: str, *, offline: bool
) -> int:
    # First of all, while there is little to be shared with the process that watches.
    from toolnotary_verifier.watcher import watched

    def work(lifeline: int | None) -> int:
        from pathlib import Path

        from toolnotary_cli.guarding import guard
        from toolnotary_verifier.guard import Settings

        pins, rules = (Path(name) if name else None for name in (lockfile, policy))
        settings = Settings(server or None, pins, rules, registry or None, offline)
        return guard(argv, settings, lifeline=lifeline)

    return watched(work)
