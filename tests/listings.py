# SPDX-License-Identifier: Apache-2.0
"""Saved listings of real servers, version by version, where the folder that holds them is at hand."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from toolnotary_verifier.saved import read_saved
from toolnotary_verifier.surface import Surface


def surface_of(version: Path) -> Surface:
    """What the first run of a version answered."""
    answers = (
        path.read_bytes()
        for path in sorted(version.iterdir())
        if path.name != "meta.json" and not path.name.startswith("run")
    )
    return read_saved(content for content in answers if "error" not in json.loads(content))


def versions(corpus: Path) -> Iterator[Path]:
    """The folder of each version and of each variant of one."""
    return iter(sorted(corpus.glob("*/*/*")))


def releases(shared: Path) -> Iterator[tuple[Path, Path]]:
    """Each two neighbouring releases of a server."""
    for server in sorted((shared / "corpus").glob("*/*")):
        found = [folder for folder in server.iterdir() if "+" not in folder.name]
        yield from pairwise(sorted(found, key=_order))


def _order(folder: Path) -> list[tuple[int, str]]:
    return [(len(part), part) if part.isdigit() else (0, part) for part in re.split(r"[.+-]", folder.name)]
