# SPDX-License-Identifier: Apache-2.0
"""Writing a file so that a reader sees the old one or the new one, and never a part of either."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

_LOCK_BYTE = 1 << 40
_HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_PAUSE = 0.005  # seconds between two attempts at a lock


def make_folder(folder: Path, *, is_private: bool) -> None:
    """Make a folder and those above it that are missing; what is there stays as it is.

    Args:
        folder: the folder.
        is_private: whether nobody but its owner enters what is made here (mode 0700); else what the umask
            leaves.

    Raises:
        OSError: it cannot be made.
    """
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=0o700 if is_private else 0o777, exist_ok=True)


def replace_file(path: Path, content: bytes, *, is_link_kept: bool = True, is_private: bool = False) -> None:
    """Make `content` the content of `path`, creating missing folders; all of it or nothing.

    The permissions of an existing file are kept, and at no time do more people read it; a new one gets what
    the umask leaves, or is its owner's alone (mode 0600). What is no file (`/dev/null`, a named pipe) is
    written to as it is, and nothing takes its place.

    Args:
        path: the file.
        content: its new content.
        is_link_kept: whether a symbolic link at `path` is followed, so that the file which it points to
            changes and the link stays; else the new file takes the place of the link.
        is_private: whether a new file and missing folders are made for their owner alone.

    Raises:
        ConfigurationError: `file-not-writable`; the old file is as it was.
    """
    target = Path(os.path.realpath(path)) if is_link_kept else path
    try:
        if is_link_kept and is_special(path):
            with path.open("wb") as file:
                file.write(content)
            return
        make_folder(target.parent, is_private=is_private)
        _replace(target, content, 0o600 if is_private else 0o666)
    except OSError as error:
        raise unwritable(path, error, "what was there before is unchanged") from None


def beside(path: Path, suffix: str) -> Path:
    """The path that has `suffix` behind the name of `path`.

    Raises:
        ConfigurationError: `file-not-writable`, if `path` is a folder by its spelling, such as `.` or `/`.
    """
    if path.name in ("", ".."):
        raise ConfigurationError(
            "file-not-writable",
            f"{escape(str(path), limit=300)} is a folder, expected the beginning of a file's name",
            remedy="name a file in it",
        )
    return path.with_name(path.name + suffix)


def expect_writable(path: Path) -> None:
    """Refuse what `replace_file` would fail at, before the work whose result goes there; nothing is left.

    Whether a file can be made there is tried: permissions alone do not tell (a superuser, a read-only disk, a
    file in the place of a folder).

    Raises:
        ConfigurationError: `file-not-writable`.
    """
    if path.is_dir():
        raise ConfigurationError(
            "file-not-writable",
            f"{escape(str(path), limit=300)}: it is a folder",
            remedy="name a file in it",
        )
    try:
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if not is_special(path):
            _try_to_make(Path(os.path.realpath(path)))
    except OSError as error:
        raise unwritable(path, error, "nothing was done") from None


def _try_to_make(target: Path) -> None:
    missing = [one for one in target.parents if not one.exists()]
    try:
        make_folder(target.parent, is_private=False)
        part = _part(target)
        part.open("xb").close()
        part.unlink()
    finally:
        for folder in missing:
            with contextlib.suppress(OSError):  # never made, or somebody else uses it by now
                folder.rmdir()


def unwritable(path: Path, error: OSError, state: str) -> ConfigurationError:
    """The error that says why `path` could not be written, and in which state it is now."""
    why = (error.strerror or "cannot be written").lower()
    return ConfigurationError(
        "file-not-writable",
        f"{escape(str(path), limit=300)}: {why}; {state}",
        remedy="make room or make the folder writable, and repeat the command",
    )


def is_of_another(path: Path) -> bool:
    """Whether a file belongs to another user than this process runs as; what replaces it would change that.

    Where the system has no such owners (Windows), its own permissions decide, and this is never so.

    Raises:
        OSError: there is no such file, or it may not be looked at.
    """
    owner = path.stat().st_uid
    return hasattr(os, "geteuid") and owner != os.geteuid()


def is_special(path: Path) -> bool:
    """Whether something stands there that is no file; for a folder, opening it says so."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _part(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.urandom(6).hex()}.part")


def _replace(target: Path, content: bytes, mode: int) -> None:
    part = _part(target)
    if not target.is_symlink() and target.exists():  # what may be secret is not shown before it may be
        mode = 0o600
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if not target.is_symlink():
            with contextlib.suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename in `folder` last through a power cut, where the system can do that."""
    with contextlib.suppress(OSError):  # Windows cannot open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def locked(file: BinaryIO, *, seconds: float | None = None) -> Iterator[None]:
    """Hold `file` against every other process that locks it, for as long as the block runs.

    Args:
        file: an open file.
        seconds: how long another one is waited for; None for ever, on POSIX.

    Raises:
        OSError: it was held by another one for so long.
    """
    if sys.platform == "win32":
        import msvcrt

        # Locks are mandatory there: one byte far behind the end, so that readers are not in the way.
        file.seek(_LOCK_BYTE)
        wait = msvcrt.LK_LOCK if seconds is None else msvcrt.LK_NBLCK
        _until(lambda: msvcrt.locking(file.fileno(), wait, 1), seconds)
        file.seek(0)
        try:
            yield
        finally:
            file.seek(_LOCK_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        wait = fcntl.LOCK_EX if seconds is None else fcntl.LOCK_EX | fcntl.LOCK_NB
        _until(lambda: fcntl.flock(file, wait), seconds)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


def _until(attempt: Callable[[], None], seconds: float | None) -> None:
    """Repeat what fails while another process holds a lock, for so long."""
    import time

    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        try:
            attempt()
        except OSError as error:
            if deadline is None or error.errno not in _HELD:
                raise
            if time.monotonic() >= deadline:
                raise OSError(error.errno, "another process holds it") from None
            time.sleep(_PAUSE)
        else:
            return
