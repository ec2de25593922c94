# SPDX-License-Identifier: Apache-2.0
"""Which words of a text changed. Bounded work on any input, and nothing that cannot be seen goes unseen."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolnotary_verifier.alignment import Origin, Run, align
from toolnotary_verifier.escape import INVISIBLE

__all__ = ["Origin", "Piece", "word_changes"]

_SPACE = " \t\n\r"
_HIDDEN = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in INVISIBLE)
# White space, runs of letters and digits, and single marks; an invisible character is always a token of its
# own.
_TOKEN = re.compile(f"[{_SPACE}]+|[{_HIDDEN}]|[^{_SPACE}{_HIDDEN}!-/:-@\\[-^`{{-~]+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, as received (escape before showing)."""

    origin: Origin
    text: str


def word_changes(old: str, new: str, *, steps: int = 10_000) -> tuple[Piece, ...]:
    """`old` and `new` as one sequence of pieces.

    The pieces of BOTH and OLD joined are `old`; those of BOTH and NEW joined are `new`.

    Args:
        old: the old text.
        new: the new text.
        steps: bound on the search for common words, as for `align`.
    """
    return tuple(_joined(align(_TOKEN.findall(old), _TOKEN.findall(new), steps=steps)))


def _joined(runs: Sequence[Run]) -> Iterator[Piece]:
    """Neighbours of one origin as one piece; between two common pieces, what went comes before what came."""
    waiting = {Origin.OLD: "", Origin.NEW: ""}
    same: list[str] = []
    for origin, tokens in [*runs, (Origin.BOTH, [])]:
        if origin is not Origin.BOTH:
            if same:
                yield Piece(Origin.BOTH, "".join(same))
                same = []
            waiting[origin] += "".join(tokens)
        elif tokens:
            yield from _take(waiting)
            same.extend(tokens)
    yield from _take(waiting)
    if same:
        yield Piece(Origin.BOTH, "".join(same))


def _take(waiting: dict[Origin, str]) -> Iterator[Piece]:
    for origin, text in waiting.items():
        if text:
            yield Piece(origin, text)
            waiting[origin] = ""
