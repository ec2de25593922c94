# SPDX-License-Identifier: Apache-2.0
"""What servers show that is not as pinned, as a report.

A verdict that says that definitions differ is told by what differs in them, with the rules of a review; every
other one by itself, and such fail a gate whatever class it asks about.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from toolnotary_cli import caused
from toolnotary_cli.compared import leads_on
from toolnotary_cli.rendering.report import Item, Locate, Place, Report, by_risk, items_of
from toolnotary_cli.verdicts import Row, counts
from toolnotary_cli.wording import called, counted
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape, visible
from toolnotary_verifier.review import Risk, Rule, Whole, grouped
from toolnotary_verifier.verdict import Outcome, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolnotary_verifier.review.shadowing import Shadow

# What the review of a change can explain; a name that is new is one, and one that is gone.
_REVIEWED: Final = frozenset(
    (
        Reason.CHANGED,
        Reason.ADDED,
        Reason.INSTRUCTIONS_CHANGED,
        Reason.UPGRADE,
        Reason.PROFILE_CHANGED,
        Reason.MISSING,
    )
)
_WHY: Final[Mapping[Reason, tuple[str, str]]] = {
    Reason.INVALID: ("no valid definition", "What cannot be read strictly can be read in two ways."),
    Reason.AMBIGUOUS: ("a name that stands for two", "A host cannot tell which of them is called."),
    Reason.IDENTITY: ("another launch than the pinned one", "It is not the server that was accepted."),
    Reason.REVOKED: ("withdrawn", "Somebody said that this is not to be used any more."),
    Reason.SIGNER_CHANGED: (
        "signed by somebody else",
        "A taken-over account can publish, but not with the key.",
    ),
    Reason.ROLLBACK: ("an older version than accepted", "It brings back what was mended since."),
    Reason.MIXED: ("of several versions at once", "No publisher signed this set of definitions."),
    Reason.PENDING: ("not looked up yet", "Nobody knows yet whether it is signed."),
    Reason.PROFILE_CHANGED: ("another profile of the version", "Its publisher signed it for other clients."),
    Reason.UPGRADE: ("a newer version", "Its publisher signed it, and nobody here accepted it yet."),
    Reason.CHANGED: ("not as pinned", "It differs, and nobody signed or accepted it."),
    Reason.ADDED: ("new", "A model can call what nobody has looked at."),
    Reason.INSTRUCTIONS_CHANGED: ("other instructions", "Hosts put this text before all that the user says."),
    Reason.FIRST_SIGNED: ("not pinned, signed", "Nobody has accepted this server yet."),
    Reason.FIRST_UNSIGNED: ("not pinned", "Nobody has accepted or signed this server."),
    Reason.SIGNER_UNKNOWN: ("signed by nobody that is known", "No policy names its signer."),
    Reason.MISSING: ("pinned and not shown", "Less can be called; a model may fall back on another tool."),
    Reason.SERVER_INFO_CHANGED: ("calls itself something else", "Hosts show this name to people."),
    Reason.CAPABILITIES_CHANGED: ("says that it can do something else", "Hosts steer by it."),
    Reason.OVERRIDE: ("passes by break-glass", "Somebody let it pass for a while."),
}
_CRITICAL: Final = frozenset((Reason.IDENTITY, Reason.REVOKED, Reason.SIGNER_CHANGED, Reason.MIXED))
_MILD: Final = {
    Reason.MISSING: Risk.LOW,
    Reason.OVERRIDE: Risk.MEDIUM,
    Reason.FIRST_SIGNED: Risk.MEDIUM,
    Reason.SERVER_INFO_CHANGED: Risk.MEDIUM,
    Reason.CAPABILITIES_CHANGED: Risk.MEDIUM,
}
# Definitions that are named before the rest is counted.
_PLACES: Final = 8
NOT_INSPECTED: Final = Rule(
    "not-inspected",
    Risk.HIGH,
    "not inspected",
    "Nothing is known about what it shows.",
    "the server could not be started",
    "See to it that it can be looked at, and look again.",
)


def report(rows: Iterable[Row], shadows: "Iterable[Shadow]", locate: "Callable[[str], Locate]") -> Report:
    """The report of a check.

    Args:
        rows: the servers, each with what differs where that was asked for.
        shadows: what the servers are to each other; told, and never a reason to fail.
        locate: by server, the line that a place is pointed to by.
    """
    found = list(rows)
    told = ", ".join(f"{count} {state}" for state, count in counts(row.outcome for row in found).items())
    return Report(
        command="check",
        headline=f"{counted(len(found), 'server')}: {told}",
        is_fine=not any(row.exit_code for row in found),
        causes=tuple(_causes(found)),
        items=by_risk(
            [
                *(item for row in found for item in items(row, locate(row.server))),
                *(_shadow(shadow, locate(shadow.servers[0])) for shadow in shadows),
            ]
        ),
        notes=tuple(
            note for row in found if row.changes and row.changes.review for note in row.changes.review.notes
        ),
    )


def _causes(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        if row.causes is not None:
            yield from (f"{line} ({escape(row.server, limit=80)})" for line in caused.lines(row.causes))


def items(row: Row, locate: Locate) -> Iterator[Item]:
    """What is not as pinned of one server.

    Args:
        row: the server.
        locate: the line that a place is pointed to by.
    """
    if row.judgement is None:
        yield _not_inspected(row, locate)
        return
    reviewed = set()
    if row.changes is not None and row.changes.review is not None:
        # What is compared with nothing, since its pinned text is not at hand, looks like a new definition.
        lost = {(verdict.kind, verdict.name) for verdict in row.changes.lost}
        found = [one for one in row.changes.review.findings if (one.kind, one.name) not in lost]
        reviewed = {(one.kind, one.name) for one in found}
        yield from items_of(grouped(found), locate, server=row.server)
    for verdict in row.judgement.changes:
        if (verdict.kind, verdict.name) not in reviewed or verdict.reason not in _REVIEWED:
            yield _unreviewed(row, verdict, locate)
    if row.outcome is Outcome.UNPINNED and not row.judgement.changes:
        place = Place(Whole.RELEASE, "")
        yield _item(row, rule(Reason.FIRST_UNSIGNED), place, locate, "it shows nothing", is_unclassed=True)


def _shadow(shadow: "Shadow", locate: Locate) -> Item:
    places = tuple(Place(Kind.TOOL, name) for name in shadow.names)
    detail = ""
    if shadow.by:
        told = ", ".join(called(kind, name) for kind, name in shadow.places[:_PLACES])
        more = len(shadow.places) - _PLACES
        rest = f" and {more} more" if more > 0 else ""
        detail = f"in {told}{rest} of {escape(shadow.by, limit=80)}"
    return Item(
        rules=(shadow.rule,),
        places=places,
        location=locate(places[0]),
        server=", ".join(shadow.servers),
        detail=detail,
    )


def _unreviewed(row: Row, verdict: Verdict, locate: Locate) -> Item:
    told = escape(verdict.detail, limit=300) if verdict.detail else ""
    if verdict.reason in _REVIEWED and verdict.reason is not Reason.MISSING:
        told = "; ".join(
            filter(None, (told, "what differs cannot be told: its text, or the extra review, is missing"))
        )
    mild = verdict.passes or verdict.reason is Reason.MISSING
    return _item(
        row, rule(verdict.reason), Place(verdict.kind, verdict.name), locate, told, is_unclassed=not mild
    )


def _item(row: Row, told: Rule, place: Place, locate: Locate, detail: str, *, is_unclassed: bool) -> Item:
    return Item(
        rules=(told,),
        places=(place,),
        location=locate(place),
        server=row.server,
        detail=detail,
        is_unclassed=is_unclassed,
    )


def _not_inspected(row: Row, locate: Locate) -> Item:
    why = "" if row.error is None else f"{row.error.code}: {visible(row.error.message, limit=400)}"
    told = "; ".join(filter(None, (why, visible(row.remedy, limit=400))))
    return _item(row, NOT_INSPECTED, Place(Whole.RELEASE, ""), locate, told, is_unclassed=True)


def rule(reason: Reason) -> Rule:
    """A verdict as the rule that it is."""
    title, why = _WHY[reason]
    risk = Risk.CRITICAL if reason in _CRITICAL else _MILD.get(reason, Risk.HIGH)
    return Rule(
        reason.value,
        risk,
        title,
        why,
        "see docs/reference/verdicts.md",
        f"It passes once {leads_on(reason)}.",
    )
