# SPDX-License-Identifier: Apache-2.0
"""How deep JSON text nests, found before it is parsed: no parser's stack then depends on what a peer sent.

Depth is the number of arrays and objects open at once: `1` has 0, `[]` has 1, `[{"a": 1}]` has 2.
"""

import re
from itertools import accumulate

_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def is_deeper(text: bytes, limit: int) -> bool:
    """Whether JSON text opens more than `limit` arrays and objects at once; linear for any bytes."""
    if text.count(b"{") + text.count(b"[") <= limit:
        return False
    brackets = _brackets(text)
    left = brackets
    for _ in range(limit // 2):  # each round takes away the innermost pairs: one level of nesting, or two
        left = left.replace(b"{}", b"").replace(b"[]", b"")
        if not left:
            return False
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > limit


def offset_of_depth(text: bytes, limit: int) -> int:
    """The byte offset of the bracket that opens level `limit + 1`, or the length of the text if none does."""
    depth = 0
    for token in _TOKEN.finditer(text):
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
