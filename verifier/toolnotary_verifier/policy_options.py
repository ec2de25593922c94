# SPDX-License-Identifier: Apache-2.0
"""The options of `[audit]` and `[elicitation]` in `toolnotary.toml`, read where a file has them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

_LEAST: Final = 1
_MOST: Final = 3600


class AuditOption(NamedTuple):
    """One option of `[audit]`.

    Attributes:
        field: the member of `AuditRules` that it sets.
        expected: what it takes, in words.
        read: the value that a file gives, None if it is none of those.
    """

    field: str
    expected: str
    read: Callable[[object], object]

    def value(self, given: object, *, folder: Path) -> object:
        """The value that a file in `folder` gives; None if it is not what is expected."""
        found = self.read(given)
        return folder / found if isinstance(found, Path) else found


def _flag(given: object) -> object:
    return given if isinstance(given, bool) else None


def _number(least: int, most: int) -> Callable[[object], object]:
    def read(given: object) -> object:
        if not isinstance(given, int) or isinstance(given, bool):
            return None
        return given if least <= given <= most else None

    return read


def _path(given: object) -> object:
    if not isinstance(given, str) or not given or "\0" in given:
        return None
    try:
        return Path(given).expanduser()
    except RuntimeError:  # the home of somebody who is not there
        return None


AUDIT_OPTIONS: Final[Mapping[str, AuditOption]] = {
    "enabled": AuditOption("enabled", "true or false", _flag),
    "file": AuditOption("file", "the name of a file", _path),
    "calls": AuditOption(
        "calls", "refused or all", lambda given: given if given in ("refused", "all") else None
    ),
    "max-bytes": AuditOption("max_bytes", "bytes from 65536 to 1073741824", _number(64 << 10, 1 << 30)),
    "keep": AuditOption("keep", "a whole number from 0 to 1000", _number(0, 1000)),
    "required": AuditOption("required", "true or false", _flag),
}
# The options, and what each takes, in words.
ELICITATION_OPTIONS: Final[Mapping[str, str]] = {
    "enabled": "true or false",
    "grant": "true or false",
    "seconds": f"seconds from {_LEAST} to {_MOST}",
}


def elicitation_value(option: str, given: object) -> bool | float | None:
    """The value that a file gives to an option; None if it is not what is expected."""
    if option != "seconds":
        return given if isinstance(given, bool) else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not _LEAST <= given <= _MOST:
        return None
    return float(given)
