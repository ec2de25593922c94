# SPDX-License-Identifier: Apache-2.0
"""Why a server, or one tool of it, is in its state: from lockfile, policy and state, which stay as they are.

This is what a refused call names, so a model may run it: nothing here writes, starts, connects or asks.
`explained` tells it.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolnotary_cli import places
from toolnotary_cli.looking import entry_launch, entry_source, launch_needed
from toolnotary_cli.sides import Comparer, Sides, kept_of
from toolnotary_cli.source import Command
from toolnotary_cli.wording import counted
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, ToolnotaryError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.lockfile import Entry, SignedEntry
from toolnotary_verifier.looks import Look, Objection
from toolnotary_verifier.objects import Objects
from toolnotary_verifier.overrides import Override
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.pins import Key, Pins
from toolnotary_verifier.project import Project
from toolnotary_verifier.shellwords import command, is_typeable
from toolnotary_verifier.verdict import Outcome, may_be_approved

if TYPE_CHECKING:
    from toolnotary_verifier.review.cause import Causes


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """What is known about the definitions of one name.

    Attributes:
        kind: what they define.
        name: the name.
        standing: `pinned`, `withdrawn`, `unaccepted`, `unpinned` or `blocked`.
        digests: of what is pinned under the name, or was until it was withdrawn; sorted.
        objection: why it did not pass at the last look under what is pinned now; None where it passed, or
            where no such look named it.
        sides: both sides of it, for a name that was asked about; None otherwise.
    """

    kind: Kind
    name: str
    standing: str
    digests: tuple[Digest, ...] = ()
    objection: Objection | None = None
    sides: Sides | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """One entry of the lockfile for the server.

    Attributes:
        launch: how it is started or reached, as recorded, escaped and masked.
        about: what it is pinned to, in a line.
        blocked: why nothing of it counts, in a line; empty where it does.
        definitions: what is pinned or was objected to, or what was asked about.
        look: the last recorded look at it, None where there was none.
        is_current: whether that look was under what is pinned now.
        is_declined: whether the user said no to what it saw.
        overrides: what passes by break-glass.
        difference: the command that shows what the server shows instead of what is pinned.
        causes: what made that look differ, as far as what was shown then was kept; None where it was not.
    """

    launch: str
    about: str
    blocked: str
    definitions: tuple[Definitions, ...]
    look: Look | None
    is_current: bool
    is_declined: bool
    overrides: tuple[Override, ...]
    difference: str
    causes: "Causes | None" = None

    @property
    def objected(self) -> bool:
        """Whether anything did not pass at the last look under what is pinned now."""
        return self.is_current and self.look is not None and bool(self.look.objections or self.look.unnamed)

    @property
    def is_approvable(self) -> bool:
        """Whether an approval could let through any of that; what is not recorded by name, it could."""
        if not self.objected or self.look is None:
            return False
        return may_be_approved((one.kind, one.reason, one.live) for one in self.look.objections)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that is known about a server, or about one name of it.

    Attributes:
        server: its name.
        asked: the name that was asked about, None for all.
        entries: what the lockfile pins it to, an entry a launch.
        elsewhere: the last looks at it under launches that the lockfile does not pin.
        known: whether the user ever decided anything about it.
        accepted: whether the user accepted anything of it that was not withdrawn since, in any lockfile.
        withdrawn: whether anything of it was withdrawn.
        decide: the command with which a person decides what is pinned.
        pin: the command with which a person pins it, where nothing is pinned.
        elsewhere_pinned: the command that explains it by another lockfile.
    """

    server: str
    asked: str | None
    entries: tuple[Pinned, ...]
    elsewhere: tuple[Look, ...]
    known: bool
    accepted: bool
    withdrawn: bool
    decide: str
    pin: str
    elsewhere_pinned: str

    @property
    def waits(self) -> bool:
        """Whether something that is told of passes once a person accepted it, or accepted it again."""
        told = (one for entry in self.entries for one in entry.definitions)
        return any(one.standing in ("withdrawn", "unaccepted") for one in told)


def explain(project: Project, server: str, name: str | None, *, options: Sequence[str] = ()) -> Explanation:
    """What is known about `server`, or about the definitions called `name`.

    What cannot be loaded (a bundle that proves nothing, an object that is missing) is part of the
    explanation.

    Args:
        project: the files.
        server: the name that the user gave it.
        name: the name of a tool or other definition; None for all.
        options: what leads other commands to the same files.

    Raises:
        InvalidInput: `lockfile-corrupt` if an entry records no launch.
    """
    entries = project.lockfile.named(server)
    here = {entry.place for entry in entries}
    looks = project.state.history.looks
    return Explanation(
        server=server,
        asked=name,
        entries=tuple(_pinned(project, entry, name, options) for entry in entries),
        elsewhere=tuple(looks[place] for place in sorted(looks) if place[0] == server and place not in here),
        known=project.state.knows(server),
        accepted=_is_accepted(project, server),
        withdrawn=bool(project.state.revoked(server)),
        decide=command("approve", server, *options, behind=launch_needed(project, server)),
        pin=command("lock", None, "--server", server, *options, behind="-- COMMAND"),
        elsewhere_pinned=command("explain", server, behind="--lockfile FILE"),
    )


def _is_accepted(project: Project, server: str) -> bool:
    """Whether the user accepted anything of it that counts still, whichever lockfile pins it."""
    known, revoked = project.state.history, project.state.revoked(server)
    pins = (found for place, found in known.pins.items() if place[0] == server)
    manifests = (found - revoked for place, found in known.manifests.items() if place[0] == server)
    return any(pins) or any(manifests)


