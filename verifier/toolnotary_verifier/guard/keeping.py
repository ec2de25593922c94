# SPDX-License-Identifier: Apache-2.0
"""Keeps what a guarded connection showed and was not as pinned, for a review of exactly that."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolnotary_verifier.places import seen_folder
from toolnotary_verifier.sightings import Sighting, Sightings

if TYPE_CHECKING:
    from toolnotary_verifier.guard.notes import Notes
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.limits import Limits
    from toolnotary_verifier.surface import Surface
    from toolnotary_verifier.verdict import Judgement


def keep(
    server: str,
    launch: "Launch",
    surface: "Surface",
    judgement: "Judgement",
    *,
    refuse_secrets: "Callable[[Surface], None]",
    log: "Notes",
    limits: "Limits",
) -> None:
    """Keep one surface.

    Args:
        server: the name that the user gave.
        launch: how the server was started or reached.
        surface: what was shown.
        judgement: what was decided about it.
        refuse_secrets: refuses a surface that repeats a secret of the launch.
        log: where people read what is not kept.
        limits: bounds on what is kept.

    Raises:
        Refused: `secret-in-surface`.
        ConfigurationError: `file-not-writable`.
    """
    refuse_secrets(surface)
    place = (server, launch.digest, launch.display, "")
    seen = Sighting(*place, judgement.change_set, surface, judgement.inspection)
    if not Sightings(seen_folder(), limits=limits).keep(seen):
        log.line("what the server shows is too large to be kept for a review")
