# SPDX-License-Identifier: Apache-2.0
"""What changed between two surfaces, and how dangerous that is (docs/reference/review.md).

- `differences`: every place that differs (deepdiff, imported when first needed)
- `classify`: which rule a change falls under; by theme `texts`, `annotations`, `schemas`, `names`, `release`
- `scan`: what stands in texts that came; `reading` has how it is found
- `rules`: every rule, why it is one, what to do
- `grouping`: the same edit in many places as one group, the most dangerous and rarest first
- `finding`: what all this comes to; `compared` puts it together

Nothing here decides what may pass: no gate and no judgement imports it. What is named here is loaded when
it is first asked for, so that a room beside these costs nobody the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
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
_HOMES: Final = {
    "RULES": "rules",
    "Risk": "risk",
    "Rule": "risk",
    "grouped": "grouping",
    "review": "compared",
}


def __getattr__(name: str) -> object:
    """What is named here, from the room that has it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'finding')}"), name)
