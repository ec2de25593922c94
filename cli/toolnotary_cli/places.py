# SPDX-License-Identifier: Apache-2.0
"""Where a command's files lie: the search order. Every file that is written stands in docs/reference/cli.md.

An option or a TOOLNOTARY_* variable names a file exactly. Without one, the file nearest to the working
directory counts, up to the root of the repository that it stands in and no further; outside of a repository
only the working directory itself is looked at. Then comes the personal file (`toolnotary_verifier.places`).
What guards a connection (`run`) skips the project's files, because it is started by hosts in directories that
somebody else wrote (`project=False`).
"""

import os
from pathlib import Path
from typing import NamedTuple

from toolnotary_verifier.places import (
    LOCKFILE,
    POLICY,
    home,
    named_lockfile,
    named_policy,
    options,
    personal_policy,
    state_file,
)

__all__ = ["LOCKFILE", "POLICY", "home", "options", "state_file"]

REGISTRY = "registry.sqlite"


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
        return PolicyFiles(named_policy(given), None)
    found = nearest(POLICY) if project else None
    return PolicyFiles(personal_policy(), None if found == home() / POLICY else found)


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
        return path if new and not path.exists() else named_lockfile(path)
    if project:
        found = nearest(LOCKFILE)
        if found is not None:
            return found
        root = repository()
        if root is not None:
            return root / LOCKFILE
    return home() / LOCKFILE


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


def project_folders() -> list[Path]:
    """The working directory and those above it, up to the root of its repository; it alone outside of one."""
    here = Path.cwd().absolute()
    root = repository(here) or here
    return [folder for folder in (here, *here.parents) if folder.is_relative_to(root)]


def nearest(name: str) -> Path | None:
    """The nearest file `name` from the working directory up to the root of its repository, or None."""
    return next((folder / name for folder in project_folders() if (folder / name).exists()), None)
