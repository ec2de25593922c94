# SPDX-License-Identifier: Apache-2.0
"""Every file of a host that is there, every server in it, and what shows where they are seen together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_cli import exits, places
from toolnotary_cli.hosts.discovery import files as there
from toolnotary_cli.hosts.discovery import reader_of
from toolnotary_cli.hosts.documents import Document, load
from toolnotary_cli.hosts.entries import entries
from toolnotary_cli.hosts.guarded import Guarded
from toolnotary_cli.hosts.surroundings import Surroundings
from toolnotary_cli.hosts.table import Scope
from toolnotary_cli.scan.findings import Finding
from toolnotary_cli.scan.state import Configured, configured
from toolnotary_cli.verdicts import worst
from toolnotary_verifier.errors import CannotTell, ToolnotaryError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.review.shadowing import Shadow, shadows
from toolnotary_verifier.surface import host_name

if TYPE_CHECKING:
    from toolnotary_verifier.project import Project

_MOST_TOLD: Final = 8  # names in one finding


class Failed(NamedTuple):
    """A file whose servers are not known.

    Attributes:
        path: the file.
        host: the host that reads it; empty where nobody knows.
        error: why.
        is_named: whether it stood on the command line.
    """

    path: Path
    host: str
    error: ToolnotaryError
    is_named: bool

    @property
    def exit_code(self) -> int:
        """What it ends the command with: what was asked about could not be inspected."""
        return self.error.exit_code if self.is_named else exits.UNREACHED


@dataclass(slots=True)
class Survey:
    """What was found.

    Attributes:
        documents: the files that could be read, in the order of the table.
        failed: those that could not.
        servers: every server of the former.
        shadows: by host, tools that it gets from several servers and that stand in each other's way.
    """

    documents: list[Document] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    servers: list[Configured] = field(default_factory=list)
    shadows: dict[str, list[Shadow]] = field(default_factory=dict)

    def exit_code(self, *, is_strict: bool) -> int:
        """What it ends the command with.

        Args:
            is_strict: whether every finding is objected to, not only what leaves a definition unchecked.
        """
        codes = [*(one.exit_code for one in self.servers), *(one.exit_code for one in self.failed)]
        active = (one for one in self.servers if not one.entry.is_disabled)
        if is_strict and (any(one.findings for one in active) or any(self.shadows.values())):
            codes.append(exits.OBJECTION)
        return worst(codes)


class Pinning:
    """The files that servers are held to, each read once."""

    def __init__(self, lockfile: Path | None, policy: Path | None) -> None:
        self._given = lockfile, policy
        self._opened = cache(self._open)

    def __call__(self, through: Guarded | None) -> "list[Project]":
        """Those that a wrapped entry is led to; else those in force here, and then one's own."""
        if through is None:
            return self._opened(*self._given, is_here=True)
        named = (through.options.get(name) for name in ("lockfile", "policy"))
        lockfile, policy = (Path(value) if value else None for value in named)
        return self._opened(lockfile, policy, is_here=False)

    def check(self) -> None:
        """Read what was named, whether or not any server is held to it.

        Raises:
            ToolnotaryError: it cannot be read, or is not valid.
        """
        if any(self._given):
            self(None)

    def _open(self, lockfile: Path | None, policy: Path | None, *, is_here: bool) -> "list[Project]":
        from toolnotary_cli.opening import open_project

        first = open_project(lockfile=lockfile, policy=policy, nearby=is_here)
        own = places.lockfile(None, project=False)
        if lockfile is not None or first.lockfile_path == own:
            return [first]
        return [first, first.with_lockfile(own)]


