# SPDX-License-Identifier: Apache-2.0
r"""What went between `[-` and `-]`, what came between `{+` and `+}`; no text of a server ends a mark.

Where such a mark would stand in the text itself, its brace is spelled out, as `\u{7b}+`, like what cannot be
seen.
"""

import re
from collections.abc import Mapping
from typing import Final

from toolnotary_verifier.words import Origin

_MARKS: Final[Mapping[Origin, tuple[str, str]]] = {
    Origin.OLD: ("[-", "-]"),
    Origin.NEW: ("{+", "+}"),
    Origin.BOTH: ("", ""),
}
# A mark, or the beginning of what tells how much was cut.
_LIKE_OURS: Final = re.compile(r"\{(?=\+)|(?<=\+)\}|\[(?=-|\.\.\. [0-9])|(?<=-)\]")


def _spelled(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"


def unmarked(text: str) -> str:
    """Escaped text without anything that looks like a mark of ours; twice is the same as once."""
    return _LIKE_OURS.sub(lambda met: _spelled(met[0]), text)


def marked(origin: Origin, text: str) -> str:
    """A piece between its marks.

    Args:
        origin: where it stands.
        text: the piece, `unmarked`.
    """
    before, behind = _MARKS[origin]
    if before and text.startswith(behind[-1]):
        text = f"{_spelled(text[0])}{text[1:]}"
    if behind and text.endswith(before[0]):
        text = f"{text[:-1]}{_spelled(text[-1])}"
    return f"{before}{text}{behind}"
