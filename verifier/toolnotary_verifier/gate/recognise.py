# SPDX-License-Identifier: Apache-2.0
"""Which frames must be parsed, told from their bytes (DESIGN: the flow; research: relay).

Every frame that is not recognised here passes byte for byte, so these functions may be wrong in one direction
only. What they look for is the *end of a key*: `tools"` in any case, and whatever could spell a letter of it
otherwise: an escaped ASCII letter, the long s and the two Turkish letters that case-insensitive readers take
for s and i.
"""

import re

# Keys of a result that hold definitions or instructions, lower case, with the quote that must end them. All
# end alike, so that one search clears most frames.
_KEYS = (b'tools"', b'prompts"', b'resources"', b'templates"', b'instructions"')
_END = re.compile(rb's"')  # finds two bytes in half the time of `find`
_NOTICE = b'list_changed"'
_LONG_S = "\u017f".encode()
_TURKISH = ("\u0131".encode(), "\u0130".encode())
_NAMES = (*_KEYS, _NOTICE)
_LONGEST = max(map(len, _NAMES))
_LARGE = 64 << 10
_VERSION = b'"jsonrpc"'
_NEAR = 256
_FEW = 64
_OPENING = b'{"'
_HALF = b"nstruct"
# An escape that spells an ASCII letter or one of the three above; one too many costs a parse, no more.
_ESCAPED_LETTER = rb"\\u0(?:0(?:[46][1-9a-f]|[57][0-9a])|17f|13[01])"  # compiled when first needed
# One byte is found fastest as a number; words with `find`, since `in` tries each as a number first.
_NUL = 0x00  # in every text of UTF-16 and UTF-32, and in no JSON of UTF-8
_RETURN = 0x0D
_BACKSLASH = 0x5C
_BRACE = 0x7B
_METHOD = b'"method"'
_METHOD_KEY = rb"""["']method["']|[{,\s]method\s*:"""
_NAME = b'"name"'
_PARAMS = b'"params"'
_STATELESS = b'/protocolversion"'
_CALL, _SPACED_CALL = b'"method":"tools/call"', b'"method": "tools/call"'
_NAMED, _SPACED_NAMED = b'"name":"', b'"name": "'
_ESCAPE = b"\\u"
# How nearly every answer begins. What begins so is no notification, and is not searched for one.
_ANSWER = b'{"jsonrpc":"2.0","id":'
_HEAD_ID = (
    rb'[ \t]*\{[ \t]*"jsonrpc"[ \t]*:[ \t]*"2\.0"[ \t]*,[ \t]*"id"[ \t]*:[ \t]*'
    rb'(-?[0-9]{1,18}|"[^"\\\x00-\x1f\x7f-\xff]{1,128}")[ \t]*,'
)


def is_plain(frame: bytes) -> bool:
    """Whether a frame of the server is one JSON-RPC line in which no reader finds anything to look at.

    That is: one object from its first byte to the line's end, in UTF-8, without a carriage return inside, and
    without a listing, instructions or a list_changed. Readers that split lines elsewhere, guess another
    encoding or ignore case find nothing in it either.
    """
    is_answer = frame.startswith(_ANSWER)
    if not is_answer and not _is_message(frame):
        return False
    if not frame.endswith(b"}\n") and not frame.endswith(b"}\r\n"):
        return False
    if _RETURN in frame and has_inner_return(frame):
        return False
    if len(frame) > _LARGE and _BACKSLASH not in frame and frame.isascii():
        names_something = _names_in_few_quotes(frame)
        if names_something is not None:
            return not names_something
    low = frame.lower()
    if not is_answer and low.find(_NOTICE) >= 0:
        return False
    if _END.search(low) is not None and _ends_a_key(low):
        return False
    if _BACKSLASH in low and re.search(_ESCAPED_LETTER, low) is not None:
        return False
    return low.isascii() or (not _may_fold_to_a_key(low) and is_utf8(frame))


