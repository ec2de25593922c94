# SPDX-License-Identifier: Apache-2.0
"""TOOLNOTARY_TEST_EFFORT=quick|full scales the counts of the suite, and nothing else."""

import os

EFFORT = os.environ.get("TOOLNOTARY_TEST_EFFORT", "quick")
if EFFORT not in ("quick", "full"):
    raise SystemExit(f"TOOLNOTARY_TEST_EFFORT is {EFFORT!r}, expected quick or full")


def scaled(quick: int, full: int) -> int:
    """The count for this run's effort."""
    return full if EFFORT == "full" else quick
