# SPDX-License-Identifier: Apache-2.0
"""The order of keys: by UTF-16 code units (RFC 8785 section 3.2.3).

It equals the order of code points, and of UTF-8 bytes, as long as no key holds a character beyond U+FFFF:
those begin with a code unit from U+D800 on, and so stand before U+E000 to U+FFFF.
"""

import re
from collections.abc import Iterable

# The first byte of a character beyond U+FFFF.
_ASTRAL = re.compile(rb"[\xf0-\xf4]")
# The rest of a string, up to its closing quote. Possessive, so that no input makes it go back: the pattern
# that searches for such keys in one expression is quadratic, and needs a minute for 1 MB of emoji.
_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def by_code_units(keys: Iterable[str]) -> list[str]:
    """The keys sorted by UTF-16 code units."""
    return sorted(keys, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def has_astral_key(compact: bytes) -> bool:
    """Whether a key of compact JSON text holds a character beyond U+FFFF unescaped."""
    if compact.isascii():
        return False
    found = _ASTRAL.search(compact)
    while found:
        rest = _REST.match(compact, found.start())
        if rest is None or compact.startswith(b":", rest.end()):
            return True
        found = _ASTRAL.search(compact, rest.end())
    return False
