# SPDX-License-Identifier: Apache-2.0
"""Which files of hosts are there: the user's own, those around the working directory, those of plugins."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from toolnotary_cli import places
from toolnotary_cli.hosts.surroundings import Surroundings
from toolnotary_cli.hosts.table import ROWS, Row, Scope
from toolnotary_verifier.errors import ConfigurationError

# A folder of plugins is the host's; whoever fills it decides neither how deep nor how long it is searched.
_MOST_DEPTH: Final = 8
_MOST_FOLDERS: Final = 5000
_SKIPPED: Final = frozenset({"node_modules", ".git"})


class Found(NamedTuple):
    """A file of a host that is there.

    Attributes:
        path: the file; the folder below which not all was searched, where `is_cut`.
        row: what it is.
        is_cut: whether files may be left out, since there are too many folders.
    """

    path: Path
    row: Row
    is_cut: bool = False


def reader_of(named: Sequence[Path], hosts: Sequence[str]) -> str | None:
    """The host that reads the files that were named, where somebody said so.

    Raises:
        ConfigurationError: `host-ambiguous`, if files and several hosts are named.
    """
    if named and len(hosts) > 1:
        raise ConfigurationError(
            "host-ambiguous", "got files and several hosts", remedy="name one host, or one a command"
        )
    return hosts[0] if named and hosts else None


def files(surroundings: Surroundings, *, hosts: Iterable[str] = (), scopes: Iterable[Scope]) -> list[Found]:
    """The files that are there, each once, in the order of the table.

    Args:
        surroundings: where the table is read.
        hosts: these alone; all where none is named.
        scopes: whose files are looked for.
    """
    wanted, kept = set(hosts), set(scopes)
    found: dict[Path, Found] = {}
    for row in ROWS:
        if (wanted and row.host not in wanted) or row.scope not in kept:
            continue
        cut: list[Path] = []
        for path in _paths(row, surroundings, cut):
            found.setdefault(path, Found(path, row))
        for path in cut:
            found.setdefault(path, Found(path, row, is_cut=True))
    return list(found.values())


def _paths(row: Row, surroundings: Surroundings, cut: list[Path]) -> Iterator[Path]:
    if surroundings.platform not in row.platforms:
        return
    if row.scope == "project":
        for folder in places.project_folders():
            yield from _expanded(folder, row.pattern, cut)
        return
    found = surroundings.path(row.pattern)
    if found is None:
        return
    # What stands before the first `*` is a folder; the rest is looked for below it.
    fixed, _, rest = re.sub(r"(/)([^/*]*\*)", "\0\\2", found.as_posix(), count=1).partition("\0")
    if rest:
        yield from _expanded(Path(fixed), rest, cut)
    elif _is_there(Path(fixed)):
        yield Path(fixed)


def _expanded(folder: Path, pattern: str, cut: list[Path]) -> Iterator[Path]:
    """The files below a folder that fit a pattern, in order; where not all is searched, `cut` says so."""
    head, _, rest = pattern.partition("/")
    if head == "**":
        for inner in _below(folder, cut):
            yield from _expanded(inner, rest, cut)
    elif "*" in head:
        regex = re.compile("[^/]*".join(map(re.escape, head.split("*"))))
        for name in _names(folder):
            if regex.fullmatch(name):
                yield from _expanded(folder / name, rest, cut) if rest else _if_there(folder / name)
    elif rest:
        yield from _expanded(folder / head, rest, cut)
    else:
        yield from _if_there(folder / head)


def _below(folder: Path, cut: list[Path]) -> Iterator[Path]:
    """A folder and all below it; links are not followed."""
    waiting, seen = [(folder, 0)], 0
    while waiting and seen < _MOST_FOLDERS:
        here, depth = waiting.pop()
        seen += 1
        yield here
        inner = [here / name for name in reversed(_names(here)) if name not in _SKIPPED]
        folders = [(one, depth + 1) for one in inner if one.is_dir() and not one.is_symlink()]
        if depth < _MOST_DEPTH:
            waiting += folders
        elif folders:
            cut.append(here)
    if waiting:
        cut.append(folder)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names alone
    except OSError:
        return []


def _if_there(path: Path) -> Iterator[Path]:
    if _is_there(path):
        yield path


def _is_there(path: Path) -> bool:
    """Whether something stands there that is no folder; what cannot be looked at is told later."""
    try:
        os.lstat(path)
        return not path.is_dir()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