class InParts:
    """As `is_plain`, of a frame that is not put together; it may say no where the whole frame is plain.

    Attributes:
        may_be_plain: False once a part was added of which only the whole frame can tell.
    """

    def __init__(self) -> None:
        self.may_be_plain = True
        self._has_version = False
        self._before: bytes | bytearray | None = None
        self._last: bytes | bytearray = b""

    def add(self, part: bytes | bytearray) -> None:
        """Look at the next part."""
        if not self.may_be_plain:
            return
        before, self._last = self._before, part
        if before is None:
            before = b""
            self.may_be_plain = part.startswith((_ANSWER, _OPENING))
            self._has_version = part.find(_VERSION, 0, _NEAR) >= 0
        if (
            _BACKSLASH in part
            or _RETURN in part
            or not part.isascii()
            or _names_in_few_quotes(part) is not False
            or _names_in_few_quotes(before + part[:_LONGEST])
        ):
            self.may_be_plain = False
        self._before = part[-_LONGEST:] if len(part) >= _LONGEST else (before + part)[-_LONGEST:]

    @property
    def is_plain(self) -> bool:
        """Whether the frame that ends with the last part is plain."""
        last = self._last
        return (
            self.may_be_plain and last.endswith(b"}\n") and (self._has_version or last.rfind(_VERSION) >= 0)
        )


def _names_in_few_quotes(frame: bytes | bytearray) -> bool | None:
    """Whether one of the keys, or a list_changed, ends at a quote; None where there are many quotes.

    A large frame is mostly one long text. Looking at each quote then takes a tenth of the time of folding it.
    """
    at = frame.find(b'"')
    for _ in range(max(_FEW, len(frame) >> 10)):
        if at < 0:
            return False
        if frame[max(0, at - _LONGEST) : at + 1].lower().endswith(_NAMES):
            return True
        at = frame.find(b'"', at + 1)
    return None


def _is_message(frame: bytes) -> bool:
    """Whether it begins like a message; found cheaply where its version stands in front or at the end."""
    if not frame.startswith(_OPENING):
        return False
    near = frame.find(_VERSION, 0, _NEAR) >= 0 or frame.rfind(_VERSION, max(0, len(frame) - _NEAR)) >= 0
    return near or _VERSION in frame


def _ends_a_key(low: bytes) -> bool:
    for key in _KEYS:  # noqa: SIM110 - `any` with a generator, and `in`, take three times as long
        if low.find(key) >= 0:
            return True
    return False


def _may_fold_to_a_key(low: bytes) -> bool:
    """Whether letters beyond ASCII that some reader takes for s or i could spell one of the keys."""
    return _LONG_S in low or (_HALF in low and any(letter in low for letter in _TURKISH))


def is_plain_answer(frame: bytes) -> bool:
    """Whether a frame of the host that is too long to parse is one object in which no server finds a request.

    It must be what `is_plain` asks of a server's frame, and hold no key `method`, however quoted or escaped:
    not even where only a reader more lenient than JSON would see one.
    """
    if not frame.startswith(b'{"') or not frame.endswith((b"}\n", b"}\r\n")) or has_inner_return(frame):
        return False
    if _NUL in frame or not (frame.isascii() or is_utf8(frame)):
        return False
    low = frame.lower()
    return not (
        re.search(_METHOD_KEY, low) or (_BACKSLASH in low and re.search(_ESCAPED_LETTER, low) is not None)
    )


def plainly_called(frame: bytes) -> bytes | None:
    """The name in a tools/call of which no reader can take another name; None for every other frame.

    One key `method`, one `params` and one `name` are in the whole frame, in any case, and no escape that
    could spell another: a quoted word cannot occur inside of a string, where its second quote would be
    escaped. Whoever reads a call from that, wherever the name stands, reads this; of two `params` one could
    be without it. Readers that guess an encoding find UTF-8. A request of the stateless era is none of these,
    since what it is held to stands in its `_meta`.
    """
    if frame.find(_CALL) < 0 and frame.find(_SPACED_CALL) < 0:
        return None
    if _RETURN in frame or frame[0] != _BRACE or (_BACKSLASH in frame and frame.find(_ESCAPE) >= 0):
        return None
    if _NUL in frame or not (frame.isascii() or is_utf8(frame)):
        return None
    low = frame.lower()
    if low.count(_NAME) != 1 or low.count(_METHOD) != 1 or low.count(_PARAMS) != 1:
        return None
    if low.find(_STATELESS) >= 0:
        return None
    start = frame.find(_NAMED) + len(_NAMED)
    if start < len(_NAMED):
        start = frame.find(_SPACED_NAMED) + len(_SPACED_NAMED)
        if start < len(_SPACED_NAMED):
            return None
    return frame[start : frame.find(b'"', start)]


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
    found = re.match(_HEAD_ID, frame)
    return found[1] if found else None


def begins_as_answer(frame: bytes) -> bool:
    """Whether a frame that is too long to parse begins as an answer does: its id, then what is answered."""
    return re.match(_HEAD_ID + rb'[ \t]*"(?:result|error)"', frame) is not None
