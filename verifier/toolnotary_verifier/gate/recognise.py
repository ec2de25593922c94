# SPDX-License-Identifier: Apache-2.0
"""Which frames must be parsed, told from their bytes (DESIGN: the flow; research: relay).

Every frame that is not recognised here passes byte for byte, so these functions may be wrong in one direction
only. What they look for is the *end of a key*: `tools"` in any case, and whatever could spell a letter of it
otherwise: an escaped ASCII letter, the long s and the two Turkish letters that case-insensitive readers take
for s and i.
"""

import re

# Keys of a result that hold definitions or instructions, lower case, with the quote that must end them.
_KEYS = (b'tools"', b'prompts"', b'resources"', b'templates"', b'instructions"')
_NOTICE = b'list_changed"'
_LONG_S = "\u017f".encode()
_TURKISH = ("\u0131".encode(), "\u0130".encode())
_HALF = b"nstruct"
# An escape that spells an ASCII letter or one of the three above; one too many costs a parse, no more.
_ESCAPED_LETTER = re.compile(rb"\\u0(?:0(?:[46][1-9a-f]|[57][0-9a])|17f|13[01])")
_METHOD = b'"method"'
_HEAD_ID = re.compile(
    rb'[ \t]*\{[ \t]*"jsonrpc"[ \t]*:[ \t]*"2\.0"[ \t]*,[ \t]*"id"[ \t]*:[ \t]*'
    rb'(-?[0-9]{1,18}|"[^"\\\x00-\x1f\x7f-\xff]{1,128}")[ \t]*,'
)


def may_hold_definitions(frame: bytes) -> bool:
    """Whether some reader could find a listing, instructions or a list_changed in this frame."""
    low = frame.lower()
    for key in _KEYS:
        if key in low:
            return True
    if _NOTICE in low:
        return True
    if b"\\u0" in low and _ESCAPED_LETTER.search(low):
        return True
    if low.isascii():
        return False
    return _LONG_S in low or (_HALF in low and any(letter in frame for letter in _TURKISH))


def is_plain(frame: bytes) -> bool:
    """Whether a frame of the server is one JSON-RPC line that holds nothing to look at.

    One object from its first byte to the line's end, UTF-8, no carriage return within: a reader that splits
    lines elsewhere, or guesses another encoding, finds nothing in it either.
    """
    if not (frame.startswith(b'{"') and frame.endswith((b"}\n", b"}\r\n"))) or b'"jsonrpc"' not in frame:
        return False
    if has_inner_return(frame) or may_hold_definitions(frame):
        return False
    return frame.isascii() or is_utf8(frame)


def may_be_request(frame: bytes) -> bool:
    """Whether some server could take this frame of the host for a request."""
    if not frame.startswith(b"{") or has_inner_return(frame):
        return True
    low = frame.lower()
    return _METHOD in low or (b"\\u0" in low and _ESCAPED_LETTER.search(low) is not None)


def has_inner_return(frame: bytes) -> bool:
    """Whether a carriage return stands anywhere but directly before the final line feed."""
    end = len(frame) - (2 if frame.endswith(b"\r\n") else 0)
    return frame.find(b"\r", 0, end) >= 0


def is_utf8(frame: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        frame.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def head_id(frame: bytes) -> bytes | None:
    """The JSON text of the id of a frame that is too long to parse, where the id stands in front."""
    found = _HEAD_ID.match(frame)
    return found[1] if found else None
