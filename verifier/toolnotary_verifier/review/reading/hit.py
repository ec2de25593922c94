# SPDX-License-Identifier: Apache-2.0
"""What a reader of texts finds."""

from typing import NamedTuple

from toolnotary_verifier.review.risk import Rule


class Hit(NamedTuple):
    """A stretch of text that a rule is about, in characters (code points)."""

    rule: Rule
    start: int
    end: int
