# SPDX-License-Identifier: Apache-2.0
r"""Text from a server, made safe to show: what cannot be seen is spelled out as `\u{e0041}`."""

_CLUSTERS = ((0x00, 0x1F), (0x7F, 0xA0), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F))
_FORMATS = ((0x2028, 0x202E), (0x2060, 0x206F), (0xD800, 0xF8FF), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF))
_PLANES = ((0xFFF0, 0xFFFB), (0xE0000, 0x10FFFF))
INVISIBLE = _CLUSTERS + _FORMATS + _PLANES


def is_invisible(character: str) -> bool:
    """Whether this character changes how other text looks, or cannot be seen itself."""
    point = ord(character)
    return any(low <= point <= high for low, high in INVISIBLE)


def escape(text: str, *, keep: str = "", limit: int | None = None) -> str:
    r"""`text` with every invisible, bidirectional and control character as `\u{hex}`, backslash unchanged.

    Args:
        text: any string, lone surrogates included.
        keep: characters to leave as they are, such as a line feed where lines are shown.
        limit: characters after which the rest is cut and counted, for one-line messages.
    """
    shown = text if limit is None or len(text) <= limit else text[:limit]
    if (
        shown.isascii() and shown.isprintable()
    ):  # nearly every name and most text; never read letter by letter
        spelled = shown
    else:
        spelled = "".join(c if c in keep or not is_invisible(c) else f"\\u{{{ord(c):x}}}" for c in shown)
    return spelled if shown is text else f"{spelled}... ({len(text) - len(shown)} more characters)"
