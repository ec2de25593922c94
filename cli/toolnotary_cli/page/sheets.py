# SPDX-License-Identifier: Apache-2.0
"""A question as a page, or as several where it is long: everything that the answer covers can be reached.

What is kept from the host comes first, of that what brings characters that cannot be seen, then in the order
of the verdicts. No sheet holds more than `SHEET` characters of markup and one piece; a definition that does
not fit is continued on the next one.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import click

from toolnotary_cli.caused import dispatcher_lines
from toolnotary_cli.caused import lines as cause_lines
from toolnotary_cli.changes import Changes, Question
from toolnotary_cli.output import shown
from toolnotary_cli.page.markup import Markup, element, joined
from toolnotary_cli.page.writing import difference, replaced, whole
from toolnotary_cli.shadowed import lines as shadow_lines
from toolnotary_cli.wording import called, counted, name_text
from toolnotary_verifier.canonical import plain
from toolnotary_verifier.review import Difference, Finding, Risk, by_definition
from toolnotary_verifier.surface import Fault
from toolnotary_verifier.verdict import Aspect, Reason, Verdict
from toolnotary_verifier.words import Origin

SHEET: Final = 400_000
_TOGETHER: Final = 40_000
# Rules that are told at the head of one definition.
_RULES: Final = 12
# Steps of the search for common words in one text: fewer after the definitions that a person reads closely.
_STEPS, _CLOSELY, _STEPS_LATER = 10_000, 100, 500
_WHY: Final[Mapping[Reason, str]] = {
    Reason.INVALID: "It is no valid definition, and stays blocked whatever you answer.",
    Reason.AMBIGUOUS: "Its name cannot be told from another one, and it stays blocked whatever you answer.",
    Reason.REVOKED: "It was withdrawn before.",
    Reason.SIGNER_CHANGED: "It is signed by somebody else than what you accepted.",
    Reason.ROLLBACK: "It belongs to an older version than the one you accepted.",
    Reason.PROFILE_CHANGED: "It belongs to another profile of the version that is pinned.",
    Reason.UPGRADE: "It belongs to a newer version, signed by the same publisher.",
    Reason.CHANGED: "It differs from what is pinned.",
    Reason.ADDED: "It is new.",
    Reason.INSTRUCTIONS_CHANGED: "The text that the server hands to the model differs from what is pinned.",
    Reason.FIRST_UNSIGNED: "Nobody signed it, and nothing is pinned yet.",
    Reason.MISSING: "It is pinned, and the server does not show it.",
    Reason.SERVER_INFO_CHANGED: "What the server calls itself differs from what is pinned.",
    Reason.CAPABILITIES_CHANGED: "What the server says it can do differs from what is pinned.",
}
_REASONS: Final = tuple(Reason)


class Card(NamedTuple):
    """What is told about one definition: a head, and what stands under it piece by piece."""

    head: Markup
    pieces: Iterable[Markup]


def sheets(question: Question) -> list[Markup]:
    """What a person reads before they answer: all of it, in as many sheets as it takes."""
    parts = [_facts(question), _counts(question.changes.verdicts)]
    told = (
        *question.warnings,
        *question.notes,
        *cause_lines(question.changes.causes),
        *dispatcher_lines(question.changes.new.values()),
    )
    shadows = (click.unstyle(line) for line in shadow_lines(question.shadows))
    parts += [element("p", line, class_="note") for line in (*told, *shadows)]
    cards = _cards(question.changes)
    found: list[list[Markup]] = [parts]
    size = 0
    for card in cards:
        held: list[Markup] = []
        head = card.head
        for piece in card.pieces:
            if size + len(piece.html) > SHEET and (held or size):
                if held:
                    found[-1].append(_article(head, held))
                    head, held = joined((card.head, element("p", "continued", class_="why"))), []
                found.append([])
                size = 0
            held.append(piece)
            size += len(piece.html)
        found[-1].append(_article(head, held))
        size += len(card.head.html)
    found[-1] += _closing(question.changes)
    return [joined(one) for one in found]


def _article(head: Markup, held: Iterable[Markup]) -> Markup:
    return element("article", head, *held)


def _facts(question: Question) -> Markup:
    rows: list[tuple[str, Markup | str]] = [
        ("Server", element("code", shown(question.server))),
        ("Started as", element("code", question.launch)),
        ("Lockfile", element("code", shown(str(question.lockfile), limit=400))),
        ("Change set", element("code", question.change_set)),
    ]
    if question.seen is not None:
        line = joined(
            (f"{question.seen.at} {question.where_seen}, started as ", element("code", question.seen.line))
        )
        rows.insert(2, ("Seen", line))
    for fact in question.signed:
        label, _, told = fact.partition(" ")
        rows.append((label.capitalize(), told.strip()))
    return element(
        "dl", *(joined((element("dt", name), element("dd", told))) for name, told in rows), class_="facts"
    )


def _counts(verdicts: Sequence[Verdict]) -> Markup:
    reasons = [verdict.reason for verdict in verdicts]
    told = [f"{reasons.count(reason)} {reason.value}" for reason in Reason if reason in reasons]
    return element("ul", *(element("li", one) for one in told or ["no definition changes"]), class_="counts")


def _cards(changes: Changes) -> Iterator[Card]:
    review = changes.review
    places = by_definition(() if review is None else review.differences)
    findings = by_definition(() if review is None else review.findings)
    lost = {(verdict.kind, verdict.name) for verdict in changes.lost}
    ranked = sorted(changes.verdicts, key=lambda v: _rank(v, findings.get((v.kind, v.name), ())))
    for number, verdict in enumerate(ranked):
        key = (verdict.kind, verdict.name)
        steps = _STEPS if number < _CLOSELY else _STEPS_LATER
        yield Card(
            _head(verdict, findings.get(key, ())),
            _pieces(verdict, places.get(key, ()), changes, is_lost=key in lost, steps=steps),
        )


def _rank(verdict: Verdict, findings: Sequence[Finding]) -> tuple[bool, int, int, str, str]:
    return (
        verdict.passes,
        -_risk(findings).rank,
        _REASONS.index(verdict.reason),
        verdict.kind.value,
        verdict.name,
    )


def _risk(findings: Iterable[Finding]) -> Risk:
    return max((Risk.NONE, *(finding.risk for finding in findings)))


def _head(verdict: Verdict, findings: Sequence[Finding]) -> Markup:
    passes = verdict.passes
    state = element(
        "span", "passes" if passes else "withheld", class_="badge noted" if passes else "badge kept"
    )
    reason = element("span", verdict.reason.value, class_="badge")
    digests = " \u2192 ".join(digest.short for digest in (verdict.pinned, verdict.live) if digest)
    told = [_WHY.get(verdict.reason, ""), shown(verdict.detail, limit=300) if verdict.detail else ""]
    lines = [element("p", line, class_="why") for line in told if line]
    if digests:
        lines.append(element("p", element("code", digests), class_="why"))
    name = element("h2", element("code", called(verdict.kind, verdict.name)))
    risk = [_badge(_risk(findings))] if findings else []
    return joined((element("header", name, *risk, reason, state), *lines, *_rules(findings)))


def _badge(risk: Risk) -> Markup:
    look = " kept" if risk >= Risk.HIGH else " noted" if risk is Risk.MEDIUM else ""
    return element("span", f"{risk} risk", class_=f"badge{look}")


def _rules(findings: Sequence[Finding]) -> Iterator[Markup]:
    """What the rules say, the most dangerous first; of low risk only the number."""
    told = [finding for finding in findings if finding.risk >= Risk.MEDIUM]
    lines = [
        f"{one.risk}: {one.rule.title}{f' at {shown(one.path)}' if one.path else ''} ({one.rule.id})"
        for one in told[:_RULES]
    ]
    if len(findings) > len(lines):
        lines.append(f"{counted(len(findings) - len(lines), 'more remark')} of the same or lower risk")
    if lines:
        yield element("ul", *(element("li", line) for line in lines), class_="why")


def _pieces(
    verdict: Verdict, findings: Sequence[Difference], changes: Changes, *, is_lost: bool, steps: int
) -> Iterator[Markup]:
    if is_lost:
        yield element("p", "The pinned text is not at hand: what changed is unknown.", class_="note")
    surface = changes.surface
    aspects = {Aspect.SERVER_INFO: surface.server_info, Aspect.CAPABILITIES: surface.capabilities}
    if isinstance(verdict.kind, Aspect):
        yield from whole(plain(aspects[verdict.kind]), Origin.BOTH)
        return
    for finding in findings:
        yield from _finding(finding, steps)
    new = changes.new.get((verdict.kind, verdict.name))
    if new is None or any(not finding.path and finding.old is None for finding in findings):
        return  # it is not there, or stands there whole already
    pieces = _members(json.loads(new.canonical), Origin.BOTH)
    if not findings:
        yield from pieces
        return
    parts = list(_grouped(pieces))
    for number, part in enumerate(parts, start=1):
        which = f", {number} of {len(parts)}" if len(parts) > 1 else ""
        yield element("details", element("summary", f"The whole definition{which}"), part)


def _grouped(pieces: Iterable[Markup]) -> Iterator[Markup]:
    """Small pieces together."""
    held: list[Markup] = []
    size = 0
    for piece in pieces:
        if held and size + len(piece.html) > _TOGETHER:
            yield joined(held)
            held, size = [], 0
        held.append(piece)
        size += len(piece.html)
    if held:
        yield joined(held)


def _finding(finding: Difference, steps: int) -> Iterator[Markup]:
    place = element("h3", element("code", shown(finding.path, limit=1000)), f" {finding.change.value}")
    yield from _headed(place if finding.path else None, _sides(finding, steps))


def _sides(finding: Difference, steps: int) -> Iterator[Markup]:
    old, new = _value(finding.old), _value(finding.new)
    if isinstance(old, str) and isinstance(new, str):
        yield from difference(old, new, steps=steps)
        return
    if finding.old is not None and finding.new is not None:
        yield from replaced(old, new)
        return
    value, origin = (new, Origin.NEW) if finding.old is None else (old, Origin.OLD)
    yield from whole(value, origin) if finding.path else _members(value, origin)


def _headed(head: Markup | None, pieces: Iterable[Markup]) -> Iterator[Markup]:
    """The pieces, the first of them under a heading that stays with it."""
    for number, piece in enumerate(pieces):
        yield piece if number or head is None else joined((head, piece))


def _members(value: object, origin: Origin) -> Iterator[Markup]:
    """A whole definition: its longer texts each for themselves, the rest together."""
    if not isinstance(value, dict):
        yield from whole(value, origin)
        return
    texts = {
        key: item
        for key, item in value.items()
        if (isinstance(item, str) and "\n" in item) or key == "description"
    }
    rest = {key: item for key, item in value.items() if key not in texts}
    for key, item in texts.items():
        yield from _headed(element("h3", element("code", shown(key))), whole(item, origin))
    if rest:
        yield from _headed(element("h3", "everything else") if texts else None, whole(rest, origin))


def _closing(changes: Changes) -> Iterator[Markup]:
    """What is worth knowing besides, about the whole."""
    if changes.review is None:
        yield element(
            "p", "Differences need the extra review: pip install 'toolnotary[review]'", class_="note"
        )
        return
    lines = [
        *(_fault("before", fault) for fault in changes.review.old_faults),
        *(_fault("now", fault) for fault in changes.review.new_faults),
    ]
    for rename in changes.review.renames:
        how = "only the name differs" if rename.exact else "they share a description or a schema"
        lines.append(f"probably renamed: {name_text(rename.old)} to {name_text(rename.new)} ({how})")
    lines += [f"note: {note}" for note in changes.review.notes]
    if lines:
        told = [element("li", line) for line in lines]
        yield element("article", element("h2", counted(len(lines), "more remark")), element("ul", *told))


def _fault(when: str, fault: Fault) -> str:
    return f"{called(fault.kind, fault.name)}, {when}: {fault.code}: {shown(fault.message, limit=400)}"


def _value(text: str | None) -> object:
    return None if text is None else json.loads(text)
