# SPDX-License-Identifier: Apache-2.0
"""The same edit in many places, as one group; the most dangerous and rarest first."""

import json
import re
from collections.abc import Iterable
from typing import Final

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.review.cause.forms import repeats
from toolnotary_verifier.review.finding import Finding, Group, Whole
from toolnotary_verifier.review.rules import PRECEDENCE, schema
from toolnotary_verifier.review.texts import edits
from toolnotary_verifier.words import Origin

# Characters of two texts past which only the very same texts are the same edit.
_LONGEST: Final = 100_000
# Rules about texts that differ and are told as alike all the same.
_TEXTUAL: Final = frozenset((schema.SCHEMA_TITLE.id,))
_WORD: Final = re.compile(r"[A-Za-z0-9]{1,64}")
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
    """What two findings have in common that are the same edit: rule, last step of the path, what it did.

    Of a group only the first text is shown, so a text that differs in anything that came is another edit.
    """
    rule, keyword = finding.rule.id, finding.path.rpartition("/")[2]
    if finding.rule.alike and _says_nothing(finding):
        return rule
    if finding.path == "":
        return rule, finding.kind, finding.name
    if any(span.in_name for span in finding.added):
        return rule, keyword
    old, new = _text(finding.old), _text(finding.new)
    if old is not None and new is not None and len(old) + len(new) <= _LONGEST:
        changed = tuple(piece for piece in edits(old, new) if piece.origin is not Origin.BOTH)
        came = tuple(piece for piece in changed if piece.origin is Origin.NEW)
        return (rule, came) if finding.added and came else (rule, keyword, changed)
    return (rule, finding.new) if finding.added else (rule, keyword, finding.old, finding.new)


def _says_nothing(finding: Finding) -> bool:
    """Whether a text that came may stay unseen behind another: it is one word, or repeats a name."""
    came = _text(finding.new)
    if came is None or finding.rule.id not in _TEXTUAL:
        return True
    names = (finding.name, finding.path.split("/")[-2])
    return bool(_WORD.fullmatch(came)) or any(repeats(came, name) for name in names)


def _text(value: str | None) -> str | None:
    return json.loads(value) if value is not None and value.startswith('"') else None
