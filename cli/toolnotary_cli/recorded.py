# SPDX-License-Identifier: Apache-2.0
"""The look at a pinned server that counts: the last that was recorded, if it was under what is pinned now."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.looks import Look
    from toolnotary_verifier.pins import Pins
    from toolnotary_verifier.project import Project


class Recorded(NamedTuple):
    """What is recorded of a server.

    Attributes:
        look: the look that counts; None where none does.
        why: why there is none, or why it could inspect nothing; escaped where a server said it.
    """

    look: "Look | None"
    why: str


def recorded(project: "Project", entry: "Entry", pins: "Pins") -> Recorded:
    """What is recorded of the server of a lockfile entry.

    Args:
        project: the files.
        entry: one of its lockfile.
        pins: what of it counts.
    """
    look = project.state.history.looks.get(entry.place)
    if look is not None and look.pinned == pins.digest():
        return Recorded(look, look.why)
    why = "no run, lock or approve has recorded a look at it yet"
    if look is not None:
        why = (
            f"it was {look.outcome.value} at {look.at}, under other pins than now; no look since is recorded"
        )
    if pins.standing is not None:
        why = f"{pins.standing.reason.value}: {pins.standing.detail}; {why}"
    return Recorded(None, why)
