# SPDX-License-Identifier: Apache-2.0
"""The words of a text as a model reads them: without markup, accents, and what else stands between them."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote

# Marks that stand on the letter before them (Unicode blocks of combining diacritical marks).
_COMBINING: Final = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_LETTERS: Final = re.compile(f"[{_COMBINING}]|[^\x00-\x7f]")
_PUNCTUATION: Final = str.maketrans("\u2018\u2019\u02bc\u2010\u2011\u2212\u201c\u201d", "'''---\"\"")

_TAG: Final = r"</?[A-Za-z][^<>\n]{0,80}>"
_TARGET: Final = r"\]\([^()\s]{0,400}\)"
# Taken out, since it can stand within a word; what stands around words leaves a blank.
_MARKUP: Final = re.compile(rf"{_TAG}|[*`~]+|(?<!\w)[_']+(?=\w)|(?<=\w)[_']+(?!\w)")
_AROUND: Final = re.compile(rf"{_TARGET}|[\"\[\](){{}}<>\u00ab\u00bb]+")
# Escapes of what is no letter and no digit.
_BETWEEN: Final = re.compile(
    rf"{_TAG}|{_TARGET}|%(?:2[0-9A-F]|3[A-F]|40|[57][B-F]|60|0[9AD])|&(?:nbsp|quot|#\d{{2,5}});|\\[nrt]",
    re.IGNORECASE,
)
_ESCAPED: Final = r"%(?:3\d|[4-7][0-9A-Fa-f])"
_WORD: Final = re.compile(
    rf"(?:{_ESCAPED}|[^\W_])(?:{_ESCAPED}|[^\W_]|[{_COMBINING}])*(?:['\u2019][^\W\d_]{{1,3}}(?!\w))?"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# What is long enough for words that are joined.
_TOKEN: Final = re.compile(r"\S{12,}")
# Words from which on a token can be a sentence.
SAID: Final = 5
# Characters that are kept of one word: none is longer, and patterns cost more than their length.
_LONGEST: Final = 40


class Word(NamedTuple):
    """A word in plain lower-case letters, and where it stands in the text as received."""

    text: str
    start: int
    end: int


class Words(NamedTuple):
    """Words as a text of their own, one blank between them.

    Attributes:
        text: the words.
        words: the same, with their places in the text that they come from.
        starts: where each begins in `text`.
    """

    text: str
    words: Sequence[Word]
    starts: list[int]

    @classmethod
    def of(cls, words: Sequence[Word]) -> "Words":
        """These words in a row."""
        starts, place = [], 0
        for word in words:
            starts.append(place)
            place += len(word.text) + 1
        return cls(" ".join(word.text for word in words), words, starts)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of `text` stands in the text that the words come from."""
        first, last = (bisect_right(self.starts, at) - 1 for at in (start, max(start, end - 1)))
        return self.words[first].start, self.words[last].end

    def around(self, start: int, end: int, *, words: int) -> tuple[int, int]:
        """A stretch of `text` with so many words before and after it."""
        first, last = (bisect_right(self.starts, at) - 1 for at in (start, max(start, end - 1)))
        last = min(last + words, len(self.words) - 1)
        return self.starts[max(0, first - words)], self.starts[last] + len(self.words[last].text)


def folded(text: str) -> str:
    """The same text, Latin letters without their marks and in their plain form (NFKD); others stay."""
    return text if text.isascii() else _LETTERS.sub(lambda met: _letter(met[0]), text)


@lru_cache(maxsize=4096)
def _letter(one: str) -> str:
    bare = "".join(part for part in unicodedata.normalize("NFKD", one) if not unicodedata.combining(part))
    return bare if bare.isascii() else one.translate(_PUNCTUATION)


def sentence_forms(sentence: str) -> Iterator[str]:
    """A sentence in lower case, every white space one blank; once more without markup, where it has any."""
    whole = " ".join(folded(sentence).split())
    yield whole.lower()
    bare = _TOKEN.sub(lambda met: _parted(met[0]), _AROUND.sub(" ", _MARKUP.sub("", whole)))
    if bare != whole:
        yield " ".join(bare.lower().split())


def _parted(token: str) -> str:
    """The words of a token that has enough of them for a sentence; else the token, as with an address."""
    words = [] if "://" in token else [word.text for word in words_of(token)]
    return " ".join(words) if len(words) >= SAID else token


def words_of(text: str) -> Iterator[Word]:
    """Every word, whatever stands before and after it; those of a name such as `readTheFile_first` too."""
    seen = _BETWEEN.sub(lambda met: " " * len(met[0]), text)  # of the same length: places stay
    for met in _WORD.finditer(seen):
        start = met.start()
        for hump in (*_humps(met[0]), len(met[0])):
            end = met.start() + hump
            yield Word(folded(unquote(seen[start : min(end, start + _LONGEST)])).lower(), start, end)
            start = end


def _humps(word: str) -> Iterable[int]:
    if word.islower() or word.isupper() or word.istitle():
        return ()
    return [met.start() for met in _HUMP.finditer(word)]
