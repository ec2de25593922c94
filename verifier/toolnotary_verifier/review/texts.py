# SPDX-License-Identifier: Apache-2.0
"""How a text changed, whatever it says."""

import re
from collections import Counter
from functools import lru_cache
from typing import Final

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.review.pointer import ABSENT
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import text
from toolnotary_verifier.review.safeguards import lost_safeguard
from toolnotary_verifier.words import Origin, Piece, word_changes

# As E1 of `equiv/1` and for the same reason: other blanks than these carry meaning, or hide it.
_BLANK: Final = re.compile(r"[ \t\r\n]+")
_MARKS: Final = re.compile(r"[ \t\r\n,;|/]+")
# Bound on the search for the words that changed in one text.
_STEPS: Final = 2_000
# Characters up to which what was found is kept: a rule, its place and its group all ask for it.
_KEPT: Final = 20_000


def edits(old: str, new: str) -> tuple[Piece, ...]:
    """Which words changed, as one sequence of pieces (`word_changes`)."""
    return (_kept if len(old) + len(new) <= _KEPT else _searched)(old, new)


def _searched(old: str, new: str) -> tuple[Piece, ...]:
    return word_changes(old, new, steps=_STEPS)


_kept = lru_cache(maxsize=64)(_searched)


def text_rule(old: JsonValue, new: JsonValue) -> Rule:
    """The rule that the change of a description falls under."""
    if new is ABSENT:
        return text.UNGUARDED if isinstance(old, str) and lost_safeguard(old, "") else text.SHORTENED
    if old is ABSENT or not isinstance(old, str) or not isinstance(new, str):
        return text.ADDED if old is ABSENT else text.REWORDED
    if _BLANK.sub(" ", old).strip() == _BLANK.sub(" ", new).strip():
        return text.WHITESPACE
    if Counter(filter(None, _MARKS.split(old))) == Counter(filter(None, _MARKS.split(new))):
        return text.UNGUARDED if lost_safeguard(old, new) else text.REORDERED
    came = [p for p in edits(old, new) if p.origin is Origin.NEW and p.text.strip()]
    if came:
        return text.REWORDED
    return text.UNGUARDED if lost_safeguard(old, new) else text.SHORTENED


def title_rule(old: JsonValue, new: JsonValue) -> Rule:
    """The rule that the change of a title falls under."""
    rule = text_rule(old, new)
    return rule if rule is text.WHITESPACE else text.TITLE
