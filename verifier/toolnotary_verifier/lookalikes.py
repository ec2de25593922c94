# SPDX-License-Identifier: Apache-2.0
"""What a reader may take a name for. The table is our own: `unicodedata` changes with Python."""

from typing import Final

from toolnotary_verifier.escape import is_invisible

# Letters that look like those of ASCII, by what they look like: of Cyrillic, Greek and a few others.
_ALIKE: Final = {
    "a": "\u0430\u0251\u03b1\u0410\u0391",
    "b": "\u0412\u0392\u042c\u044c",
    "c": "\u0441\u0421\u03f2\u217d",
    "d": "\u0501\u217e",
    "e": "\u0435\u0415\u0395\u04bd\u0451",
    "g": "\u0261\u0581",
    "h": "\u04bb\u041d\u0397",
    "i": "\u0456\u0406\u03b9\u0131\u0399\u04cf",
    "j": "\u0458\u0408\u03f3",
    "k": "\u043a\u041a\u039a\u03ba",
    "m": "\u043c\u041c\u039c",
    "n": "\u0578\u039d\u03b7",
    "o": "\u043e\u041e\u03bf\u039f\u0585\u00f8",
    "p": "\u0440\u0420\u03c1\u03a1",
    "q": "\u051b",
    "r": "\u0433",
    "s": "\u0455\u0405",
    "t": "\u0442\u0422\u03a4\u03c4",
    "u": "\u057d\u03c5",
    "v": "\u03bd\u0475",
    "w": "\u051d\u0461",
    "x": "\u0445\u0425\u03a7\u03c7",
    "y": "\u0443\u0423\u03a5\u03b3",
    "z": "\u0396",
    "l": "1|\u04c0\u217c\u01c0",
    "": "_-. ",
}
_SKELETON: Final = {
    **{ord(one): letter for letter, all_of in _ALIKE.items() for one in all_of},
    ord("0"): "o",
    ord("I"): "l",
    ord("i"): "l",
    # Fullwidth forms (U+FF01 to U+FF5E) are those of ASCII, moved.
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
}


def skeleton(name: str) -> str:
    """What a reader may take a name for: look-alikes as one, whatever the case, parted or not."""
    text = "".join(one for one in name if not is_invisible(one)).translate(_SKELETON)
    return text.translate(_SKELETON).lower().translate(_SKELETON).replace("rn", "m")
