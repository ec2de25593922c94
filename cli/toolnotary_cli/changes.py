# SPDX-License-Identifier: Apache-2.0
"""What differs between what is pinned and what a server shows: the facts that every review draws from."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Inspection, Judgement, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from toolnotary_verifier.canonical import Digest
    from toolnotary_verifier.pins import Pins
    from toolnotary_verifier.review import Review
    from toolnotary_verifier.review.cause import Causes
    from toolnotary_verifier.review.shadowing import Shadow
    from toolnotary_verifier.sightings import Sighting

Key = tuple[Kind, str]


class Changes(NamedTuple):
    """Everything that is not as pinned.

    Attributes:
        surface: what the server shows.
        verdicts: about what is not as pinned.
        new: the definitions that the verdicts are about, as they are now.
        review: what changed in them; None where the extra `review` is not installed.
        lost: verdicts about definitions whose pinned text is not at hand.
        causes: what the difference comes from, as far as the two sides show it.
    """

    surface: Surface
    verdicts: tuple[Verdict, ...]
    new: dict[Key, Definition]
    review: "Review | None"
    lost: tuple[Verdict, ...]
    causes: "Causes"


class Question(NamedTuple):
    """What a person is asked to accept, and all that they are shown about it.

    Attributes:
        server: the name that the user gave the server.
        launch: how it is started or reached, escaped and masked.
        lockfile: where the pin would move.
        change_set: the digest that the answer is bound to.
        changes: what is not as pinned.
        signed: lines about the signature of the version that would be pinned; none where nobody signed it.
        notes: escaped lines to read before agreeing.
        warnings: which no of the person a yes would take back.
        shadows: what of the change stands in the way of another server's tools, or names one.
        seen: the guarded connection that it was seen on; None where it was looked at just now.
    """

    server: str
    launch: str
    lockfile: "Path"
    change_set: "Digest"
    changes: Changes
    signed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    shadows: "tuple[Shadow, ...]" = ()
    seen: "Sighting | None" = None

    @property
    def seen_on(self) -> str:
        """When and by which launch it was seen, in a line; empty where it was looked at just now."""
        if self.seen is None:
            return ""
        return f"seen {self.seen.at} {self.where_seen}, started as {self.seen.line}"

    @property
    def where_seen(self) -> str:
        """What kind of connection that was."""
        is_parsed = self.seen is not None and self.seen.inspection is Inspection.PARSED
        return "on a guarded connection" + (" (parsed: repeated keys are not noticed)" if is_parsed else "")


def changes_of(surface: Surface, judgement: Judgement, pins: "Pins") -> Changes:
    """What is not as pinned.

    Args:
        surface: what the server shows.
        judgement: what was decided about it.
        pins: what it was judged by.
    """
    from toolnotary_cli.caused import of_pins

    new = {
        (verdict.kind, verdict.name): surface.definitions[verdict.kind, verdict.name]
        for verdict in judgement.changes
        if isinstance(verdict.kind, Kind) and (verdict.kind, verdict.name) in surface.definitions
    }
    old = {key: text for key, text in _pinned(judgement, pins) if key in new}
    lost = [v for v in judgement.changes if v.pinned and v.live and (v.kind, v.name) not in old]
    causes = of_pins(surface, pins, is_other_version=judgement.offered is not None)
    return Changes(surface, judgement.changes, new, _review(surface, old, new), tuple(lost), causes)


def _review(surface: Surface, old: dict[Key, Definition], new: dict[Key, Definition]) -> "Review | None":
    from toolnotary_verifier.review import review

    try:
        return review(surface._replace(definitions=old, faults=()), surface._replace(definitions=new))
    except ConfigurationError as error:
        if error.code != "missing-extra":
            raise
        return None


def _pinned(judgement: Judgement, pins: "Pins") -> Iterator[tuple[Key, Definition]]:
    for verdict in judgement.changes:
        text = _text(verdict, pins)
        if text is not None:
            yield text.key, text


def _text(verdict: Verdict, pins: "Pins") -> Definition | None:
    if verdict.pinned is None or not isinstance(verdict.kind, Kind):
        return None
    for profile in pins.profiles:
        for one in profile.definitions.get((verdict.kind, verdict.name), ()):
            if one.exact == verdict.pinned:
                return one.legible()
    return None
