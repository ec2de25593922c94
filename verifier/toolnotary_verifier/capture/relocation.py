# SPDX-License-Identifier: Apache-2.0
"""A command line that means the same in another directory."""

from collections.abc import Sequence
from pathlib import Path


def with_absolute_paths(argv: Sequence[str], base: Path) -> tuple[str, ...]:
    """`argv` with its relative paths made absolute, so that it means the same in another directory.

    A path is what exists below `base` and looks like one: a separator in it, a file with a suffix, or `.`; a
    word that happens to be the name of a folder is left alone.
    """
    return tuple(str(base / part) if _is_relative_path(part, base) else part for part in argv)


def _is_relative_path(part: str, base: Path) -> bool:
    try:
        path = Path(part)
        if not part or path.is_absolute() or not (base / path).exists():
            return False
        is_spelled_as_path = part in (".", "..") or part.startswith("./") or len(path.parts) > 1
        return is_spelled_as_path or (bool(path.suffix) and (base / path).is_file())
    except (OSError, ValueError):
        return False  # too long for a path, or with a NUL in it
