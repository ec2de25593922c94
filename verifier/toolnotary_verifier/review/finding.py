# SPDX-License-Identifier: Apache-2.0
"""What a review says: findings, in groups of the same edit, the most dangerous and rarest first."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.review.risk import Risk, Rule
from toolnotary_verifier.surface import Fault


class Change(StrEnum):
    """What happened at one place."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"

    @classmethod
    def of(cls, old: str | None, new: str | None) -> "Change":
        """What leads from one side to the other, None standing for nothing."""
        return cls.ADDED if old is None else cls.REMOVED if new is None else cls.CHANGED


class Whole(StrEnum):
    """What a finding can be about besides a definition."""

    RELEASE = "release"


class Span(NamedTuple):
    """A stretch of text that came, and that a finding is about.

    Attributes:
        start: its first character, in characters (code points) of the text at the finding's path.
        end: one past its last.
        text: the stretch as received (escape before showing), cut after `EXCERPT` characters.
        in_name: whether the text is the last step of the path, a name, and not the value there.
    """

    start: int
    end: int
    text: str
    in_name: bool = False


EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """One place that differs.

    Attributes:
        kind: what the definition defines.
        name: its name as received (escape before showing).
        change: what happened at `path`.
        path: where in the new definition (in the old one, where something was removed), as a JSON pointer
            (RFC 6901); empty for the definition as a whole.
        old: canonical JSON text of what stood there, None where nothing did.
        new: canonical JSON text of what stands there now, None where nothing does.
    """

    kind: Kind
    name: str
    change: Change
    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says of one place. Every difference lies at or below the place of some finding.

    Attributes:
        rule: which.
        kind: what the definition defines.
        name: its name as received (escape before showing).
        change: what happened at `path`.
        path: a JSON pointer as in `Difference`; it can stand above the places that differ.
        old: canonical JSON text of what stood there, None where nothing did.
        new: canonical JSON text of what stands there now, None where nothing does.
        added: where in the new text it was found; empty for rules that are not about a text.
    """

    rule: Rule
    kind: Kind | Whole
    name: str
    change: Change
    path: str
    old: str | None
    new: str | None
    added: tuple[Span, ...] = ()

    @property
    def risk(self) -> Risk:
        """That of its rule."""
        return self.rule.risk


@dataclass(frozen=True, slots=True)
class Group:
    """The same edit, made in one place or in many.

    Attributes:
        findings: one for each place, in order of kind, name and path; never empty.
    """

    findings: tuple[Finding, ...]

    @property
    def finding(self) -> Finding:
        """The first, which stands for all."""
        return self.findings[0]

    @property
    def rule(self) -> Rule:
        """That of all of them."""
        return self.finding.rule

    @property
    def risk(self) -> Risk:
        """That of all of them."""
        return self.finding.rule.risk

    @property
    def count(self) -> int:
        """In how many places it was made."""
        return len(self.findings)


@dataclass(frozen=True, slots=True)
class Rename:
    """A definition that went and one that came and looks like it: a hint, never a judgement.

    Attributes:
        kind: what the two define.
        old: the name that is gone.
        new: the name that is new.
        exact: whether nothing but the name differs.
        similarity: how much of what they say is the same, in percent.
    """

    kind: Kind
    old: str
    new: str
    exact: bool
    similarity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Everything that differs between two surfaces.

    Attributes:
        groups: all findings, by risk, then the edit made in the fewest places first.
        differences: every place that differs, sorted by kind and name, within a definition in document order.
        old_faults: entries of the old surface that are no definitions and so cannot be compared.
        new_faults: the same of the new surface.
        renames: removed and added definitions that belong together, probably.
        notes: escaped lines worth telling that are no difference.
    """

    groups: tuple[Group, ...] = ()
    differences: tuple[Difference, ...] = ()
    old_faults: tuple[Fault, ...] = ()
    new_faults: tuple[Fault, ...] = ()
    renames: tuple[Rename, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order of their groups."""
        return tuple(finding for group in self.groups for finding in group.findings)

    @property
    def differs(self) -> bool:
        """Whether the surfaces are not equal, or could not be compared throughout."""
        return bool(self.differences or self.old_faults or self.new_faults)

    @property
    def risk(self) -> Risk:
        """That of the most dangerous change; what cannot be read counts as `high`."""
        faults = Risk.HIGH if self.old_faults or self.new_faults else Risk.NONE
        return max((faults, *(group.risk for group in self.groups)))


Told = TypeVar("Told", Difference, Finding)


def by_definition(findings: Iterable[Told]) -> dict[tuple[str, str], list[Told]]:
    """The findings or differences of each definition, by kind and name, in the order given."""
    found: dict[tuple[str, str], list[Told]] = {}
    for finding in findings:
        found.setdefault((finding.kind, finding.name), []).append(finding)
    return found