def _pinned(project: Project, entry: Entry, name: str | None, options: Sequence[str]) -> Pinned:
    launch = entry_launch(project, entry)
    blocked = ""
    try:
        pins = load_pins(project, server=entry.server, launch=launch)
    except ToolnotaryError as error:
        pins, blocked = Pins(), f"{error.code}: {error.message}"
    is_loaded = not blocked
    if pins.standing is not None:
        blocked = f"{pins.standing.reason}: {pins.standing.detail}"
    look = project.state.history.looks.get(entry.place)
    is_current = look is not None and is_loaded and look.pinned == pins.digest()
    objections = look.objections if look is not None and is_current else ()
    was_seen = is_current and look is not None and look.outcome is not Outcome.NOT_INSPECTED
    comparer = None if name is None else Comparer(project, entry, pins, was_seen=was_seen)
    taken_back = project.state.history.taken_back.get(entry.place, ())
    return Pinned(
        launch=launch.display,
        about=_about(entry),
        blocked=blocked,
        definitions=tuple(_definitions(pins, taken_back, name, objections, comparer, blocked=bool(blocked))),
        look=look,
        is_current=is_current,
        is_declined=look is not None and project.state.declined(entry.server, look.change_set),
        overrides=pins.overrides,
        difference=_difference(project, entry, options),
        causes=_causes(project, entry, pins, look) if look is not None and objections else None,
    )


def _causes(project: Project, entry: Entry, pins: Pins, look: Look) -> "Causes | None":
    """From what a guarded connection kept, where that is what the last look was at."""
    from toolnotary_cli.caused import of_pins

    kept = kept_of(project, entry)
    return of_pins(kept.surface, pins) if kept is not None and kept.change_set == look.change_set else None


def _about(entry: Entry) -> str:
    if isinstance(entry, SignedEntry):
        version = escape(entry.version, limit=80)
        return f"version {version} (sequence {entry.sequence}), signed by {escape(entry.signer, limit=120)}"
    return f"{counted(len(entry.pins), 'definition')}, without a signature"


def _definitions(
    pins: Pins,
    taken_back: Iterable[tuple[Kind, str, Digest]],
    name: str | None,
    objections: Sequence[Objection],
    comparer: Comparer | None,
    *,
    blocked: bool,
) -> Iterator[Definitions]:
    held: dict[Key, set[Digest]] = {}
    for profile in pins.profiles:
        for key, found in profile.definitions.items():
            held.setdefault(key, set()).update(one.exact for one in found)
    unaccepted: dict[Key, set[Digest]] = {}
    for kind, found_name, digest in pins.unaccepted:
        unaccepted.setdefault((kind, found_name), set()).add(digest)
    lost: dict[Key, set[Digest]] = {}
    for kind, found_name, digest in taken_back:
        lost.setdefault((kind, found_name), set()).add(digest)
    seen = {(one.kind, one.name): one for one in objections if isinstance(one.kind, Kind)}
    keys = {key for key in (*held, *unaccepted, *lost, *seen) if name in (None, key[1])}
    if name is not None and not keys:
        keys = {(Kind.TOOL, name)}
    for key in sorted(keys):
        standing = _standing(key, pins, held, unaccepted)
        if standing == "unpinned" and key in lost:
            standing = "withdrawn"
        digests = tuple(sorted(held.get(key) or unaccepted.get(key) or lost.get(key) or ()))
        objection = seen.get(key)
        yield Definitions(
            kind=key[0],
            name=key[1],
            standing="blocked" if blocked and standing in ("pinned", "unpinned") else standing,
            digests=digests,
            objection=objection,
            sides=None if comparer is None else comparer.sides(key, digests, objection),
        )


def _standing(
    key: Key, pins: Pins, held: Mapping[Key, set[Digest]], unaccepted: Mapping[Key, set[Digest]]
) -> str:
    if key in held:
        manifests = {profile.manifest for profile in pins.profiles}
        return "withdrawn" if held[key] <= pins.revoked or manifests <= pins.revoked else "pinned"
    return "unaccepted" if key in unaccepted else "unpinned"


def _difference(project: Project, entry: Entry, options: Sequence[str]) -> str:
    """The command that shows the difference: word by word, where all that it needs is at hand."""
    check = ("--server", entry.server, *options)
    try:
        source = entry_source(project, entry)
    except CannotTell:  # the launch was recorded without its secrets
        return command("check", None, *check, behind="-- COMMAND")
    lockfile = _from_here(project.lockfile_path.absolute())
    live = f"stdio:{shlex.join(source.argv)}" if isinstance(source, Command) else str(entry.launch["url"])
    pinned = f"{lockfile}#{entry.server}"
    is_single = len(project.lockfile.named(entry.server)) == 1 and _has_texts(project, entry)
    if is_single and all(is_typeable(word) and not word.startswith("-") for word in (pinned, live)):
        return command("diff", pinned, live)
    return command("check", None, *check, "--start")


def _has_texts(project: Project, entry: Entry) -> bool:
    """Whether what is pinned lies beside the lockfile, so that it can be read and not only compared."""
    store = Objects(places.objects_folder(project.lockfile_path))
    pinned = [entry.manifest] if isinstance(entry, SignedEntry) else [pin.exact for pin in entry.pins]
    try:
        return all(store.get(digest) is not None for digest in pinned)
    except ToolnotaryError:
        return False


def _from_here(path: Path) -> Path:
    """The path as it is told from the working directory, where it lies below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
