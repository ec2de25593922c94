# SPDX-License-Identifier: Apache-2.0
"""Values of the machine that a server puts into its texts: its time zone, a directory.

The value is new, and so it is never accounted for; what it stands in is told.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from toolnotary_verifier.canonical import JsonValue

# Words with what stands inside of paths and zones; a stop or colon belongs to one only between others.
_TOKEN: Final = re.compile(r"[\w/\\~+@%-]+(?:[.:][\w/\\~+@%-]+)*|.", re.ASCII | re.DOTALL)
_ZONE: Final = re.compile(
    r"UTC|GMT|(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific)"
    r"(?:/[A-Za-z0-9_+-]{1,24}){1,2}"
)
_PATH: Final = re.compile(r"(?:/|~/|[A-Za-z]:[\\/]).{0,255}")
# Texts whose words are compared: longer ones are read by people.
_LONGEST: Final = 20_000

Value = tuple[str, str]


def value_of(pairs: Iterable[tuple[JsonValue, JsonValue]]) -> Value | None:
    """The one value, old and new, in which all of these differ; None where they differ in anything else."""
    found: set[Value] = set()
    for old, new in pairs:
        for one in _differing(old, new):
            if one is None or not _is_of_machine(*one):
                return None
            found.add(one)
            if len(found) > 1:
                return None
    return next(iter(found), None)


def _differing(old: JsonValue, new: JsonValue) -> Iterator[Value | None]:
    """Each word that differs in the texts inside; None where something else does."""
    if isinstance(old, str) and isinstance(new, str):
        yield from _words(old, new)
    elif isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key, value in old.items():
            yield from _differing(value, new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from _differing(before, after)
    elif type(old) is not type(new) or old != new:
        yield None


def _words(old: str, new: str) -> Iterator[Value | None]:
    if old == new:
        return
    if max(len(old), len(new)) > _LONGEST:
        yield None
        return
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(before) != len(after):
        yield None
        return
    yield from ((was, now) for was, now in zip(before, after, strict=True) if was != now)


def _is_of_machine(old: str, new: str) -> bool:
    zones = bool(_ZONE.fullmatch(old) and _ZONE.fullmatch(new))
    return zones or bool(_PATH.fullmatch(old) and _PATH.fullmatch(new))
