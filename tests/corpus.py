# SPDX-License-Identifier: Apache-2.0
"""Saved listings of real servers, as they lie in a folder: `ECOSYSTEM/NAME/VERSION[+VARIANT]/`."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from toolnotary_verifier.saved import read_saved
from toolnotary_verifier.surface import Surface


def versions(corpus: Path) -> list[Path]:
    """The folder of every version and every variant of one."""
    return sorted(corpus.glob("*/*/*"))


def base(version: Path) -> Path:
    """The version that this is a variant of, or itself."""
    return version.with_name(version.name.partition("+")[0])


def runs(version: Path) -> set[str]:
    """The further runs of a version, under other circumstances; one has files where it answered otherwise."""
    found = (re.match(r"run([A-Z0-9]+)\.", path.name) for path in version.iterdir())
    return {match[1] for match in found if match}


def surface(version: Path, run: str = "") -> Surface:
    """What one run of this version answered; where a run has no file of its own, it was as the first."""
    answers: dict[str, Path] = {}
    for path in sorted(version.iterdir(), key=lambda path: path.name.startswith("run")):
        match = re.fullmatch(r"(?:run([A-Z0-9]+)\.)?(.+)", path.name)
        if match and path.name != "meta.json" and match[1] in (None, run):
            answers[match[2]] = path
    if "discover.json" in answers:  # which stands in place of a handshake
        del answers["initialize.json"]
    contents = [path.read_bytes() for path in answers.values()]
    return read_saved(content for content in contents if "error" not in json.loads(content))


def lists_without_handshake(version: Path) -> bool:
    """Whether the stateless era was answered with a list."""
    path = version / "runM26.tools_list.page1.json"
    return path.exists() and "result" in json.loads(path.read_bytes())


def releases(corpus: Path) -> Iterator[tuple[Path, Path]]:
    """Neighbouring versions of each server, variants left out."""
    for server in sorted(corpus.glob("*/*")):
        found = sorted((one for one in server.iterdir() if "+" not in one.name), key=order)
        yield from pairwise(found)


def order(version: Path) -> list[tuple[bool, int, str]]:
    """What sorts the versions of one server, roughly as they were released."""
    parts = re.split(r"[.-]", version.name)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
