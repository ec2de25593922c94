# SPDX-License-Identifier: Apache-2.0
"""What two sequences have in common, in order; bounded work on any input."""

from collections.abc import Sequence
from enum import StrEnum


class Origin(StrEnum):
    """Which of the two sequences a run stands in."""

    BOTH = "both"
    OLD = "old"
    NEW = "new"


Run = tuple[Origin, Sequence[str]]


def align(before: Sequence[str], after: Sequence[str], *, steps: int) -> list[Run]:
    """Both sequences as one list of runs, some of them empty.

    The runs of BOTH and OLD joined are `before`; those of BOTH and NEW joined are `after`.

    Args:
        before: the old sequence.
        after: the new sequence.
        steps: bound on the search (some 0.3 microseconds each); past it, what stands between the common ends
            counts
            as replaced.
    """
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    middle = _script(before[head : len(before) - tail], after[head : len(after) - tail], steps)
    return [(Origin.BOTH, before[:head]), *middle, (Origin.BOTH, before[len(before) - tail :])]


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )


def _script(before: Sequence[str], after: Sequence[str], limit: int) -> list[Run]:
    """The shortest edit script (Myers 1986, "An O(ND) difference algorithm"); a replacement if it is long."""
    trace: list[dict[int, int]] = []
    furthest = {1: 0}
    steps = 0
    for distance in range(len(before) + len(after) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-distance, distance + 1, 2):
            down = diagonal == -distance or (
                diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(before) and y < len(after) and before[x] == after[y]:
                x, y, steps = x + 1, y + 1, steps + 1
            furthest[diagonal] = x
            if x >= len(before) and y >= len(after):
                return _walked_back(before, after, trace)
        steps += 2 * distance + 1  # the copy in the trace costs as much as the row
        if steps > limit:
            break
    return [(Origin.OLD, before), (Origin.NEW, after)]


def _walked_back(before: Sequence[str], after: Sequence[str], trace: list[dict[int, int]]) -> list[Run]:
    """The runs of the script, found by walking back through the furthest points."""
    runs: list[Run] = []
    x, y = len(before), len(after)
    for distance in range(len(trace) - 1, -1, -1):
        furthest, diagonal = trace[distance], x - y
        down = diagonal == -distance or (
            diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        start = furthest[diagonal + 1] if down else furthest[diagonal - 1]
        came_from = start - (diagonal + 1 if down else diagonal - 1)
        after_edit = (start, came_from + 1) if down else (start + 1, came_from)
        runs.append((Origin.BOTH, before[after_edit[0] : x] if distance else before[:x]))
        if distance:
            edit = (Origin.NEW, [after[came_from]]) if down else (Origin.OLD, [before[start]])
            runs.append(edit)
        x, y = start, came_from
    return runs[::-1]
