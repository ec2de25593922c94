# SPDX-License-Identifier: Apache-2.0
r"""Where files lie: the search order. Every file that is written stands in one table, docs/reference/cli.md.

The personal directory is TOOLNOTARY_HOME; else `$XDG_DATA_HOME/toolnotary` or `~/.local/share/toolnotary`;
on Windows `%LOCALAPPDATA%\toolnotary`.

An option or a TOOLNOTARY_* variable names a file exactly. Without one, the file nearest to the working
directory counts, up to the root of the repository that it stands in and no further; outside of a repository
only the working directory itself is looked at. Then comes the personal file. `run` skips the project's
files, because it is started by hosts in directories that somebody else wrote (`project=False`).
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

LOCKFILE = "toolnotary.lock"
POLICY = "toolnotary.toml"
STATE = "state.jsonl"
REGISTRY = "registry.sqlite"
_POLICY = "check --policy and TOOLNOTARY_POLICY; without them the files that are found count"
_LOCKFILE = "check --lockfile and TOOLNOTARY_LOCKFILE; toolnotary lock writes a new one"


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


def existing(path: Path, code: str, *, remedy: str) -> Path:
    """A file that a person named, which must be there: a name that leads nowhere is never passed over.

    Raises:
        ConfigurationError: `code`, if there is no such file, or a folder has its name.
    """
    try:
        is_folder = path.is_dir() if path.exists() else None
    except (OSError, ValueError):  # a folder that may not be entered, a name too long
        is_folder = None
    if is_folder is False:
        return path
    why = "it is a folder" if is_folder else "there is no such file"
    raise ConfigurationError(code, f"{escape(str(path), limit=300)}: {why}", remedy=remedy)


class PolicyFiles(NamedTuple):
    """The policy files in force: the personal one decides, the project's only restricts."""

    personal: Path | None
    project: Path | None


def policy_files(given: Path | None, *, project: bool = True) -> PolicyFiles:
    """Which policies count.

    Args:
        given: the value of `--policy` or TOOLNOTARY_POLICY: the person's own word, in place of both files.
        project: whether the working directory and its repository are looked at (not for `run`).

    Raises:
        ConfigurationError: `policy-unreadable`, if the file that was given is none.
    """
    if given is not None:
        return PolicyFiles(existing(given, "policy-unreadable", remedy=_POLICY), None)
    personal = home() / POLICY
    found = nearest(POLICY) if project else None
    return PolicyFiles(personal if personal.exists() else None, None if found == personal else found)


def lockfile(given: Path | None, *, project: bool = True, new: bool = False) -> Path:
    """The lockfile in force, or where a new one belongs: the repository's root, else the personal directory.

    Args:
        given: the value of `--lockfile` or TOOLNOTARY_LOCKFILE.
        project: whether the working directory and its repository are looked at (not for `run`).
        new: whether the one that was given may be one that is still to be written (for `lock`).

    Raises:
        ConfigurationError: `lockfile-unreadable`, if the one that was given is no file.
    """
    if given is not None:
        path = given.absolute()
        if new and not path.exists():
            return path
        return existing(path, "lockfile-unreadable", remedy=_LOCKFILE)
    if project:
        found = nearest(LOCKFILE)
        if found is not None:
            return found
        root = repository()
        if root is not None:
            return root / LOCKFILE
    return home() / LOCKFILE


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


def state_file() -> Path:
    """Where everything that this person saw, accepted and declined is recorded."""
    return home() / STATE


def registry_database(*, create: bool = True) -> str:
    """The URL of the database of a registry that was told no other.

    Args:
        create: whether its directory is made, and the file itself, empty and readable for its owner alone:
            SQLite would let everybody read it.

    Raises:
        ConfigurationError: `file-not-writable`.
    """
    folder = home()
    if create:
        from toolnotary_verifier.files import make_folder, unwritable

        try:
            make_folder(folder, is_private=True)
            os.close(os.open(folder / REGISTRY, os.O_RDONLY | os.O_CREAT, 0o600))
        except OSError as error:
            raise unwritable(folder / REGISTRY, error, "no registry was opened") from None
    return f"sqlite:///{folder / REGISTRY}"


def objects_folder(lockfile: Path) -> Path:
    """Where the manifests, bundles and texts of a lockfile's pins lie."""
    return lockfile.parent / ".toolnotary" / "objects"


def repository(start: Path | None = None) -> Path | None:
    """The root of the repository around `start` (the working directory if None), or None outside of one."""
    from toolnotary_verifier.links import repository as around

    return around(start or Path.cwd())


def nearest(name: str) -> Path | None:
    """The nearest file `name` from the working directory up to the root of its repository, or None."""
    here = Path.cwd().absolute()
    root = repository(here) or here
    for folder in (here, *here.parents):
        if (folder / name).exists():
            return folder / name
        if folder == root:
            break
    return None
