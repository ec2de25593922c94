# SPDX-License-Identifier: Apache-2.0
"""An interpreter of its own, for tests that look at what an import or a command loads."""

import os
import subprocess
import sys


def printed_by(program: str, *arguments: str) -> str:
    """What a Python program prints in a fresh process, in which nobody measures coverage.

    Measuring loads modules of its own (`sys.modules` is what these tests look at).
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    ended = subprocess.run(
        [sys.executable, "-I", "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return ended.stdout
