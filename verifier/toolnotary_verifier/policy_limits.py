# SPDX-License-Identifier: Apache-2.0
"""The limits that a policy sets (docs/reference/policy.md): one row each, with its unit and its range.

Whichever it is, the smaller value is the stricter one. What a format fixes is no row, since what it describes
must be valid for everybody or for nobody: the depth of a message, the profiles and variants of a manifest.
"""

from typing import Final, NamedTuple

_KIB: Final = 1 << 10
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30
_SECONDS: Final = "seconds"
_BYTES: Final = "bytes"
_COUNT: Final = "a whole number"


class LimitOption(NamedTuple):
    """One option.

    Attributes:
        table: the table of `toolnotary.toml` that it stands in.
        name: its name there.
        field: the member of `Limits` that it sets.
        unit: what is counted, for messages.
        least: the smallest value that is taken.
        most: the largest.
    """

    table: str
    name: str
    field: str
    unit: str
    least: float
    most: float

    @property
    def path(self) -> str:
        """What the option is called in messages and in acceptances."""
        return f"{self.table}.{self.name}"

    @property
    def expected(self) -> str:
        """Unit and range, in words."""
        return f"{self.unit} from {text(self.least)} to {text(self.most)}"

    def value(self, given: object) -> int | float | None:
        """The value that a file gives; None if it is none of the range. Only seconds may be fractions."""
        if isinstance(given, bool) or not isinstance(given, int | float):
            return None
        if self.unit != _SECONDS and not isinstance(given, int):
            return None
        return given if self.least <= given <= self.most else None


OPTIONS: Final = (
    LimitOption("timeouts", "listing", "listing_seconds", _SECONDS, 0.001, 3600),
    LimitOption("timeouts", "first-start", "first_start_seconds", _SECONDS, 0.001, 3600),
    LimitOption("timeouts", "probe", "probe_seconds", _SECONDS, 0.001, 3600),
    LimitOption("limits", "page-bytes", "page_bytes", _BYTES, _KIB, _GIB),
    LimitOption("limits", "listing-bytes", "listing_bytes", _BYTES, _KIB, _GIB),
    LimitOption("limits", "pages", "pages", _COUNT, 1, 100_000),
    LimitOption("limits", "tools", "tools", _COUNT, 1, 1_000_000),
    LimitOption("limits", "cursor-bytes", "cursor_bytes", _BYTES, 1, _MIB),
    # An object beside a lockfile has 64 MiB at most, and every definition and manifest can become one.
    LimitOption("limits", "definition-bytes", "definition_bytes", _BYTES, 64, 64 * _MIB),
    LimitOption("limits", "definition-depth", "definition_depth", _COUNT, 1, 64),
    LimitOption("limits", "manifest-bytes", "manifest_bytes", _BYTES, _KIB, 64 * _MIB),
    LimitOption("limits", "bundle-bytes", "bundle_bytes", _BYTES, _KIB, 64 * _MIB),
    LimitOption("limits", "frame-bytes", "frame_bytes", _BYTES, _KIB, _GIB),
    # What is read in one go is 256 KiB at most, and a line within it is never put together.
    LimitOption("limits", "line-bytes", "line_bytes", _BYTES, 256 * _KIB, _GIB),
    LimitOption("limits", "held-requests", "held_requests", _COUNT, 1, 100_000),
    LimitOption("limits", "held-bytes", "held_bytes", _BYTES, _KIB, _GIB),
    LimitOption("limits", "views", "views", _COUNT, 1, 1000),
    LimitOption("limits", "reverify-seconds", "reverify_seconds", _SECONDS, 1, 86_400),
    LimitOption("limits", "override-seconds", "override_seconds", _SECONDS, 1, 86_400),
    # The pause between two listings that a server asks for is a second at least, whatever is said here.
    LimitOption("limits", "quiet-seconds", "quiet_seconds", _SECONDS, 1, 3600),
)


def text(value: float) -> str:
    """A value in one spelling, so that 3 and 3.0 are one acceptance."""
    return repr(value).removesuffix(".0")
