# SPDX-License-Identifier: Apache-2.0
"""Which line of the repository a report points to: what is judged often lies elsewhere, behind a URL.

It is the saved listing or lockfile that was named, else the line of the lockfile that pins the server, else
`toolnotary.toml`, else where a lockfile would lie. No path leads out of the repository.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolnotary_cli import places
from toolnotary_cli.rendering.report import Locate, Location, Place
from toolnotary_cli.source import STANDARD_INPUT, Saved, Source
from toolnotary_verifier.entries import lines_of

if TYPE_CHECKING:
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.project import Project

_MOST: Final = 16 << 20  # bytes of a file that is searched for a name
_NAME: Final = re.compile(rb'"(?:name|uri|uriTemplate)"\s*:\s*("(?:[^"\\]|\\.)*")')


def of_sources(*sources: Source) -> Locate:
    """What places of a comparison are pointed to by.

    Args:
        sources: the sources that were compared, the one to be pointed to first.
    """
    for source in sources:
        path = _file(source)
        if path is not None:
            return _Lines(path).at
    found = _anywhere()
    return lambda _: found


def of_entries(project: "Project", server: str) -> Locate:
    """What places of a pinned server are pointed to by: the line of its pin, else of its entry."""
    path = _relative(project.lockfile_path)
    entries = project.lockfile.named(server)
    if path is None or not entries:
        found = _anywhere() if path is None else Location(path)
        return lambda _: found
    numbers = _lines_of(project.lockfile_path, entries)
    first = min(numbers.values(), default=1)
    return lambda place: Location(path, numbers.get((place.kind.value, place.name), first))


def _lines_of(lockfile: Path, entries: "tuple[Entry, ...]") -> dict[tuple[str, str], int]:
    """The lines of a server's pins by kind and name, and of its entries by nothing."""
    from toolnotary_verifier.canonical import canonical_bytes

    wanted = {
        canonical_bytes(line): (str(line.get("pin", "")), str(line.get("name", "")))
        for entry in entries
        for line in lines_of(entry)
    }
    read = (line.removesuffix(b"\r") for line in lockfile.read_bytes().split(b"\n"))
    found: dict[tuple[str, str], int] = {}
    for number, line in enumerate(read, start=1):
        if line in wanted:
            found.setdefault(wanted[line], number)
    return found


class _Lines:
    """The lines of a saved listing on which names stand; the first where one cannot be found."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._number = cache(self._numbers)

    def at(self, place: Place) -> Location:
        """The line of a definition."""
        return Location(self._path, self._number().get(place.name, 1))

    def _numbers(self) -> dict[str, int]:
        root = places.repository() or Path.cwd()
        with (root / self._path).open("rb") as file:
            raw = file.read(_MOST)
        found: dict[str, int] = {}
        for number, line in enumerate(raw.split(b"\n"), start=1):
            for met in _NAME.finditer(line):
                found.setdefault(_text(met[1]), number)
        return found


def _text(raw: bytes) -> str:
    try:
        return str(json.loads(raw))
    except ValueError:  # not UTF-8, or an escape that is none
        return ""


def _file(source: Source) -> str | None:
    """The file that a source is in, if it lies in the repository."""
    if not isinstance(source, Saved) or source.paths[0] == STANDARD_INPUT:
        return None
    return _relative(source.paths[0])


def _anywhere() -> Location:
    """A file of the project that speaks of servers; where its lockfile would lie if there is none."""
    for path in (places.nearest(places.LOCKFILE), places.nearest(places.POLICY)):
        found = None if path is None else _relative(path)
        if found is not None:
            return Location(found)
    return Location(places.LOCKFILE)


def _relative(path: Path) -> str | None:
    """A path as the repository's root sees it; None for one that lies elsewhere."""
    root = places.repository() or Path.cwd()
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return None
