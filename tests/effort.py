# SPDX-License-Identifier: Apache-2.0
"""TOOLNOTARY_TEST_EFFORT=quick|full scales the counts of the suite, and nothing else."""

import itertools
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

Case = TypeVar("Case")
EFFORT = os.environ.get("TOOLNOTARY_TEST_EFFORT", "quick")
if EFFORT not in ("quick", "full"):
    raise SystemExit(f"TOOLNOTARY_TEST_EFFORT is {EFFORT!r}, expected quick or full")


def scaled(quick: int, full: int) -> int:
    """The count for this run's effort."""
    return full if EFFORT == "full" else quick


def some(cases: Sequence[Case], every: int) -> list[Case]:
    """All cases, or at quick effort every so-many-th of them."""
    return list(cases if EFFORT == "full" else cases[::every])


def in_turn(cases: Sequence[Case]) -> Callable[[], list[Case]]:
    """For each test that asks, all cases, or at quick effort the next one of them."""
    turns = itertools.cycle(cases)
    return lambda: list(cases) if EFFORT == "full" else [next(turns)]
