# SPDX-License-Identifier: Apache-2.0
"""How deep JSON text nests, found before it is parsed: no parser's stack then depends on what a peer sent.

Depth is the number of arrays and objects open at once: `1` has 0, `[]` has 1, `[{"a": 1}]` has 2.
"""

import re
from itertools import accumulate

_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
# In a longer text there are too many brackets for their number alone to tell its depth.
_SHORT = 16_384
_TOKEN = rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]'  # compiled when first needed

# Three times what the deepest real message has.
USUAL_DEPTH = 60
_AROUND = 4  # levels that a caller may put around parts of messages


class Deepest:
    """How deep anything can nest that came from messages of this process; it only grows.

    A parser finds out whether a message nests deeper than usual. As long as none did, a writer that allows as
    much as `met` need not count again: no part of a message nests deeper than the message.
    """

    met = USUAL_DEPTH + _AROUND

    @classmethod
    def meet(cls, depth: int) -> None:
        """Take note of a message that nests deeper than usual, at most this deep, before anybody gets it."""
        cls.met = max(cls.met, depth + _AROUND)


def opening_brackets(text: bytes) -> int:
    """How many arrays and objects text can open at most: brackets in strings are counted too."""
    without = text.replace(b"{", b"").replace(b"[", b"")  # half the time of two calls of `count`
    return len(text) - len(without)


def is_deeper(text: bytes, limit: int) -> bool:
    """Whether JSON text opens more than `limit` arrays and objects at once; linear for any bytes."""
    if len(text) <= _SHORT and opening_brackets(text) <= limit:
        return False
    brackets = left = _brackets(text)
    # Each round takes away the innermost pairs, and with them one level or two. What people write is gone
    # after a few rounds; where they take little away, walking is faster.
    for _ in range(limit // 2):
        before, left = left, left.replace(b"{}", b"").replace(b"[]", b"")
        if not left:
            return False
        if len(left) > 0.9 * len(before):
            break
    return any(map(limit.__lt__, accumulate(map(_STEP.__getitem__, brackets))))


def offset_of_depth(text: bytes, limit: int) -> int:
    """The byte offset of the bracket that opens level `limit + 1`, or the length of the text if none does."""
    depth = 0
    for token in re.finditer(_TOKEN, text):
        depth += _STEP.get(text[token.start()], 0)
        if depth > limit:
            return token.start()
    return len(text)


def _brackets(text: bytes) -> bytes:
    """The brackets of JSON text that stand outside its strings."""
    if b"\\" in text:
        # An escape is two characters. In a run of backslashes the first begins one, so the pairs are aligned.
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    structure = text.translate(None, _NOT_STRUCTURE).replace(b'""', b"")  # strings without brackets are gone
    if b'"' in structure:
        structure = b"".join(structure.split(b'"')[::2])
    return structure
