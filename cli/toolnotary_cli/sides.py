# SPDX-License-Identifier: Apache-2.0
"""Both sides of one definition, as far as they are at hand: what is pinned, what was shown, who accepted it.

From lockfile, objects, state, and what guarded connections kept; nothing is started or asked.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from toolnotary_verifier.canonical import Digest, parse
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.lockfile import Entry, SignedEntry
from toolnotary_verifier.looks import Objection
from toolnotary_verifier.overrides import Override
from toolnotary_verifier.pins import Key, Pins
from toolnotary_verifier.places import seen_folder
from toolnotary_verifier.project import Project
from toolnotary_verifier.sightings import Sighting, Sightings


class Accepted(NamedTuple):
    """When something came to count, and by whose word.

    Attributes:
        at: when it was recorded, in UTC; empty where no record says so.
        signer: the identity that signed it; None where a person accepted it without a signature.
    """

    at: str
    signer: str | None


class Sides(NamedTuple):
    """Everything that can be compared of one name.

    Attributes:
        pinned: the digests that are pinned, or were, with their definitions; None where one is not at hand.
        live: the definition that was shown; None where it is not at hand.
        live_digest: its digest; None where nothing that has one was shown, or nobody looked.
        seen: when it was kept, in UTC; empty where it was not, or where it is the pinned one.
        accepted: when what is pinned came to count; None where nothing is.
        override: what passes by break-glass under this name.
    """

    pinned: tuple[tuple[Digest, Definition | None], ...]
    live: Definition | None
    live_digest: Digest | None
    seen: str
    accepted: Accepted | None
    override: Override | None


class Comparer:
    """Finds both sides for the definitions of one entry of the lockfile.

    Args:
        project: the files.
        entry: the entry.
        pins: what of it counts.
        was_seen: whether the last look was under these pins, so that what it did not object to was as pinned.
    """

    def __init__(self, project: Project, entry: Entry, pins: Pins, *, was_seen: bool) -> None:
        self._project, self._entry, self._pins, self._was_seen = project, entry, pins, was_seen

    def sides(self, key: Key, digests: Iterable[Digest], objection: Objection | None) -> Sides:
        """Both sides of the definitions of one name.

        Args:
            key: kind and name.
            digests: what is pinned under it, or was.
            objection: why it did not pass at the last look; None where it did, or was not named.
        """
        pinned = tuple((digest, self._text(key, digest)) for digest in digests)
        live, seen = None, ""
        override = next((one for one in self._pins.overrides if (one.kind, one.name) == key), None)
        digest = None if objection is None else objection.live
        if objection is None and override is not None:
            digest = override.digest
        if digest is None and objection is None and self._was_seen and len(pinned) == 1:
            digest, live = pinned[0]
        elif digest is not None:
            kept = kept_of(self._project, self._entry)
            found = None if kept is None else kept.surface.definitions.get(key)
            if kept is not None and found is not None and found.digest == digest:
                live, seen = found, kept.at
        accepted = self._accepted(key, pinned) if pinned else None
        return Sides(pinned, live, digest, seen, accepted, override)

    def _text(self, key: Key, digest: Digest) -> Definition | None:
        try:
            for profile in (*self._pins.profiles, *self._pins.others):
                for one in profile.definitions.get(key, ()):
                    if one.exact == digest:
                        return one.text()
            content = self._project.objects.get(digest)
            if content is None:
                return None
            limits = self._project.policy.limits
            value = parse(content, max_bytes=limits.definition_bytes, max_depth=limits.definition_depth)
            return Definition.of(key[0], value, limits=limits)
        except ToolnotaryError:  # it is told as not at hand; `check` says what is wrong with the file
            return None

    def _accepted(self, key: Key, pinned: Iterable[tuple[Digest, Definition | None]]) -> Accepted:
        entry = self._entry
        if isinstance(entry, SignedEntry):
            at = _last(
                self._project, entry, "accepted-manifest", lambda event: event["manifest"] == entry.manifest
            )
            return Accepted(at, entry.signer)
        rows = [[key[0].value, key[1], digest] for digest, _ in pinned]
        at = _last(self._project, entry, "accepted", lambda event: any(row in event["pins"] for row in rows))
        return Accepted(at, None)


def kept_of(project: Project, entry: Entry) -> Sighting | None:
    """What a guarded connection kept last of the server under this launch; None where nothing is readable."""
    try:
        return Sightings(seen_folder(), limits=project.policy.limits).last(entry.server, entry.place[1])
    except ToolnotaryError:
        return None


def _last(project: Project, entry: Entry, name: str, fits: Callable[[dict[str, Any]], bool]) -> str:
    """When the last event of a kind was recorded for an entry; empty where none was."""
    server, launch = entry.place
    for line in reversed(project.state.recorded.splitlines()):
        if b'"event":"%s"' % name.encode("ascii") in line:
            event = json.loads(line)
            if (event["server"], event["launch"]) == (server, launch) and fits(event):
                return str(event.get("at", ""))
    return ""
