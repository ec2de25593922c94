# SPDX-License-Identifier: Apache-2.0
"""Text that a model decodes and a person does not: what decodes to words, and what is very long."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.rules import wording

_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEXADECIMAL: Final = re.compile(r"(?<![A-Za-z0-9])(?:0x)?(?:[0-9A-Fa-f]{2}[ :]?){20,}(?![A-Za-z0-9])")
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2}[A-Za-z0-9._~-]{0,3}){8,}")
_ESCAPED: Final = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|&#x?[0-9A-Fa-f]{2,6};){6,}")
_IMAGE: Final = re.compile(r"data:image/[a-z0-9.+-]+;base64,$")
# A run that decodes to no text is told from this length on: keys and digests are shorter.
_LONG: Final = 400
# Bytes of two words.
_SHORTEST: Final = 12
_WORDS: Final = re.compile(rb"[A-Za-z]{2,30}[ ,.:;!?_/-]{1,4}[A-Za-z]{2}")


def read_encoded(text: str) -> Iterator[Hit]:
    """Runs of base64, hexadecimal, percent and other escapes that hold words, or more than any key does."""
    for met in _BASE64.finditer(text):
        start = met.start()
        if _IMAGE.search(text[max(0, start - 40) : start]):
            continue
        if _is_text(_unbased(met[0])) or (len(met[0]) >= _LONG and _is_random(met[0])):
            yield Hit(wording.ENCODED, *met.span())
    for met in _HEXADECIMAL.finditer(text):
        digits = re.sub(r"^0x|[ :]", "", met[0])
        if _is_text(bytes.fromhex(digits[: len(digits) // 2 * 2])):
            yield Hit(wording.ENCODED, *met.span())
    for met in _PERCENT.finditer(text):
        if _is_text(unquote_to_bytes(met[0])):
            yield Hit(wording.ENCODED, *met.span())
    for met in _ESCAPED.finditer(text):
        yield Hit(wording.ENCODED, *met.span())


def _unbased(run: str) -> bytes:
    kept = run.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    kept = kept[: len(kept) // 4 * 4]
    try:
        return base64.b64decode(kept)
    except (binascii.Error, ValueError):
        return b""


def _is_text(found: bytes) -> bool:
    """Whether these bytes are words; a run of letters that is no base64 decodes to bytes of every kind."""
    printable = sum(0x20 <= byte < 0x7F or byte in (9, 10, 13) for byte in found)
    return len(found) >= _SHORTEST and printable >= 0.95 * len(found) and bool(_WORDS.search(found))


def _is_random(run: str) -> bool:
    """Whether letters of both cases and digits are mixed as in no word."""
    return all(re.search(kind, run) for kind in ("[a-z]", "[A-Z]", "[0-9]")) and len(set(run)) > 30
