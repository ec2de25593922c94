# SPDX-License-Identifier: Apache-2.0
"""The order of keys: by UTF-16 code units (RFC 8785 section 3.2.3).

It equals the order of code points, and of UTF-8 bytes, as long as no key holds a character beyond U+FFFF:
those begin with a code unit from U+D800 on, and so stand before U+E000 to U+FFFF.
"""

import re
from collections.abc import Iterable

# The first bytes of a character beyond U+FFFF; all but the first of them begin planes that are hardly used.
_ASTRAL = rb"[\xf0-\xf4]"
_RARE = (b"\xf1", b"\xf2", b"\xf3", b"\xf4")
# The rest of a string, up to its closing quote. Possessive, so that no input makes it go back: an expression
# that searches for such keys on its own is quadratic, and needs a minute for 1 MB of emoji.
_REST = rb'(?s)[^"\\]*+(?:\\.[^"\\]*+)*+"'


def by_code_units(keys: Iterable[str]) -> list[str]:
    """The keys sorted by UTF-16 code units."""
    return sorted(keys, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def has_astral_key(compact: bytes) -> bool:
    """Whether a key of compact JSON text holds a character beyond U+FFFF unescaped."""
    if compact.isascii():
        return False
    rare = any(first in compact for first in _RARE)
    place = _next_astral(compact, 0, rare=rare)
    if place < 0:
        return False
    rest_of_string = re.compile(_REST)  # only here: few texts hold such a character
    while place >= 0:
        rest = rest_of_string.match(compact, place)
        if rest is None or compact.startswith(b":", rest.end()):
            return True
        place = _next_astral(compact, rest.end(), rare=rare)
    return False


def _next_astral(text: bytes, start: int, *, rare: bool) -> int:
    if not rare:
        return text.find(b"\xf0", start)  # ten times as fast as the expression
    found = re.compile(_ASTRAL).search(text, start)
    return found.start() if found else -1
