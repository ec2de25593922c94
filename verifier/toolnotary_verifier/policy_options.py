# SPDX-License-Identifier: Apache-2.0
"""The options of `[audit]` and `[elicitation]` in `toolnotary.toml`, read where a file has them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple


class RuleOption(NamedTuple):
    """One option.

    Attributes:
        field: the member of `AuditRules` or `ElicitationRules` that it sets.
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


def _seconds(least: float, most: float) -> Callable[[object], object]:
    def read(given: object) -> object:
        if not isinstance(given, int | float) or isinstance(given, bool):
            return None
        return float(given) if least <= given <= most else None

    return read


def _path(given: object) -> object:
    if not isinstance(given, str) or not given or "\0" in given:
        return None
    try:
        return Path(given).expanduser()
    except RuntimeError:  # the home of somebody who is not there
        return None


AUDIT_OPTIONS: Final[Mapping[str, RuleOption]] = {
    "enabled": RuleOption("enabled", "true or false", _flag),
    "file": RuleOption("file", "the name of a file", _path),
    "calls": RuleOption(
        "calls", "refused or all", lambda given: given if given in ("refused", "all") else None
    ),
    "max-bytes": RuleOption("max_bytes", "bytes from 65536 to 1073741824", _number(64 << 10, 1 << 30)),
    "keep": RuleOption("keep", "a whole number from 0 to 1000", _number(0, 1000)),
    "required": RuleOption("required", "true or false", _flag),
}
ELICITATION_OPTIONS: Final[Mapping[str, RuleOption]] = {
    "enabled": RuleOption("enabled", "true or false", _flag),
    "grant": RuleOption("grant", "true or false", _flag),
    "seconds": RuleOption("seconds", "seconds from 1 to 3600", _seconds(1, 3600)),
}
