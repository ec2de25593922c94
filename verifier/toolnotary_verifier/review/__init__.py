# SPDX-License-Identifier: Apache-2.0
"""What changed between two surfaces, and how dangerous that is (docs/reference/review.md).

- `differences`: every place that differs (deepdiff, imported when first needed)
- `classify`: which rule each change falls under; by theme `texts`, `annotations`, `schemas`
- `rules`: every rule, why it is one, what to do
- `grouping`: the same edit in many places as one group, the most dangerous and rarest first
- `finding`: what all this comes to; `compared` puts it together

Nothing here decides what may pass: no gate and no judgement imports it.
"""

from toolnotary_verifier.review.compared import review
from toolnotary_verifier.review.finding import (
    Change,
    Difference,
    Finding,
    Group,
    Rename,
    Review,
    Span,
    Whole,
    by_definition,
)
from toolnotary_verifier.review.grouping import grouped
from toolnotary_verifier.review.risk import Risk, Rule
from toolnotary_verifier.review.rules import RULES

__all__ = [
    "RULES",
    "Change",
    "Difference",
    "Finding",
    "Group",
    "Rename",
    "Review",
    "Risk",
    "Rule",
    "Span",
    "Whole",
    "by_definition",
    "grouped",
    "review",
]
