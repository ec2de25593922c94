# SPDX-License-Identifier: Apache-2.0
"""What `wrap` and `unwrap` do with one file of a host, and how that is told."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_cli import exits
from toolnotary_cli.hosts import originals
from toolnotary_cli.hosts.documents import Document, reread
from toolnotary_cli.hosts.entries import Entry, entries
from toolnotary_cli.hosts.located import Replacement
from toolnotary_cli.hosts.masked import difference
from toolnotary_cli.hosts.rewriting import Named, Outcome, unwrapped, wrapped
from toolnotary_cli.hosts.starting import launch_of, start_folder
from toolnotary_cli.output import Look, shown, styled
from toolnotary_verifier.shellwords import command

if TYPE_CHECKING:
    from toolnotary_verifier.project import Project

_LOOKS: Final[dict[str, Look]] = {"wrapped": "good", "unwrapped": "good", "left": "dim", "refused": "warn"}


class Change(NamedTuple):
    """One file, what became of its servers, and its bytes afterwards.

    Attributes:
        document: the file as it was read.
        outcomes: one for each of its servers.
        after: what it holds afterwards; the bytes that were read where nothing changes.
        is_wrap: whether it is made by `wrap`, whose original is kept; else by `unwrap`.
        note: what is to be told of the file as a whole.
    """

    document: Document
    outcomes: tuple[Outcome, ...]
    after: bytes
    is_wrap: bool
    note: str = ""

    @property
    def is_made(self) -> bool:
        """Whether anything changes."""
        return self.after != self.document.raw

    @property
    def exit_code(self) -> int:
        """1 where a server is not as was asked for."""
        return exits.OBJECTION if any(one.state == "refused" for one in self.outcomes) else exits.FINE


def naming(project: "Project") -> Callable[[Document, Entry], Named]:
    """The name for a server's pins: that under which its launch is pinned, else what the host calls it."""

    def named(document: Document, entry: Entry) -> Named:
        launch = launch_of(entry, project, folder=start_folder(document, entry), url=entry.url)
        found = project.server_of(launch)
        if found is not None:
            return Named(found)
        where = ("--lockfile", str(project.lockfile_path.absolute()))
        behind = "-- COMMAND" if entry.url is None else "URL"
        lock = command("lock", None, "--server", entry.name, *where, behind=behind)
        if project.lockfile.named(entry.name):
            told = (
                f"another launch is pinned under this name, and run refuses this one; to pin it too: {lock}"
            )
        else:
            told = f"nothing of it is pinned, and run withholds all that it shows; to pin it: {lock}"
        return Named(entry.name, told)

    return named


def to_wrap(
    document: Document, *, named: Callable[[Document, Entry], Named], options: Sequence[str]
) -> Change:
    """What wrapping a file would make of it; nothing is written.

    Raises:
        CannotTell: `host-file-edit`.
    """
    found = list(entries(document))
    outcomes = tuple(
        wrapped(document, entry, named=partial(named, document), options=options) for entry in found
    )
    edits = [one.edit for one in outcomes if one.edit is not None]
    return Change(document, outcomes, document.edited(edits) if edits else document.raw, is_wrap=True)


def to_unwrap(document: Document) -> Change:
    """What unwrapping a file would make of it; nothing is written.

    Raises:
        CannotTell: `host-file-edit`.
        InvalidInput: `original-corrupt`.
    """
    stored = originals.find(document.target)
    was = None if stored is None else reread(document, stored.content)
    before = {} if was is None else {entry.place: entry for entry in entries(was)}
    found = list(entries(document))
    outcomes = tuple(unwrapped(document, entry, before.get(entry.place), was) for entry in found)
    if stored is not None and originals.digest(document.raw) == stored.wrapped:
        told = "as it was before wrap, byte for byte"
        return Change(document, outcomes, stored.content, is_wrap=False, note=told)
    edits = [one.edit for one in outcomes if one.edit is not None]
    if not edits:
        return Change(document, outcomes, document.raw, is_wrap=False)
    why = "nothing is stored of what it was before" if stored is None else "it was changed after wrap"
    told = f"{why}: only what wrap put in was taken out"
    return Change(document, outcomes, document.edited(edits), is_wrap=False, note=told)


def write(change: Change) -> None:
    """Write what a change makes of a file, its original first.

    Raises:
        Refused: `host-file-changed`, `host-file-foreign`.
        ConfigurationError: `file-not-writable`.
    """
    document = change.document
    if change.is_made:
        document.expect_own()
        if change.is_wrap:
            # Where some of it is wrapped already, what counts as original is the file without that.
            originals.store(document.target, to_unwrap(document).after, change.after)
        document.write(change.after)
    # An entry that leads to a URL can be taken back only while its original is stored.
    if not change.is_wrap and change.exit_code == exits.FINE:
        originals.forget(document.target)


def diff_lines(change: Change) -> list[str]:
    """The difference that a change makes to its file, without any secret."""
    document = change.document
    now = reread(document, change.after)
    found = [*entries(document), *entries(now)]
    added = [word for one in change.outcomes if one.edit is not None for word in _added(one)]
    return difference(document, now, found, added)


def _added(outcome: Outcome) -> Iterator[str]:
    """The words that are ours: those before the server's own command, or all that lead to its URL."""
    edit = outcome.edit
    if isinstance(edit, Replacement):
        for one in edit.value.values() if outcome.state == "wrapped" else ():
            yield from one if isinstance(one, list) else ()
    elif edit is not None and "--" in edit.insert:
        yield from edit.insert[: list(edit.insert).index("--") + 1]
        if edit.command is not None:
            yield edit.command


def change_document(change: Change, diff: Sequence[str] | None) -> dict[str, object]:
    """One file for programs.

    Args:
        change: what becomes of it.
        diff: the difference where nothing is written; None where it is.
    """
    document = change.document
    return {
        "file": str(document.path),
        "host": document.host or None,
        "changed": change.is_made and diff is None,
        "note": change.note or None,
        "diff": diff,
        "servers": [
            {
                "name": one.entry.name,
                "folder": one.entry.where or None,
                "state": one.state,
                "note": one.why or None,
            }
            for one in change.outcomes
        ],
    }


def change_lines(change: Change, diff: Sequence[str] | None) -> Iterator[str]:
    """One file for people; see `change_document`."""
    document = change.document
    host = f" ({document.host})" if document.host else ""
    yield f"{document.shown}{host}" + ("" if change.outcomes else ": names no server")
    for one in change.outcomes:
        refused = "not wrapped" if change.is_wrap else "still wrapped"
        state = refused if one.state == "refused" else one.state
        folder = f" (for {shown(one.entry.where)})" if one.entry.where else ""
        why = f": {shown(one.why, limit=600)}" if one.why else ""
        yield f"  {styled(f'{state:<13}', _LOOKS[one.state])} {shown(one.entry.name)}{folder}{why}"
    if change.note and change.is_made:
        yield f"  {change.note}"
    yield from diff or ()
