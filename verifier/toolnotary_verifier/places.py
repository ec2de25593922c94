# SPDX-License-Identifier: Apache-2.0
r"""Where a person's own files lie, and files that a person named (docs/reference/cli.md: Files).

The personal directory is TOOLNOTARY_HOME; else `$XDG_DATA_HOME/toolnotary` or `~/.local/share/toolnotary`;
on Windows `%LOCALAPPDATA%\toolnotary`. Nothing here looks at the working directory: what guards a connection
runs in directories that somebody else wrote.
"""

import os
import sys
from pathlib import Path
from typing import Final

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

LOCKFILE: Final = "toolnotary.lock"
POLICY: Final = "toolnotary.toml"
STATE: Final = "state.jsonl"
SEEN: Final = "seen"
AUDIT: Final = "audit.jsonl"
_POLICY: Final = "check --policy and TOOLNOTARY_POLICY; without them the files that are found count"
_LOCKFILE: Final = "check --lockfile and TOOLNOTARY_LOCKFILE; toolnotary lock writes a new one"


def home() -> Path:
    """The personal directory; nothing is created."""
    given = os.environ.get("TOOLNOTARY_HOME")
    if given:
        return Path(given).absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "toolnotary"
    base = os.environ.get("XDG_DATA_HOME")
    # XDG Base Directory specification: a relative path in the variable is to be ignored.
    return (Path(base) if base and base.startswith("/") else Path.home() / ".local" / "share") / "toolnotary"


def state_file() -> Path:
    """Where everything that this person saw, accepted and declined is recorded."""
    return home() / STATE


def seen_folder() -> Path:
    """Where the surfaces lie that guarded connections showed and that were not as pinned."""
    return home() / SEEN


def personal_policy() -> Path | None:
    """The personal policy, None where there is none."""
    path = home() / POLICY
    return path if path.exists() else None


def named_policy(given: Path) -> Path:
    """The policy that a person named, which counts in place of every other.

    Raises:
        ConfigurationError: `policy-unreadable`, if it is no file.
    """
    return _existing(given, "policy-unreadable", remedy=_POLICY)


def named_lockfile(given: Path) -> Path:
    """The lockfile that a person named, as an absolute path.

    Raises:
        ConfigurationError: `lockfile-unreadable`, if it is no file.
    """
    return _existing(given.absolute(), "lockfile-unreadable", remedy=_LOCKFILE)


def options(**given: Path | str | None) -> list[str]:
    """The options that lead another command to the same places, wherever it is started.

    A URL with a user or password in it is left out: nothing secret is told.

    Args:
        given: values of options by their names, None for those that were not given.
    """
    words: list[str] = []
    for name, value in given.items():
        if isinstance(value, str) and "@" in value:
            continue
        if value is not None:
            words += [f"--{name}", str(value.absolute()) if isinstance(value, Path) else value]
    return words


def _existing(path: Path, code: str, *, remedy: str) -> Path:
    """A file that a person named, which must be there: a name that leads nowhere is never passed over."""
    try:
        is_folder = path.is_dir() if path.exists() else None
    except (OSError, ValueError):  # a folder that may not be entered, a name too long
        is_folder = None
    if is_folder is False:
        return path
    why = "it is a folder" if is_folder else "there is no such file"
    raise ConfigurationError(code, f"{escape(str(path), limit=300)}: {why}", remedy=remedy)
