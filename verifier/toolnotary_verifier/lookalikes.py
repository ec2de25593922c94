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
# Latin letters with a mark (U+00C0 to U+017F), by the letter below it.
_MARKED: Final = {
    "a": "\u00e0\u00e1\u00e2\u00e3\u00e4\u00e5\u0101\u0103\u0105",
    "c": "\u00e7\u0107\u0109\u010b\u010d",
    "d": "\u010f\u0111",
    "e": "\u00e8\u00e9\u00ea\u00eb\u0113\u0115\u0117\u0119\u011b",
    "g": "\u011d\u011f\u0121\u0123",
    "h": "\u0125\u0127",
    "i": "\u00ec\u00ed\u00ee\u00ef\u0129\u012b\u012d\u012f",
    "j": "\u0135",
    "k": "\u0137\u0138",
    "l": "\u013a\u013c\u013e\u0140\u0142",
    "n": "\u00f1\u0144\u0146\u0148\u0149\u014b",
    "o": "\u00f2\u00f3\u00f4\u00f5\u00f6\u014d\u014f\u0151",
    "r": "\u0155\u0157\u0159",
    "s": "\u015b\u015d\u015f\u0161\u017f",
    "t": "\u0163\u0165\u0167",
    "u": "\u00f9\u00fa\u00fb\u00fc\u0169\u016b\u016d\u016f\u0171\u0173",
    "w": "\u0175",
    "y": "\u00fd\u00ff\u0177",
    "z": "\u017a\u017c\u017e",
}
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SKELETON: Final = {
    **{ord(one): letter for letter, all_of in _MARKED.items() for one in all_of},
    **{ord(one): letter for letter, all_of in _ALIKE.items() for one in all_of},
    ord("0"): "o",
    ord("I"): "l",
    ord("i"): "l",
    # Mathematical alphabets, thirteen of A to Z and a to z, and their digits, five times 0 to 9.
    **{0x1D400 + place: _LETTERS[place % 52] for place in range(13 * 52)},
    **{0x1D7CE + place: str(place % 10) for place in range(50)},
    # Fullwidth forms (U+FF01 to U+FF5E) are those of ASCII, moved.
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
}


def skeleton(name: str) -> str:
    """What a reader may take a name for: look-alikes as one, whatever the case, parted or not."""
    text = "".join(one for one in name if not is_invisible(one))
    # A look-alike of a look-alike takes two rounds; capitals have look-alikes of their own.
    return _settled(_settled(text).lower()).replace("rn", "m")


def _settled(text: str) -> str:
    return text.translate(_SKELETON).translate(_SKELETON)
