# SPDX-License-Identifier: Apache-2.0
"""What changed between two surfaces, for people and programs; nothing here decides what may pass.

Used by the command line and the registry, never by `decide` or the gate (DESIGN: rooms).
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, groupby

from toolnotary_verifier.canonical import canonical_bytes
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.naming import Release
from toolnotary_verifier.review.classify import classified
from toolnotary_verifier.review.differences import changed_members, compare_all
from toolnotary_verifier.review.finding import Difference, Finding, Rename, Review
from toolnotary_verifier.review.grouping import grouped
from toolnotary_verifier.review.names import confusable
from toolnotary_verifier.review.release import release_findings
from toolnotary_verifier.review.renames import renames
from toolnotary_verifier.review.rules import surface as rules
from toolnotary_verifier.surface import Surface

Key = tuple[Kind, str]
Pair = tuple[Definition | None, Definition | None]


def review(
    old: Surface, new: Surface, *, releases: tuple[Release | None, Release | None] = (None, None)
) -> Review:
    """Everything that differs between `old` and `new`.

    Kinds that only one side was asked for are noted, not compared: absence says nothing there. `serverInfo`
    and `capabilities` are noted as well (DESIGN: terms, surface).

    Args:
        old: the surface of before.
        new: the surface of now.
        releases: which releases the two are, where that is known.

    Raises:
        ConfigurationError: `missing-extra`, if something changed and deepdiff is not installed.
    """
    compared = frozenset(kind for kind in Kind if kind in old.inspected and kind in new.inspected)
    before = {key: found for key, found in old.definitions.items() if key[0] in compared}
    after = {key: found for key, found in new.definitions.items() if key[0] in compared}
    spoiled = {(fault.kind, fault.name) for fault in (*old.faults, *new.faults)}
    pairs = {key: (before.get(key), after.get(key)) for key in sorted({*before, *after} - spoiled)}
    gone = [was for was, now in pairs.values() if was is not None and now is None]
    came = [now for was, now in pairs.values() if now is not None and was is None]
    differences = tuple(compare_all(pairs.values()))
    renamed = tuple(renames(gone, came))
    posing = list(confusable(before.values(), after.values()))
    findings = chain(
        release_findings(*releases, differs=bool(differences)),
        (finding for finding, _ in posing),
        _findings(pairs, differences, renamed, _tools(new)),
    )
    return Review(
        groups=grouped(findings),
        differences=differences,
        old_faults=old.faults,
        new_faults=new.faults,
        renames=renamed,
        notes=tuple(chain(map(_posing, posing), _notes(old, new, compared))),
    )


def _findings(
    pairs: dict[Key, Pair],
    differences: Sequence[Difference],
    renamed: Sequence[Rename],
    tools: AbstractSet[str],
) -> Iterator[Finding]:
    if not differences:
        return
    # Its patterns take 50 ms to compile, and most that import this room compare nothing.
    from toolnotary_verifier.review.scan import Scanner

    scanner = Scanner(tools)
    names = {(rename.kind, rename.new) for rename in renamed}
    for key, found in groupby(differences, key=lambda difference: (difference.kind, difference.name)):
        (old, new), changes = pairs[key], list(found)
        for finding in classified(old, new, changes):
            is_renamed = finding.rule is rules.TOOL_ADDED and key in names
            yield replace(finding, rule=rules.TOOL_RENAMED) if is_renamed else finding
        if new is not None:
            yield from scanner.findings(old, new, changes)


def _tools(surface: Surface) -> frozenset[str]:
    return frozenset(name for kind, name in surface.definitions if kind is Kind.TOOL)


def _posing(told: tuple[Finding, str]) -> str:
    finding, rival = told
    names = f"{escape(finding.name, limit=80)} can be taken for {escape(rival, limit=80)}"
    return f"{finding.kind} {names}"


def _notes(old: Surface, new: Surface, compared: frozenset[Kind]) -> Iterator[str]:
    for side, surface in (("old", old), ("new", new)):
        for kind in Kind:
            count = sum(1 for key in surface.definitions if key[0] is kind)
            if count and kind not in compared:
                yield f"kind {kind} is not compared: {count} on the {side} side, the other has no such list"
    for member, before, after in (
        ("serverInfo", old.server_info, new.server_info),
        ("capabilities", old.capabilities, new.capabilities),
    ):
        if before and after and canonical_bytes(before) != canonical_bytes(after):
            places = ", ".join(escape(f"/{name}", limit=80) for name in changed_members(before, after))
            yield f"{member} differs at {places}; it is recorded, and is no definition"
    if old.protocol_version and new.protocol_version and old.protocol_version != new.protocol_version:
        versions = escape(f"{old.protocol_version} and {new.protocol_version}", limit=80)
        yield f"the two sides speak different protocol revisions: {versions}"
