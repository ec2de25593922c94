# SPDX-License-Identifier: Apache-2.0
"""Break-glass: exactly these definitions pass for a while, although no pin lets them.

An override ends by two clocks, and whichever says so first is right: the wall clock, by which it was
recorded, and in a process that runs the time that has passed since it saw the override first. Where the wall
clock shows an earlier time than what is recorded already, or than a file beside the record was written, it
was put back, and no override counts (docs/reference/break-glass.md).
"""

import os
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

_MOST_FILES: Final = 1024  # of a folder that are looked at
_SLACK: Final = 5  # seconds by which a clock is put right all the time
_FILE_SLACK: Final = 60  # likewise, where a folder is on another machine
_FORM: Final = "%Y-%m-%dT%H:%M:%SZ"


class Override(NamedTuple):
    """One definition that passes for a while.

    Attributes:
        kind: what it defines.
        name: its name as received (escape before showing).
        digest: of exactly this definition.
        since: when it was recorded, UTC, in the form of `moment`.
        until: when it ends, likewise.
        reason: what the person gave as the reason (escape before showing).
    """

    kind: Kind
    name: str
    digest: Digest
    since: str
    until: str
    reason: str

    @property
    def pinned(self) -> tuple[Kind, str, Digest]:
        """What it lets through."""
        return self.kind, self.name, self.digest

    def seconds_left(self, at: "datetime") -> float:
        """Seconds from `at` until it ends, below zero where it has ended."""
        return (parse_moment(self.until) - at).total_seconds()


def moment(at: "datetime") -> str:
    """A time in UTC as state records it, in whole seconds: such texts sort as their times do."""
    from datetime import UTC

    return at.astimezone(UTC).strftime(_FORM)


def parse_moment(text: str) -> "datetime":
    """The time that `moment` wrote.

    Raises:
        ValueError: it is not in that form.
    """
    from datetime import UTC, datetime

    return datetime.strptime(text, _FORM).replace(tzinfo=UTC)


def live(found: Iterable[Override], *, at: "datetime", latest: str, most: float) -> tuple[Override, ...]:
    """Those that count at a moment, in order.

    Args:
        found: what is recorded and not ended.
        at: now, by the wall clock.
        latest: the last time that anything was recorded; a clock that is behind it was put back.
        most: seconds after which policy ends each of them.
    """
    from datetime import timedelta

    now = moment(at)
    if moment(at + timedelta(seconds=_SLACK)) < latest:
        return ()
    bounded = (
        one._replace(until=min(one.until, moment(parse_moment(one.since) + timedelta(seconds=most))))
        for one in found
    )
    return tuple(sorted(one for one in bounded if now < one.until))


def written(folder: "Path") -> str:
    """When the newest file of a folder was surely written, as `moment`; empty where nothing tells it.

    An audit trail grows with every connection, a state with every change: both show that time has passed.
    """
    from datetime import UTC, datetime

    newest = 0.0
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_FILES):
                if entry.is_file(follow_symlinks=False):
                    newest = max(newest, entry.stat(follow_symlinks=False).st_mtime)
        return moment(datetime.fromtimestamp(newest - _FILE_SLACK, UTC)) if newest else ""
    except (OSError, ValueError, OverflowError):
        return ""


class Countdown:
    """Which overrides still count in this process, however its wall clock is put.

    Attributes:
        over: those that ended since `left` was asked first.
    """

    def __init__(
        self,
        *,
        wall: "Callable[[], datetime] | None" = None,
        elapsed: "Callable[[], float] | None" = None,
    ) -> None:
        """A countdown that has seen none.

        Args:
            wall: the wall clock; the system's if None.
            elapsed: seconds that nobody puts back; the system's if None.
        """
        self._wall, self._elapsed = wall or _now, elapsed or _elapsed
        self._ends: dict[Override, float] = {}
        self.over: set[Override] = set()

    def left(self, overrides: Iterable[Override]) -> tuple[Override, ...]:
        """Those that have not ended, by neither clock."""
        elapsed, now = self._elapsed(), self._wall()
        for one in overrides:
            left = one.seconds_left(now)
            if elapsed >= self._ends.setdefault(one, elapsed + left) or left <= 0:
                self.over.add(one)
        return tuple(one for one in overrides if one not in self.over)


def _now() -> "datetime":
    from datetime import UTC, datetime

    return datetime.now(UTC)


def _elapsed() -> float:
    """Seconds that nobody puts back, those in which the machine slept included where that can be had."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)
