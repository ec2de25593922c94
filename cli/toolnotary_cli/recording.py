# SPDX-License-Identifier: Apache-2.0
"""What `run` records of a server while it guards it, for `status` and `explain`."""

from typing import TYPE_CHECKING, Final

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.pinning import record_outcome, remember
from toolnotary_verifier.verdict import Judgement, Outcome

if TYPE_CHECKING:
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.pins import Pins
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.shells.log import Log
    from toolnotary_verifier.surface import Surface

# What is recorded stays: a server that changes all the time adds no more than this in one connection.
_MOST_CHANGES: Final = 32


class Recorder:
    """Writes what one connection saw of a server; never from the threads that relay.

    Attributes:
        last: the last judgement that is to be recorded, None before the first.
    """

    def __init__(self, project: "Project", launch: "Launch", server: str | None, log: "Log") -> None:
        self.last: Judgement | None = None
        self._recorded: Judgement | None = None
        self._changes = 0
        self._project = project
        self._launch = launch
        self._server = server
        self._log = log

    def seen(self, surface: "Surface", judgement: Judgement) -> None:
        """Take note of a judgement that is to be recorded: of tools."""
        if Kind.TOOL in surface.inspected:
            self.last = judgement

    def remember(self, pins: "Pins") -> None:
        """Record that a signed entry is in use, where it counts."""
        if self._server is None or not pins.profiles or pins.standing is not None:
            return
        try:
            remember(self._project, server=self._server, launch=self._launch)
        except ToolnotaryError as error:
            self._log.line(f"the pinned version could not be recorded: {error.message} [{error.code}]")

    def record(self) -> None:
        """Record the last judgement, if it is new; after many of them only that all is well no more."""
        judgement, before = self.last, self._recorded
        if judgement is None or judgement is before or self._server is None:
            return
        if self._changes >= _MOST_CHANGES and not (_is_verified(before) and not _is_verified(judgement)):
            return
        self._recorded = judgement
        try:
            is_news = record_outcome(self._project, judgement, server=self._server, launch=self._launch)
            self._changes += is_news
        except ToolnotaryError as error:
            self._log.line(f"the state of this server could not be recorded: {error.message} [{error.code}]")


def _is_verified(judgement: Judgement | None) -> bool:
    return judgement is not None and judgement.outcome is Outcome.VERIFIED
