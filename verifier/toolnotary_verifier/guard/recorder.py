# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a server while a connection to it is guarded.

`status` and `explain` tell it, and `approve --seen` reviews it.
"""

import threading
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.looks import Look
from toolnotary_verifier.pinning import record_look, remember
from toolnotary_verifier.verdict import Inspection, Judgement, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolnotary_verifier.canonical import Digest
    from toolnotary_verifier.guard.notes import Notes
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.pins import Pins
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.surface import Surface

# What is recorded stays: a server that changes all the time adds no more than this in one guard's life.
_MOST_CHANGES: Final = 32


class _Unlisted(NamedTuple):
    """A list that could not be had; `look` says what is recorded of it."""

    kind: Kind
    why: str
    held_to: "Callable[[], Digest]"
    inspection: Inspection

    def look(self) -> Look:
        """Raises `ToolnotaryError` while the files cannot be read (`InForce.pins`)."""
        look = Look.failed(self.kind, self.why, pinned=self.held_to())
        return look._replace(inspection=self.inspection)


class Recorder:
    """Writes what the connections of a guard saw of its server; never from the threads that relay.

    Args:
        project: the files.
        launch: how the server was started or reached.
        server: the name that the user gave; None where the launch is to find it, and nothing is recorded.
        log: where people read what could not be recorded.
        keep: keeps a surface that a person could accept (`keeping.keep`).
        inspection: what of the server's messages is looked at.
        masked: gives a text without the secrets of the server.

    Attributes:
        last: what is to be recorded, None before the first listing ended.
    """

    def __init__(
        self,
        project: "Project",
        launch: "Launch",
        server: str | None,
        log: "Notes",
        *,
        keep: "Callable[[Surface, Judgement], None] | None" = None,
        inspection: Inspection = Inspection.WIRE,
        masked: "Callable[[str], str]" = str,
    ) -> None:
        self._masked = masked
        self._inspection = inspection
        self.last: Judgement | _Unlisted | None = None
        self._keep = keep
        self._writing = threading.Lock()
        self._surface: Surface | None = None
        self._recorded: Judgement | _Unlisted | None = None
        self._judged: Judgement | None = None
        self._failed: dict[Kind, _Unlisted] = {}
        self._changes = 0
        self._project = project
        self._launch = launch
        self._server = server
        self._log = log

    def seen(self, surface: "Surface", judgement: Judgement) -> None:
        """Take note of a judgement that is to be recorded: of tools."""
        for kind in surface.inspected:
            self._failed.pop(kind, None)
        if Kind.TOOL in surface.inspected:
            self._judged, self._surface = judgement, surface
        self._conclude()

    def unlisted(self, held_to: "Callable[[], Digest]", kind: Kind, why: str) -> None:
        """Take note that a list could not be had: what is pinned of it does not pass, until it can be.

        Args:
            held_to: gives the digest of what the server is held to, when it is recorded.
            kind: what was to be listed.
            why: as `Effects.unlisted` has it.
        """
        self._failed[kind] = _Unlisted(kind, self._masked(why), held_to, self._inspection)
        self._conclude()

    def _conclude(self) -> None:
        """Without its tools nothing is known of a server; without another list it is not verified."""
        failed = self._failed.get(Kind.TOOL) or next(iter(self._failed.values()), None)
        is_worse = Kind.TOOL in self._failed or self._judged is None or _is_verified(self._judged)
        self.last = failed if failed is not None and is_worse else self._judged

    def remember(self, pins: "Pins") -> None:
        """Record that a signed entry is in use, where it counts."""
        if self._server is None or not pins.profiles or pins.standing is not None:
            return
        try:
            remember(self._project, server=self._server, launch=self._launch)
        except ToolnotaryError as error:
            self._log.line(f"the pinned version could not be recorded: {error.message} [{error.code}]")

    def record(self) -> None:
        """Record the last of it, if it is new; after many of them only that all is well no more.

        Who calls it at the end of a connection waits for what another thread is still recording.
        """
        with self._writing:
            self._record()

    def _record(self) -> None:
        last, before = self.last, self._recorded
        if last is None or last is before or self._server is None:
            return
        if self._changes >= _MOST_CHANGES and not (_is_verified(before) and not _is_verified(last)):
            return
        self._recorded = last
        try:
            look = last.look() if isinstance(last, _Unlisted) else Look.of(last, masked=self._masked)
            is_news = record_look(self._project, look, server=self._server, launch=self._launch)
            self._changes += is_news
            self._keep_surface(last)
        except ToolnotaryError as error:
            self._log.line(f"the state of this server could not be recorded: {error.message} [{error.code}]")

    def _keep_surface(self, last: "Judgement | _Unlisted") -> None:
        """Keep what was seen, where an approval could let it through, and nothing else was seen since."""
        surface = self._surface
        if self._keep is None or surface is None or last is not self._judged:
            return
        if last.objections and last.is_approvable:
            self._keep(surface, last)


def _is_verified(seen: Judgement | _Unlisted | None) -> bool:
    return isinstance(seen, Judgement) and seen.outcome is Outcome.VERIFIED
