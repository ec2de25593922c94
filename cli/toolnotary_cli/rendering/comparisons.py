# SPDX-License-Identifier: Apache-2.0
"""What two sources differ in, as a report."""

from collections.abc import Iterator, Sequence

from toolnotary_cli import caused
from toolnotary_cli.comparison import Comparison, document, told_counts
from toolnotary_cli.rendering.report import (
    ONE_SIDED,
    Item,
    Locate,
    Location,
    Place,
    Report,
    by_risk,
    items_of,
    unreadable,
)
from toolnotary_cli.reporting import Result, Screen
from toolnotary_cli.source import Source
from toolnotary_cli.subject import ALONE
from toolnotary_cli.wording import name_text
from toolnotary_verifier.escape import escape
from toolnotary_verifier.review import Finding, Whole


def report(comparison: Comparison, locate: Locate, *, command: str = "diff") -> Report:
    """The report of a comparison.

    Args:
        comparison: what was compared.
        locate: the line that a place is pointed to by.
        command: the verb that was asked for it.
    """
    return Report(
        command=command,
        headline=headline(comparison),
        is_fine=not comparison.differs,
        items=by_risk(_items(comparison, locate)),
        causes=tuple(_causes(comparison)),
        notes=tuple(_notes(comparison)),
    )


def result(comparison: Comparison, sources: Sequence[Source], *, command: str = "diff") -> Result:
    """The result of `diff` in every form.

    Args:
        comparison: what was compared.
        sources: what it is pointed to by, the first that lies in the repository.
        command: the verb that was asked for it.
    """

    def drawn() -> Report:
        from toolnotary_cli.rendering.locations import of_sources

        return report(comparison, of_sources(*sources), command=command)

    def lines(screen: Screen) -> Iterator[str]:
        from toolnotary_cli.rendering.terminal import report_lines

        return report_lines(report(comparison, lambda _: Location("")), screen)

    return Result(lambda: document(comparison), lines, drawn)


def headline(comparison: Comparison) -> str:
    """The result in an escaped line."""
    sides = f"{comparison.old} -> {comparison.new}"
    if not comparison.differs:
        return f"equal: {sides}: every definition is the same"
    return f"different: {sides}: {told_counts(comparison)}, risk {comparison.risk}"


def _items(comparison: Comparison, locate: Locate) -> Iterator[Item]:
    for _, found in comparison.reviews:
        yield from unreadable(found.old_faults, "old", locate)
        yield from unreadable(found.new_faults, "new", locate)
    for side, only in (("old", comparison.pairing.only_old), ("new", comparison.pairing.only_new)):
        for name in only:
            place = Place(Whole.RELEASE, "")
            yield Item(
                rules=(ONE_SIDED,),
                places=(place,),
                location=locate(place),
                profile=name,
                detail=f"profile {escape(name, limit=80)} is on the {side} side only",
                is_unclassed=True,
            )
    compared = len(comparison.pairing.pairs)

    def profiles(finding: Finding) -> str:
        made_in = comparison.profiles[finding]
        return ", ".join(made_in) if compared > 1 and len(made_in) < compared else ""

    yield from items_of(comparison.groups, locate, profiles=profiles)


def _causes(comparison: Comparison) -> Iterator[str]:
    for profile, causes in comparison.causes:
        named = f" (profile {profile})" if profile != ALONE else ""
        yield from (f"{line}{named}" for line in caused.lines(causes))


def _notes(comparison: Comparison) -> Iterator[str]:
    for _, found in comparison.reviews:
        for rename in found.renames:
            how = "only the name differs" if rename.exact else f"{rename.similarity} % is the same"
            yield f"probably renamed: {name_text(rename.old)} -> {name_text(rename.new)} ({how})"
        yield from (f"note: {note}" for note in found.notes)
