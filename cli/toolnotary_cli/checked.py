# SPDX-License-Identifier: Apache-2.0
"""The result of `check`, for people and for programs."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from toolnotary_cli.looking import launch_needed
from toolnotary_cli.output import styled
from toolnotary_cli.verdicts import Row, counts, next_lines, row_document, row_lines
from toolnotary_cli.wording import counted
from toolnotary_verifier.verdict import Outcome

if TYPE_CHECKING:
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.review.shadowing import Shadow

SCHEMA: Final = "https://toolnotary.dev/output/check/v1"


def document(rows: Sequence[Row], found: "Sequence[Shadow]") -> dict[str, object]:
    """The result for programs.

    Args:
        rows: one a server.
        found: what the servers of the lockfile are to each other.
    """
    told: list[object] = []
    if found:
        from toolnotary_cli import shadowed

        told += map(shadowed.document, found)
    return {
        "schema": SCHEMA,
        "servers": [row_document(row) for row in rows],
        "shadows": told,
        "counts": counts(row.outcome for row in rows),
    }


def lines(rows: Sequence[Row], project: "Project", found: "Sequence[Shadow]") -> Iterator[str]:
    """The result for people; see `document`."""
    for row in rows:
        yield from row_lines(row)
        if row.outcome is Outcome.VERIFIED:
            continue
        entries = project.lockfile.named(row.server)
        launch = launch_needed(project, row.server) if entries else ""
        yield from next_lines(row, is_pinned=bool(entries), launch=launch)
    if found:
        from toolnotary_cli import shadowed

        yield "tools of several servers that stand in each other's way (nothing is withheld for it):"
        yield from (f"  {line}" for line in shadowed.lines(found))
    told = ", ".join(f"{count} {state}" for state, count in counts(row.outcome for row in rows).items())
    yield f"{counted(len(rows), 'server')}: {told}"
    yield styled("verified means: the definitions that were signed or accepted, and nothing more", "dim")
