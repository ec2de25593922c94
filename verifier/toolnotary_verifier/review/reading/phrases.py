# SPDX-License-Identifier: Apache-2.0
"""Which words in a row fall under a rule by themselves, whatever stands between them.

Full stops, line ends, marks and joiners part sentences for a person, and keep a model from nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from toolnotary_verifier.review.reading.cues import SETS, SIGNS
from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.reading.plain import Word, Words
from toolnotary_verifier.review.reading.sign import Cue
from toolnotary_verifier.review.rules import wording

# A secret place is told by its marks, so not by words.
_PHRASES: Final = {
    needed[0]: rule
    for rule, sets in SETS
    for needed in sets
    if len(needed) == 1 and needed[0] is not Cue.SECRET_PLACE
}
# What no name says by chance, as one says `skip_tls_verification`.
_PLAIN: Final = frozenset((Cue.CONCEAL, Cue.OVERRIDE))
# What turns words about something private into a request, within so many words of them.
_PUSHES: Final = (Cue.OUTWARD, Cue.READ, Cue.OBLIGE, Cue.SEQUENCE)
_NEAR: Final = 12
# Words before it in which a warning such as `do not include` stands.
_WARNED: Final = 25
# Words that are read in a row, and how many of them twice: no pattern is about more.
ROW: Final = 150
_SHARED: Final = 30


def read_phrases(text: str, words: Sequence[Word]) -> Iterator[Hit]:
    """The words of a text that fall under a rule.

    Args:
        text: the text.
        words: all its words, in their order.
    """
    for first in range(0, max(1, len(words) - _SHARED), ROW - _SHARED):
        row = Words.of(words[first : first + ROW])
        said = frozenset(row.text.split()) if row.text.isascii() else None
        for cue, rule in _PHRASES.items():
            for start, end in _places(cue, row, said):
                if cue in _PLAIN or not _is_name(text, row.place(start, end)):
                    yield Hit(rule, *row.place(start, end))
        for start, end in _places(Cue.PRIVATE, row, said):
            around = row.around(start, end, words=_NEAR)
            before, _ = row.around(start, end, words=_WARNED)
            is_wanted = _is_pushed(row.text[slice(*around)], row.text[before : around[1]])
            if is_wanted and not _is_name(text, row.place(start, end)):
                yield Hit(wording.CONTEXT, *row.place(*around))


def _places(cue: Cue, row: Words, said: frozenset[str] | None) -> list[tuple[int, int]]:
    sign = SIGNS[cue]
    return [met.span() for met in sign.pattern.finditer(row.text)] if sign.is_met(row.text, said) else []


def _is_name(text: str, place: tuple[int, int]) -> bool:
    """Whether the words are parts of one name."""
    return not any(one.isspace() for one in text[slice(*place)])


def _is_pushed(near: str, whole: str) -> bool:
    is_guarded = SIGNS[Cue.GUARD].pattern.search(whole) is not None
    return not is_guarded and any(SIGNS[cue].pattern.search(near) for cue in _PUSHES)
