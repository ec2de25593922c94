# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists in sentences for people."""

from collections.abc import Iterable
from typing import Final

from toolnotary_verifier.escape import escape

# Names of one list that are shown before the rest is counted, and characters of one name.
_NAMES: Final = 12
_CHARACTERS: Final = 80


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 tool`, `2 tools`; `plural` where an `s` does not make one."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def enumerated(names: Iterable[str]) -> str:
    """Names from anywhere, each once and in order, escaped and bounded: `a, b and 3 more`."""
    found = sorted(set(names))
    told = ", ".join(escape(name, limit=_CHARACTERS) for name in found[:_NAMES])
    rest = len(found) - _NAMES
    return f"{told} and {rest} more" if rest > 0 else told
