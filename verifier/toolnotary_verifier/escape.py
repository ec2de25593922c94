# SPDX-License-Identifier: Apache-2.0
r"""Text from a server, made safe to show: what cannot be seen is spelled out as `\u{e0041}`.

What is spelled out stands in a table of our own, because Python's `unicodedata` changes with Python, and with
it what a report says: controls; all that formats or reorders text; blanks other than the space, which pass
for one; joiners and variation selectors, in emoji sequences too, because they carry hidden text as well; the
tag block; fillers, surrogates, private use, noncharacters. Letters, marks and symbols of every script stay.

Shown text is unambiguous: a backslash in the text that would look like one of ours is spelled `\u{5c}`.
"""

import re
from bisect import bisect_right
from functools import cache

# Inclusive ranges of code points, in order, none overlapping the next (Unicode 17).
INVISIBLE = (
    (0x0000, 0x001F),  # C0 controls
    (0x007F, 0x00A0),  # DEL, C1 controls, no-break space
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x1680, 0x1680),  # Ogham space mark
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors, vowel separator
    (0x2000, 0x200F),  # spaces, zero-width space and joiners, direction marks
    (0x2028, 0x202F),  # line and paragraph separators, embeddings and overrides, narrow no-break space
    (0x205F, 0x206F),  # mathematical space, word joiner, invisible operators, isolates
    (0x2800, 0x2800),  # braille blank
    (0x3000, 0x3000),  # ideographic space
    (0x3164, 0x3164),  # Hangul filler
    (0xD800, 0xF8FF),  # surrogates, private use
    (0xFDD0, 0xFDEF),  # noncharacters
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # zero-width no-break space, the byte order mark
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFF0, 0xFFFC),  # unassigned and ignorable, interlinear annotation, object replacement
    (0xFFFE, 0xFFFF),  # noncharacters
    (0x13430, 0x1343F),  # Egyptian hieroglyph format controls
    (0x16FE4, 0x16FE4),  # Khitan small script filler
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D159, 0x1D159),  # null note head
    (0x1D173, 0x1D17A),  # musical format controls
    *((plane << 16 | 0xFFFE, plane << 16 | 0xFFFF) for plane in range(1, 0xE)),  # noncharacters
    (0xE0000, 0x10FFFF),  # tags, variation selectors, private use
)
_FIRST = tuple(low for low, _ in INVISIBLE)


def is_invisible(character: str) -> bool:
    """Whether this character changes how other text looks, or cannot be seen itself."""
    point = ord(character)
    place = bisect_right(_FIRST, point) - 1
    return place >= 0 and point <= INVISIBLE[place][1]


@cache
def _unsafe() -> re.Pattern[str]:
    """What must be spelled out; compiled when first needed, as most processes see ASCII alone."""
    members = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in INVISIBLE)
    return re.compile(rf"[{members}]|\\(?=u\{{)")


def escape(text: str, *, keep: str = "", limit: int | None = None) -> str:
    r"""`text` with each character that cannot be seen as `\u{hex}`; pure ASCII text is usually itself.

    Args:
        text: any string, lone surrogates included.
        keep: characters to leave as they are, such as a line feed where lines are shown.
        limit: characters after which the rest is cut and counted, for one-line messages.
    """
    shown = text if limit is None or len(text) <= limit else text[:limit]
    if not (shown.isascii() and shown.isprintable() and "\\u{" not in shown):
        spelled = _unsafe().sub(lambda met: met[0] if met[0] in keep else f"\\u{{{ord(met[0]):x}}}", shown)
    else:
        spelled = shown
    return spelled if shown is text else f"{spelled}... ({len(text) - len(shown)} more characters)"


def visible(text: str, *, limit: int | None = None) -> str:
    """Text whose parts from a server are escaped already, made sure of: what slipped through is spelled out.

    Escaping a whole message again would spell the backslashes of its escaped parts.

    Args:
        text: a message of ours.
        limit: characters after which the rest is cut and counted.
    """
    rest = 0 if limit is None else len(text) - limit
    shown = text[:limit] if rest > 0 else text
    if not (shown.isascii() and shown.isprintable()):
        shown = "".join(f"\\u{{{ord(c):x}}}" if is_invisible(c) else c for c in shown)
    return f"{shown}... ({rest} more characters)" if rest > 0 else shown
