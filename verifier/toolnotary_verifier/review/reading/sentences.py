# SPDX-License-Identifier: Apache-2.0
"""Which sentences speak to the model of more than the tool: decided by several cues in one sentence."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from toolnotary_verifier.review.reading.cues import SIGNS, rules_of
from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.reading.phrases import ROW, read_phrases
from toolnotary_verifier.review.reading.plain import SAID, Words, sentence_forms, words_of
from toolnotary_verifier.review.reading.sign import Cue
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import wording

# A line feed alone ends nothing: texts are wrapped. What follows it can: a blank line, a mark of a list, of
# code or of a table, a label as docstrings have for arguments.
_END: Final = re.compile(
    r"(?<=[.!?;\u3002\uff01\uff1f])\s+|(?<=[.!?;][\"')\]*`])\s+|\n[^\S\n]*\n\s*"
    r"|\n[^\S\n]*(?=(?:[-*+#\u2022\u00b7]|\d{1,2}[.)])\s|```|[{}|<]|\*\*[^*\n]{1,60}\*\*"
    r"|[\w.*`\"-]{1,40}(?: ?\([^()\n]{0,80}\))? ?:)"
)
_LONGEST: Final = 1_000
_OVERLAP: Final = 200
_BLANK: Final = re.compile(r"\s")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends."""
    start = 0
    for met in _END.finditer(text):
        yield from _windows(start, met.start())
        start = met.end()
    yield from _windows(start, len(text))


def _windows(start: int, end: int) -> Iterator[tuple[int, int]]:
    """What is too long for a sentence, in pieces that overlap: patterns cost more than their length."""
    while end - start > _LONGEST:
        yield start, start + _LONGEST
        start += _LONGEST - _OVERLAP
    if end > start:
        yield start, end


def read_sentences(text: str) -> Iterator[Hit]:
    """The sentences that fall under a rule, and the words that do so whatever stands between them."""
    told: dict[Rule, list[Hit]] = {}
    for hit in _whole(text):
        told.setdefault(hit.rule, []).append(hit)
        yield hit
    for hit in read_phrases(text, list(words_of(text))):
        if not _is_within(hit, told.get(hit.rule, [])):
            yield hit


def _whole(text: str) -> Iterator[Hit]:
    if not _is_token(text):
        for start, end in sentences(text):
            yield from (Hit(rule, start, end) for rule in rules_of(sentence_forms(text[start:end])))
    elif SIGNS[Cue.SECRET_PLACE].pattern.search(text.lower()):
        yield Hit(wording.SECRET, 0, len(text))
    else:
        words = list(words_of(text))
        if len(words) >= SAID:
            yield from (Hit(rule, 0, len(text)) for rule in rules_of([Words.of(words[:ROW]).text]))


def _is_token(text: str) -> bool:
    """Whether a text is a single word, as most names and values are."""
    return text.isascii() and not _BLANK.search(text)


def _is_within(hit: Hit, told: list[Hit]) -> bool:
    """Whether the last sentence that begins no later, of those in the order of a text, holds it."""
    place = bisect_right(told, hit.start, key=lambda one: one.start)
    return place > 0 and told[place - 1].end >= hit.end
