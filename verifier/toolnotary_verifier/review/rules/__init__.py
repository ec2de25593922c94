# SPDX-License-Identifier: Apache-2.0
"""Every rule of a review, by id; of two with one risk the earlier is shown first."""

from typing import Final

from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import hints, release, schema, surface, text, wording

_TABLES: Final = (release, wording, hints, surface, schema, text)

RULES: Final[dict[str, Rule]] = {
    rule.id: rule for table in _TABLES for rule in vars(table).values() if isinstance(rule, Rule)
}
PRECEDENCE: Final = {rule: place for place, rule in enumerate(RULES)}
