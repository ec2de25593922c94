# SPDX-License-Identifier: Apache-2.0
"""The same edit in many places, as one group; the most dangerous and rarest first."""

import json
from collections.abc import Iterable
from typing import Final

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.review.finding import Finding, Group, Whole
from toolnotary_verifier.review.rules import PRECEDENCE
from toolnotary_verifier.review.texts import edits
from toolnotary_verifier.words import Origin

# Characters of two texts past which only the very same texts are the same edit.
_LONGEST: Final = 100_000
_KINDS: Final[dict[Kind | Whole, int]] = {kind: place for place, kind in enumerate((*Whole, *Kind))}


def grouped(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """The findings in groups, ordered as a person reads them.

    Risk comes first, then the rule; of one rule, what was done in the fewest places.
    """
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_edit(finding), []).append(finding)
    made = [Group(tuple(sorted(found, key=_place))) for found in groups.values()]
    return tuple(sorted(made, key=_order))


def _order(group: Group) -> tuple[int, int, int, tuple[int, str, str]]:
    return -group.risk.rank, PRECEDENCE[group.rule.id], group.count, _place(group.finding)


def _place(finding: Finding) -> tuple[int, str, str]:
    return _KINDS[finding.kind], finding.name, finding.path


def _edit(finding: Finding) -> object:
    """What two findings have in common that are the same edit: rule, last step of the path, what it did."""
    rule, keyword = finding.rule.id, finding.path.rpartition("/")[2]
    if finding.rule.alike:
        return rule
    if finding.added:
        return rule, tuple(span.text for span in finding.added)
    if finding.path == "":
        return rule, finding.kind, finding.name
    old, new = _text(finding.old), _text(finding.new)
    if old is not None and new is not None and len(old) + len(new) <= _LONGEST:
        pieces = edits(old, new)
        return rule, keyword, tuple(piece for piece in pieces if piece.origin is not Origin.BOTH)
    return rule, keyword, finding.old, finding.new


def _text(value: str | None) -> str | None:
    return json.loads(value) if value is not None and value.startswith('"') else None
