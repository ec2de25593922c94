# SPDX-License-Identifier: Apache-2.0
"""The result of `diff`: the reviews of all profiles that two sources have in common, as one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolnotary_cli import caused
from toolnotary_cli.pairing import Pairing, pair
from toolnotary_cli.subject import ALONE, Subject
from toolnotary_cli.wording import counted
from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.review import Change, Difference, Finding, Group, Review, Risk, grouped, review
from toolnotary_verifier.review.cause import Causes, Known, causes_of
from toolnotary_verifier.surface import Fault

SCHEMA: Final = "https://toolnotary.dev/output/diff/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two sources.

    Attributes:
        old: label of the left source.
        new: label of the right source.
        reviews: by profile (`ALONE` where there are none), the same finding in several profiles told with the
            first.
        groups: all findings of all profiles, as a person reads them.
        profiles: by finding, every profile that it was made in.
        pairing: what was compared.
        causes: by profile, what the difference comes from as far as the two surfaces show it.
    """

    old: str
    new: str
    reviews: tuple[tuple[str, Review], ...]
    groups: tuple[Group, ...]
    profiles: dict[Finding, list[str]]
    pairing: Pairing
    causes: tuple[tuple[str, Causes], ...]

    @property
    def differs(self) -> bool:
        """Whether anything does, a profile that only one side has included."""
        return bool(self.pairing.only_old or self.pairing.only_new) or any(
            found.differs for _, found in self.reviews
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many differ, by how: definitions, unreadable entries, profiles of one side; no zeros."""
        names: dict[Change, set[tuple[str, str]]] = {change: set() for change in Change}
        reviews = [found for _, found in self.reviews]
        for found in reviews:
            for one in found.differences:
                change = one.change if one.path == "" else Change.CHANGED
                names[change].add((one.kind, one.name))
        told = {change.value: len(found) for change, found in names.items()}
        told["unreadable"] = sum(len(found.old_faults) + len(found.new_faults) for found in reviews)
        told["profiles"] = len(self.pairing.only_old) + len(self.pairing.only_new)
        return {how: count for how, count in told.items() if count}

    @property
    def risk(self) -> Risk:
        """That of the most dangerous change."""
        return max((Risk.NONE, *(found.risk for _, found in self.reviews)))


def compare(old: Subject, new: Subject) -> Comparison:
    """Compare two sources.

    Raises:
        ConfigurationError: `missing-extra`, if something changed and deepdiff is not installed.
    """
    pairing = pair(old, new)
    known = Known(is_other_version=_is_other_version(old, new))
    # Two profiles of one release differ, and it is one release nonetheless.
    releases = (old.release, new.release) if old.part == new.part else (None, None)
    profiles: dict[Finding, list[str]] = {}
    reviews: list[tuple[str, Review]] = []
    seen: set[Difference] = set()
    for two in pairing.pairs:
        found = review(two.old, two.new, releases=releases)
        fresh = tuple(finding for finding in found.findings if finding not in profiles)
        for finding in found.findings:
            profiles.setdefault(finding, []).extend([two.profile] if two.profile != ALONE else [])
        told: set[object] = {one for _, earlier in reviews for one in (*earlier.notes, *earlier.renames)}
        reviews.append(
            (
                two.profile,
                replace(
                    found,
                    groups=found.groups if len(fresh) == len(found.findings) else grouped(fresh),
                    differences=tuple(one for one in found.differences if one not in seen),
                    notes=tuple(note for note in found.notes if note not in told),
                    renames=tuple(rename for rename in found.renames if rename not in told),
                ),
            )
        )
        seen.update(found.differences)
    return Comparison(
        old=old.label,
        new=new.label,
        reviews=tuple(reviews),
        groups=reviews[0][1].groups if len(reviews) == 1 else grouped(profiles),
        profiles=profiles,
        pairing=pairing,
        causes=tuple((two.profile, causes_of(two.old, two.new, known=known)) for two in pairing.pairs),
    )


def _is_other_version(old: Subject, new: Subject) -> bool:
    return old.release is not None and new.release is not None and old.release.version != new.release.version


def document(comparison: Comparison) -> JsonObject:
    """The result for programs (docs/schemas/diff.json)."""
    reviews = [found for _, found in comparison.reviews]
    ordered = [finding for group in comparison.groups for finding in group.findings]
    return {
        "schema": SCHEMA,
        "equal": not comparison.differs,
        "old": comparison.old,
        "new": comparison.new,
        "risk": comparison.risk.value,
        "groups": [_group(group) for group in comparison.groups],
        "findings": [_finding(finding, comparison.profiles[finding]) for finding in ordered],
        "faults": [
            *(_fault("old", fault) for found in reviews for fault in found.old_faults),
            *(_fault("new", fault) for found in reviews for fault in found.new_faults),
        ],
        "renames": [
            {
                "kind": one.kind.value,
                "old": one.old,
                "new": one.new,
                "exact": one.exact,
                "similarity": one.similarity,
            }
            for found in reviews
            for one in found.renames
        ],
        "profiles": {
            "compared": [two.profile for two in comparison.pairing.pairs if two.profile != ALONE],
            "onlyOld": list(comparison.pairing.only_old),
            "onlyNew": list(comparison.pairing.only_new),
        },
        "causes": [
            {"profile": profile or None, **found}
            for profile, causes in comparison.causes
            if (found := caused.document(causes)) is not None
        ],
        "notes": [note for found in reviews for note in found.notes],
    }


def _group(group: Group) -> JsonObject:
    rule = group.rule
    return {"rule": rule.id, "risk": rule.risk.value, "title": rule.title, "count": group.count}


def _finding(finding: Finding, profiles: Sequence[str]) -> JsonObject:
    about: dict[str, JsonValue] = {
        "rule": finding.rule.id,
        "risk": finding.risk.value,
        "kind": finding.kind.value,
        "name": finding.name,
        "change": finding.change.value,
        "path": finding.path,
    }
    for side, text in (("old", finding.old), ("new", finding.new)):
        if text is not None:
            about[side] = json.loads(text)
    if finding.added:
        about["added"] = [
            {"start": span.start, "end": span.end, "text": span.text, "inName": span.in_name}
            for span in finding.added
        ]
    if profiles:
        about["profiles"] = list(profiles)
    return about


def _fault(side: str, fault: Fault) -> JsonObject:
    return {
        "side": side,
        "kind": fault.kind.value,
        "name": fault.name,
        "code": fault.code,
        "message": fault.message,
    }


def told_counts(comparison: Comparison) -> str:
    """How much differs, in a line."""
    return ", ".join(
        f"{counted(count, 'profile')} on one side only" if how == "profiles" else f"{count} {how}"
        for how, count in comparison.counts.items()
    )
