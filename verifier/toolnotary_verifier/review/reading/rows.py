# SPDX-License-Identifier: Apache-2.0
"""What texts of a few words say together: allowed values, examples, names and labels, one after another."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from toolnotary_verifier.review.reading.phrases import read_phrases
from toolnotary_verifier.review.reading.plain import words_of
from toolnotary_verifier.review.reading.slots import Slot, Text
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import wording

# Words up to which a text is read together with its neighbours, and characters that so many can have.
_FEW: Final = 3
_CHARACTERS: Final = 80


def is_short(text: str) -> bool:
    """Whether a text has too few words to say anything by itself."""
    return len(text) <= _CHARACTERS and 0 < len(list(islice(words_of(text), _FEW + 1))) <= _FEW


def read_row(texts: Iterable[Text]) -> Iterator[tuple[Rule, Sequence[Text]]]:
    """The rules that several short texts fall under together, those of one use and all of them in a row.

    Args:
        texts: all texts of a definition, in its order.
    """
    rows: dict[Slot | None, list[Text]] = {}
    for text in texts:
        if text.slot is not Slot.TOKEN and "required" not in text.steps and is_short(text.text):
            rows.setdefault(text.slot, []).append(text)
            rows.setdefault(None, []).append(text)
    for slot, row in rows.items():
        starts, place = [], 0
        for text in row:
            starts.append(place)
            place += len(text.text) + 1
        said = " ".join(text.text for text in row)
        for hit in read_phrases(said, list(words_of(said))):
            held = row[bisect_right(starts, hit.start) - 1 : bisect_right(starts, hit.end - 1)]
            # Names of chats stand beside labels such as `message history` in many honest schemas.
            is_chance = slot is None and hit.rule is wording.CONTEXT
            if len(held) > 1 and not is_chance:
                yield hit.rule, held
