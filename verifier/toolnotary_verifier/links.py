# SPDX-License-Identifier: Apache-2.0
"""Where the files of a project may lead, and what may stand in their place (docs/spec/lockfile.md).

A project's files may have been made by somebody else, links included. One that leads where that somebody
could not have put a file is neither read nor written: a command would change a file that is none of the
project's, or take one for reviewed that nobody reviewed with it.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from toolnotary_verifier.errors import Refused
from toolnotary_verifier.escape import escape


def repository(folder: Path) -> Path | None:
    """The root of the repository that this folder lies in, or None outside of one; no link is resolved."""
    here = folder.absolute()
    return next((found for found in (here, *here.parents) if (found / ".git").exists()), None)


def within(path: Path, root: Path | None) -> Path:
    """The file or folder that `path` leads to, links resolved; it need not exist.

    Args:
        path: where something is to be read or written.
        root: the folder of a project that `path` belongs to; None for what is the user's own, whose links are
            the user's word.

    Raises:
        Refused: `leads-outside`, if it leads out of `root`, or into its `.git`, which no checkout fills.
    """
    target = Path(os.path.realpath(path))
    if root is None:
        return target
    real = Path(os.path.realpath(root))
    inside = target.relative_to(real).parts if target.is_relative_to(real) else None
    if inside is None or any(part.casefold() == ".git" for part in inside):
        raise Refused(
            "leads-outside",
            f"{escape(str(path), limit=300)} leads out of its project, to {escape(str(target), limit=300)}",
            remedy="put a file in the place of the link, or name the file that it leads to if you trust it",
        )
    return target


def opened(path: Path) -> BinaryIO:
    """Open a file for reading, and never wait for it: a named pipe in its place is refused.

    Whoever may write a project's files could have a command wait for ever, and with it whatever it guards.

    Raises:
        OSError: as `Path.open`; `EINVAL` for a pipe.
    """
    return open(path, "rb", opener=_without_waiting)


def _without_waiting(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is a pipe, expected a file")
    return descriptor
