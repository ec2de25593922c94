# SPDX-License-Identifier: Apache-2.0
"""Characters that nobody sees, or that pass for others; with their honest uses, which are not told.

Honest are: a selector after an emoji or an ideograph, a joiner within an emoji sequence or a script that
needs it, the flags of England, Scotland and Wales, direction marks and balanced isolates in lines that hold
letters written from right to left. The ranges are our own: `unicodedata` changes with Python (Unicode 17).
"""

import re
from collections.abc import Iterator
from typing import Final

from toolnotary_verifier.escape import INVISIBLE
from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.rules import wording


def _class(*ranges: tuple[int, int]) -> str:
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


_EMOJI: Final = _class((0x2190, 0x2BFF), (0x1F000, 0x1FAFF))
# What has an emoji form beside these: digits on a key, signs, enclosed ideographs.
_SIGNS: Final = _class(
    (0x23, 0x23), (0x2A, 0x2A), (0x30, 0x39), (0xA9, 0xAE), (0x203C, 0x2139), (0x3030, 0x3299)
)
_IDEOGRAPHS: Final = _class((0x2E80, 0x9FFF), (0xF900, 0xFAFF), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF))
# Scripts whose letters take other shapes where a joiner or non-joiner stands between them.
_JOINING: Final = _class(
    (0x0600, 0x109F), (0x1780, 0x18AF), (0x1A20, 0x1CFF), (0xA840, 0xABFF), (0x11000, 0x11FFF)
)
_LEFTWARD: Final = _class(
    (0x0590, 0x08FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFC), (0x10800, 0x10FFF), (0x1E800, 0x1EFFF)
)
_RIGHT_TO_LEFT: Final = re.compile(f"[{_LEFTWARD}]")

# Honest sequences, taken out before anything is told.
_HONEST: Final = re.compile(
    f"(?<=[{_EMOJI}{_SIGNS}])[\ufe0e\ufe0f](?![\ufe00-\ufe0f])"
    f"|(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef](?![\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    f"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}]|[^\\w]|$)"
    "|(?<=\U0001f3f4)\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
    "|(?<=[\u2800-\u28ff])\u2800|\u2800(?=[\u2800-\u28ff])"
)
_BLANKS: Final = "\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
_UNSEEN: Final = re.compile(
    f"[{_class(*((low, high) for low, high in INVISIBLE if low >= 0xA0 or high > 0xA0))}]+"
)
_TAGS: Final = re.compile("[\U000e0000-\U000e0fff]")
_MARKS: Final = frozenset("\u061c\u200e\u200f")
_OPENING: Final = dict.fromkeys("\u202a\u202b", "\u202c") | dict.fromkeys("\u2066\u2067\u2068", "\u2069")
_DIRECTIONS: Final = frozenset((*_OPENING, *_OPENING.values()))
_NONE: Final[frozenset[str]] = frozenset()
_LINE_ENDS: Final = re.compile("[\t\n\r]+")
# This many in a row carry text and do not part anything.
_CARRYING: Final = 8

# Blanks in a row, of which so many lines or so many columns push what follows out of sight.
_PADDING: Final = re.compile(
    r"(?<![ \t\r\n\u00a0\u3000])[ \t\r\n\u00a0\u3000]{20,}(?=[^ \t\r\n\u00a0\u3000])"
)
_LINES: Final = 20
_COLUMNS: Final = 120


def read_characters(text: str) -> Iterator[Hit]:
    """Controls, what cannot be seen, blanks that push text out of sight, letters that pass for others."""
    for met in _PADDING.finditer(text):
        if met[0].count("\n") >= _LINES or max(map(len, met[0].split("\n"))) >= _COLUMNS:
            yield Hit(wording.PADDING, *met.span())
    if not text.isprintable():
        for met in _CONTROLS.finditer(text):
            yield Hit(wording.CONTROL, *met.span())
    if not text.isascii():
        yield from _unseen(text)


def read_breaks(name: str) -> Iterator[Hit]:
    """Line ends and tabs, which a name or an address has none of: where one is printed they start a line."""
    return (Hit(wording.CONTROL, *met.span()) for met in _LINE_ENDS.finditer(name))


def _unseen(text: str) -> Iterator[Hit]:
    rest = _HONEST.sub(lambda met: "x" * len(met[0]), text)  # of the same length: places stay
    start = 0
    for line in rest.split("\n"):
        if _UNSEEN.search(line):
            yield from _of_line(line, start)
        start += len(line) + 1


def _of_line(line: str, start: int) -> Iterator[Hit]:
    is_leftward = _RIGHT_TO_LEFT.search(line) is not None
    honest = _MARKS | _DIRECTIONS if is_leftward and _is_balanced(line) else _MARKS if is_leftward else _NONE
    for met in _UNSEEN.finditer(line):
        run = met[0].strip(_BLANKS)
        if run and not honest.issuperset(run):
            carries = _TAGS.search(run) or len(run) >= _CARRYING or _is_selectors(run)
            rule = wording.HIDDEN_TEXT if carries else wording.INVISIBLE
            yield Hit(rule, start + met.start(), start + met.end())


def _is_selectors(run: str) -> bool:
    """Whether variation selectors stand in a row, each of which is a byte to who knows."""
    return len(run) > 1 and all("\ufe00" <= one <= "\ufe0f" or one >= "\U000e0100" for one in run)


def _is_balanced(line: str) -> bool:
    waiting = []
    for one in line:
        if one in _OPENING:
            waiting.append(_OPENING[one])
        elif one in ("\u202c", "\u2069") and (not waiting or waiting.pop() != one):
            return False
    return not waiting
