# SPDX-License-Identifier: Apache-2.0
"""What is written into a pipe, and which descriptors are open."""

import os
import threading
from collections.abc import Callable
from pathlib import Path


def read_all(write: Callable[[int], None]) -> bytes:
    """What this writes into a pipe."""
    reader, writer = os.pipe()
    parts: list[bytes] = []

    def read() -> None:
        while part := os.read(reader, 1 << 16):
            parts.append(part)

    reading = threading.Thread(target=read)
    reading.start()
    try:
        write(writer)
    finally:
        os.close(writer)
        reading.join(60)
        os.close(reader)
    return b"".join(parts)


def descriptors() -> set[str]:
    """The names of those that are open (Linux), but for the one that looks."""
    return {path.name for path in Path("/proc/self/fd").iterdir()}
