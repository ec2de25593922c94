# SPDX-License-Identifier: Apache-2.0
"""Why a server, or one tool of it, is in its state: from lockfile, policy and state, which stay as they are.

This is what a refused call names, so a model may run it: nothing here writes, starts, connects or asks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolnotary_cli.wording import counted
from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.lockfile import Entry, Lockfile, SignedEntry
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.project import Project

SCHEMA: Final = "https://toolnotary.dev/output/explain/v1"
_OUTCOMES: Final = {
    "verified": "everything it showed was as pinned",
    "drift": "something it showed was not as pinned, and was withheld",
    "unpinned": "nothing is pinned for it, so nothing of it passes",
    "not-inspected": "it could not be inspected",
}
_STANDINGS: Final = {
    "pinned": "it passes as long as the server shows exactly this definition",
    "withdrawn": "this definition was withdrawn; it does not pass",
    "unaccepted": "the lockfile pins it, and the user has not accepted that; it does not pass",
    "unpinned": "nothing is pinned under this name; it does not pass",
    "blocked": "the server as a whole is held back, and this with it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """What is known about the definitions of one name.

    Attributes:
        kind: what they define.
        name: the name.
        standing: `pinned`, `withdrawn`, `unaccepted`, `unpinned` or `blocked`.
        digests: of what is pinned under the name, sorted.
    """

    kind: Kind
    name: str
    standing: str
    digests: tuple[Digest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """One entry of the lockfile for the server.

    Attributes:
        launch: how it is started or reached, as recorded, escaped and masked.
        about: what it is pinned to, in a line.
        blocked: why nothing of it counts, in a line; empty where it does.
        definitions: what is pinned, or what was asked about.
        seen: the last recorded look at it, None where there was none.
    """

    launch: str
    about: str
    blocked: str
    definitions: tuple[Definitions, ...]
    seen: JsonObject | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that is known about a server, or about one name of it.

    Attributes:
        server: its name.
        asked: the name that was asked about, None for all.
        entries: what the lockfile pins it to, an entry a launch.
        known: whether the user ever decided anything about it.
    """

    server: str
    asked: str | None
    entries: tuple[Pinned, ...]
    known: bool


def explain(project: Project, server: str, name: str | None) -> Explanation:
    """What is known about `server`, or about the definitions called `name`.

    What cannot be loaded (a bundle that proves nothing, an object that is missing) is part of the
    explanation.

    Args:
        project: the files.
        server: the name that the user gave it.
        name: the name of a tool or other definition; None for all.
    """
    return Explanation(
        server=server,
        asked=name,
        entries=tuple(_pinned(project, entry, name) for entry in project.lockfile.named(server)),
        known=project.state.knows(server),
    )


def _pinned(project: Project, entry: Entry, name: str | None) -> Pinned:
    alone = project._replace(lockfile=Lockfile((entry,)))
    blocked = ""
    try:
        pins = load_pins(alone, server=entry.server, launch=None)
    except ToolnotaryError as error:
        pins, blocked = Pins(), f"{error.code}: {error.message}"
    if pins.standing is not None:
        blocked = f"{pins.standing.reason}: {pins.standing.detail}"
    return Pinned(
        launch=_launch(entry),
        about=_about(entry),
        blocked=blocked,
        definitions=tuple(_definitions(pins, name, blocked=bool(blocked))),
        seen=project.state.history.outcomes.get(entry.place),
    )


def _about(entry: Entry) -> str:
    if isinstance(entry, SignedEntry):
        version = escape(entry.version, limit=80)
        return f"version {version} (sequence {entry.sequence}), signed by {escape(entry.signer, limit=120)}"
    return f"{counted(len(entry.pins), 'definition')}, without a signature"


def _launch(entry: Entry) -> str:
    written = entry.recorded or entry.launch
    argv, url = written.get("argv"), written.get("url")
    words = argv if isinstance(argv, list) else [url]
    return escape(" ".join(word for word in words if isinstance(word, str)), limit=500)


def _definitions(pins: Pins, name: str | None, *, blocked: bool) -> Iterator[Definitions]:
    held: dict[tuple[Kind, str], set[Digest]] = {}
    for profile in pins.profiles:
        for key, found in profile.definitions.items():
            held.setdefault(key, set()).update(one.exact for one in found)
    manifests = {profile.manifest for profile in pins.profiles}
    all_withdrawn = bool(manifests) and manifests <= pins.revoked
    for key in sorted(held):
        if name in (None, key[1]):
            withdrawn = all_withdrawn or held[key] <= pins.revoked
            standing = "blocked" if blocked else "withdrawn" if withdrawn else "pinned"
            yield Definitions(kind=key[0], name=key[1], standing=standing, digests=tuple(sorted(held[key])))
    rest = sorted(row for row in pins.unaccepted if name in (None, row[1]))
    for kind, found_name, digest in rest:
        yield Definitions(kind=kind, name=found_name, standing="unaccepted", digests=(digest,))
    if name is not None and all(key[1] != name for key in held) and not rest:
        yield Definitions(kind=Kind.TOOL, name=name, standing="blocked" if blocked else "unpinned")


def document(explanation: Explanation) -> JsonObject:
    """The explanation for programs (docs/schemas/explain.json)."""
    return {
        "schema": SCHEMA,
        "server": explanation.server,
        "known": explanation.known,
        "entries": [
            {
                "launch": entry.launch,
                "pinnedTo": entry.about,
                "blocked": entry.blocked or None,
                "lastSeen": _seen(entry.seen),
                "definitions": [
                    {
                        "kind": one.kind.value,
                        "name": one.name,
                        "standing": one.standing,
                        "digests": list[JsonValue](one.digests),
                    }
                    for one in entry.definitions
                ],
            }
            for entry in explanation.entries
        ],
    }


def _seen(event: JsonObject | None) -> JsonValue:
    if event is None:
        return None
    return {name: event.get(name) for name in ("at", "outcome", "counts", "note")}


def lines(explanation: Explanation) -> Iterator[str]:
    """The explanation for whoever reads it, a model included: no instruction, no way to grant anything."""
    server = escape(explanation.server, limit=200)
    if not explanation.entries:
        yield f"{server}: not pinned here; nothing of it passes until a person pins it"
        if explanation.known:
            yield "  the user decided about it before, so it is not a first sight"
    for entry in explanation.entries:
        yield f"{server}: pinned to {entry.about}"
        yield f"  launch: {entry.launch}"
        if entry.blocked:
            yield f"  held back: {entry.blocked}"
        yield from _last_look(entry.seen)
        yield from _names(entry.definitions, single=explanation.asked is not None)
    yield "Only a person can change what is pinned, in a terminal."


def _last_look(event: JsonObject | None) -> Iterator[str]:
    if event is None:
        yield "  no look at it is recorded"
        return
    outcome, note = str(event["outcome"]), str(event["note"])
    counts = event["counts"].items() if isinstance(event["counts"], dict) else ()
    told = ", ".join(f"{number} {escape(str(reason), limit=40)}" for reason, number in counts)
    at = escape(str(event.get("at", "an unknown time")), limit=40)
    yield f"  last look: {outcome} at {at}: {_OUTCOMES[outcome]}"
    if told or note:
        yield f"    {told}{'; ' if told and note else ''}{escape(note, limit=300)}"


def _names(definitions: Sequence[Definitions], *, single: bool) -> Iterator[str]:
    for one in definitions:
        yield f"  {one.kind} {escape(one.name, limit=200)}: {one.standing}: {_STANDINGS[one.standing]}"
        if single:
            for digest in one.digests:
                yield f"    {digest}"
