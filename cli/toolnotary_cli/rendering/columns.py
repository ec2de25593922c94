# SPDX-License-Identifier: Apache-2.0
"""Text broken into lines of a terminal: at words where that is possible, by columns and not by characters."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from toolnotary_cli.output import Look, styled

# A stretch of text, escaped, and how it looks; line feeds end a line.
Spans = list[tuple[str, Look | None]]
# Inclusive ranges of what takes two columns (Unicode 17, East Asian Width W and F, in whole blocks), and of
# marks that take none, in order.
_Ranges = tuple[tuple[int, int], ...]
_WIDE: Final[_Ranges] = (
    (0x1100, 0x115F),  # Hangul Jamo
    (0x231A, 0x231B),  # watch, hourglass
    (0x23E9, 0x23F3),  # media signs
    (0x25FD, 0x25FE),  # small squares
    (0x2614, 0x2615),  # umbrella, hot beverage
    (0x2648, 0x2653),  # zodiac
    (0x26A1, 0x26FD),  # signs, some of them narrow: a line is then shorter than it could be
    (0x2705, 0x2705),  # check mark
    (0x270A, 0x270B),  # fist, hand
    (0x2728, 0x2728),  # sparkles
    (0x274C, 0x274E),  # cross marks
    (0x2753, 0x2757),  # question and exclamation marks
    (0x2795, 0x27BF),  # plus, minus, loops
    (0x2B1B, 0x2B55),  # squares, star, circle
    (0x2E80, 0x303E),  # CJK radicals and punctuation
    (0x3041, 0x33FF),  # Hiragana to CJK compatibility
    (0x3400, 0xA4CF),  # CJK, Yi
    (0xA960, 0xA97F),  # Hangul Jamo extended A
    (0xAC00, 0xD7A3),  # Hangul
    (0xF900, 0xFAFF),  # CJK compatibility
    (0xFE10, 0xFE19),  # vertical forms
    (0xFE30, 0xFE6F),  # CJK compatibility forms, small forms
    (0xFF01, 0xFF60),  # fullwidth forms
    (0xFFE0, 0xFFE6),  # fullwidth signs
    (0x16FE0, 0x18DFF),  # Tangut, Khitan
    (0x1AFF0, 0x1B2FF),  # Kana
    (0x1D300, 0x1D376),  # Tai Xuan Jing
    (0x1F004, 0x1F0CF),  # tiles and cards
    (0x1F18E, 0x1F19A),  # squared words
    (0x1F200, 0x1F320),  # enclosed ideographs, weather
    (0x1F32D, 0x1F64F),  # pictographs, faces
    (0x1F680, 0x1F6FF),  # transport
    (0x1F7E0, 0x1F7F0),  # coloured shapes
    (0x1F90C, 0x1FAFF),  # more pictographs
    (0x20000, 0x3FFFD),  # CJK extensions
)
_MARKS: Final[_Ranges] = (
    (0x0300, 0x036F),  # combining marks
    (0x0483, 0x0489),
    (0x0591, 0x05BD),  # Hebrew points
    (0x0610, 0x061A),
    (0x064B, 0x065F),  # Arabic marks
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),  # marks for signs
    (0xFE20, 0xFE2F),  # half marks
)
_HIGHEST: Final = 0x10FFFF
_FEWEST: Final = 20  # columns, below which nothing is broken further


def width(text: str) -> int:
    """How many columns a terminal takes for escaped text in one line."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    point = ord(character)
    if point < _MARKS[0][0]:
        return 1
    return 0 if _within(point, _MARKS) else 2 if _within(point, _WIDE) else 1


def _within(point: int, ranges: _Ranges) -> bool:
    place = bisect_right(ranges, (point, _HIGHEST)) - 1
    return place >= 0 and point <= ranges[place][1]


def wrapped(spans: Spans, columns: int | None, *, first: str = "", rest: str = "") -> list[str]:
    """The text in lines of at most so many columns, with colours.

    Args:
        spans: the text, in order.
        columns: the most of a line; None for lines that are not broken, but for line feeds.
        first: what the first line begins with.
        rest: what every other line begins with.
    """
    room = None if columns is None else max(columns - max(width(first), width(rest)), _FEWEST)
    lines = [_drawn(line) for line in (_split(spans) if room is None else _broken(spans, room))]
    return [f"{rest if number else first}{line}" for number, line in enumerate(lines)]


def _split(spans: Spans) -> Iterator[Spans]:
    """Lines as they are."""
    line: Spans = []
    for text, look in spans:
        first, *rest = text.split("\n")
        line.append((first, look))
        for part in rest:
            yield line
            line = [(part, look)]
    yield line


def _broken(spans: Spans, room: int) -> Iterator[Spans]:
    line: Spans = []
    used = 0
    for word, look in _words(spans):
        if word == "\n":
            yield line
            line, used = [], 0
            continue
        for part in _parts(word, room, room - used):
            taken = width(part)
            if used and used + width(part.rstrip(" ")) > room:
                yield line
                line, used = [], 0
                if part.isspace():
                    continue
            line.append((part, look))
            used += taken
    yield line


def _words(spans: Sequence[tuple[str, Look | None]]) -> Iterator[tuple[str, Look | None]]:
    """Words with the blanks behind them, and line feeds each on its own."""
    for text, look in spans:
        for number, line in enumerate(text.split("\n")):
            if number:
                yield "\n", None
            start = 0
            for at in range(1, len(line)):
                if line[at - 1] == " " != line[at]:
                    yield line[start:at], look
                    start = at
            if line:
                yield line[start:], look


def _parts(word: str, room: int, left: int) -> Iterator[str]:
    """A word that is longer than a line, in pieces, the first of which fills what is left of this one."""
    if width(word.rstrip(" ")) <= room:
        yield word
        return
    if _FEWEST < left < room:
        head = next(_parts(word, left, left))
        yield head
        word = word[len(head) :]
    if word.isascii():
        yield from (word[at : at + room] for at in range(0, len(word), room))
        return
    start = used = 0
    for at, character in enumerate(word):
        if used + _columns(character) > room:
            yield word[start:at]
            start, used = at, 0
        used += _columns(character)
    yield word[start:]


def _drawn(line: Spans) -> str:
    """One line without the blanks at its end, neighbours of one look together."""
    if line:
        line[-1] = (line[-1][0].rstrip(" "), line[-1][1])
    drawn, held, last = "", "", None
    for text, look in [*line, ("", None)]:
        if look != last and held:
            drawn, held = drawn + (styled(held, last) if last else held), ""
        held, last = held + text, look
    return drawn + held
