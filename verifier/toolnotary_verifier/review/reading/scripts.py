# SPDX-License-Identifier: Apache-2.0
"""Letters that pass for those of another script."""

import re
from collections.abc import Iterator
from typing import Final

from toolnotary_verifier.lookalikes import skeleton
from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.rules import wording

_WORD: Final = re.compile(r"[^\W\d_]+")
_FOREIGN: Final = re.compile("[\u0370-\u058f\u13a0-\u13ff]")
_LATIN: Final = re.compile("[A-Za-z]")
# A Russian ending at an abbreviation; a Greek letter for a quantity.
_ENDED: Final = re.compile("[A-Z]{2,}[\u0430-\u044f]{1,4}")
_QUANTITY: Final = re.compile("[\u0370-\u03ff][A-Za-z]{1,2}|[A-Za-z]{1,2}[\u0370-\u03ff]")
_STYLED: Final = re.compile("[\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f189]{3,}")
_WIDE: Final = re.compile("[\uff21-\uff3a\uff41-\uff5a]{3,}")
_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def read_scripts(text: str) -> Iterator[Hit]:
    """Words of several scripts, Latin words in look-alikes, letters drawn as symbols."""
    if text.isascii():
        return
    for met in _STYLED.finditer(text):
        yield Hit(wording.MIXED_SCRIPT, *met.span())
    if not _IDEOGRAPHS.search(text):
        for met in _WIDE.finditer(text):
            yield Hit(wording.MIXED_SCRIPT, *met.span())
    if _FOREIGN.search(text):
        words = [met for met in _WORD.finditer(text) if _FOREIGN.search(met[0])]
        spoken = any(not _LATIN.search(met[0]) and not _passes(met[0]) for met in words)
        for met in words:
            mixed = _LATIN.search(met[0]) and not _ENDED.fullmatch(met[0]) and not _QUANTITY.fullmatch(met[0])
            disguised = not spoken and len(met[0]) > 2 and _passes(met[0]) and _LATIN.search(text)
            if mixed or disguised:
                yield Hit(wording.MIXED_SCRIPT, *met.span())


def _passes(word: str) -> bool:
    """Whether a word reads as one of ASCII letters."""
    return skeleton(word).isascii()
