# SPDX-License-Identifier: Apache-2.0
"""Places in a JSON value: as steps, and as a JSON pointer (RFC 6901)."""

from collections.abc import Iterable
from typing import Final

from toolnotary_verifier.canonical import JsonValue, canonical_bytes

Steps = tuple[str, ...]


class _Absent:
    """What stands where nothing does; JSON's null is a value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


def pointer(steps: Iterable[str | int]) -> str:
    """The JSON pointer to a place."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def steps_of(path: str) -> Steps:
    """The steps of a JSON pointer; those into an array are digits."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:])


def at(value: JsonValue, steps: Steps) -> JsonValue:
    """What stands at a place; `ABSENT` where nothing does."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


def written(value: JsonValue) -> str | None:
    """The canonical JSON text of a value; None for `ABSENT`."""
    return None if value is ABSENT else canonical_bytes(value).decode("utf-8")