def survey(files: Sequence[Path], hosts: Sequence[str], pinning: Pinning) -> Survey:
    """The servers of the files that were named, else of all that are there; nothing is started.

    Args:
        files: these alone.
        hosts: the hosts whose files are looked for; of files that were named, the host that reads them.
        pinning: gives the files that they are held to.

    Raises:
        ConfigurationError: `host-ambiguous`.
        ToolnotaryError: what was named to hold them to cannot be read.
    """
    pinning.check()
    here, found = Surroundings.here(), Survey()
    for path, host, is_cut in _wanted(files, hosts, here):
        try:
            if is_cut:
                raise _cut(path)
            document = load(path, here, host=host)
        except ToolnotaryError as error:
            found.failed.append(Failed(path, host or "", error, is_named=bool(files)))
            continue
        found.documents.append(document)
        found.servers += [configured(document, entry, pinning) for entry in entries(document)]
    _compare(found)
    return found


def _wanted(
    files: Sequence[Path], hosts: Sequence[str], surroundings: Surroundings
) -> Iterator[tuple[Path, str | None, bool]]:
    """The files, the host that reads each, and whether it is a folder of which not all was searched."""
    host = reader_of(files, hosts)
    if files:
        yield from ((path, host, False) for path in files)
        return
    scopes: tuple[Scope, ...] = ("user", "project", "plugin", "managed")
    yield from (
        (one.path, one.row.host, one.is_cut) for one in there(surroundings, hosts=hosts, scopes=scopes)
    )


def _cut(folder: Path) -> CannotTell:
    shown = escape(str(folder), limit=300)
    return CannotTell("host-folder", f"{shown}: there are too many folders below it, not all were searched")


def compare_again(found: Survey) -> None:
    """Compare tools anew, after servers were looked at."""
    found.shadows = _shadows(found.servers)


def _compare(found: Survey) -> None:
    for servers in _by_host(found.servers).values():
        _tell_twice(servers)
        _tell_alike(servers)
    compare_again(found)


def _by_host(servers: Iterable[Configured]) -> dict[str, list[Configured]]:
    """The servers that a host starts, by host; by file where no host is known."""
    found: dict[str, list[Configured]] = {}
    for one in servers:
        if not one.entry.is_disabled:
            found.setdefault(one.document.host or str(one.document.path), []).append(one)
    return found


def _tell_twice(servers: Sequence[Configured]) -> None:
    """One launch under several entries of a host: its tools stand there twice."""
    launched: dict[str, list[Configured]] = {}
    for one in sorted(servers, key=called):
        if one.launch is not None:
            launched.setdefault(one.launch.digest, []).append(one)
    for same in launched.values():
        for one in same if len(same) > 1 else ():
            others = dict.fromkeys(called(other) for other in same[: _MOST_TOLD + 1] if other is not one)
            told = ", ".join(others)
            one.findings.append(Finding("configured-twice", f"the same server is configured as {told} too"))


def _tell_alike(servers: Sequence[Configured]) -> None:
    """Names of servers of which hosts make one: they stand before the names of tools."""
    folded: dict[str, set[str]] = {}
    for one in servers:
        folded.setdefault(host_name(one.entry.name).lower(), set()).add(one.entry.name)
    first = {fold: sorted(names)[: _MOST_TOLD + 1] for fold, names in folded.items()}
    for one in servers:
        others = [name for name in first[host_name(one.entry.name).lower()] if name != one.entry.name]
        if others:
            told = ", ".join(escape(name, limit=80) for name in others[:_MOST_TOLD])
            one.findings.append(Finding("server-name", f"hosts may take its name for that of {told}"))


def _shadows(servers: Iterable[Configured]) -> dict[str, list[Shadow]]:
    found = {}
    for host, held in _by_host(servers).items():
        # The same server twice has every name twice, which is told once, of the server.
        first = {one.launch.digest: one for one in reversed(held) if one.launch is not None}
        found[host] = shadows({_named(one): one.held for one in first.values()})
    return {host: some for host, some in found.items() if some}


def _named(one: Configured) -> str:
    """What a host calls a server, and for which folder."""
    return f"{one.entry.name} (for {one.entry.where})" if one.entry.where else one.entry.name


def called(one: Configured) -> str:
    """What a host calls a server, and for which folder; escaped."""
    name = escape(one.entry.name, limit=80)
    return f"{name} (for {escape(one.entry.where, limit=200)})" if one.entry.where else name
