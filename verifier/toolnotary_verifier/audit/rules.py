# SPDX-License-Identifier: Apache-2.0
"""What a policy says of the audit trail: `[audit]` in `toolnotary.toml` (docs/reference/audit.md)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

Calls = Literal["refused", "all"]


class AuditRules(NamedTuple):
    """Where decisions are taken down, which, and what follows where they cannot be.

    Attributes:
        enabled: whether they are.
        file: where; None for `audit.jsonl` in the personal directory.
        calls: which calls are: the refused ones, or those that pass too.
        max_bytes: the size from which the file is put aside and a new one begun.
        keep: how many of those that were put aside are kept.
        required: whether nothing passes while a decision cannot be taken down.
    """

    enabled: bool = True
    file: Path | None = None
    calls: Calls = "refused"
    max_bytes: int = 10 << 20
    keep: int = 5
    required: bool = False

    @property
    def every_call(self) -> bool:
        """Whether each call that passes is taken down."""
        return self.enabled and self.calls == "all"

    def with_stricter(self, other: "AuditRules") -> "AuditRules":
        """These rules, with what a project's policy may ask for besides."""
        return self._replace(
            enabled=self.enabled or other.enabled,
            calls="all" if "all" in (self.calls, other.calls) else "refused",
            required=self.required or other.required,
        )


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
