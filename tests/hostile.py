# SPDX-License-Identifier: Apache-2.0
"""Texts that try to leave their place in a report, and a report that is full of them."""

import json
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from toolnotary_cli.rendering.report import Location, Report, by_risk, items_of, unreadable
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.review import RULES, Change, Finding, Span, grouped
from toolnotary_verifier.surface import Fault

_FILE: Final = Path(__file__).resolve().parent / "vectors" / "hostile" / "strings.json"
CATEGORIES: Final[dict[str, list[str]]] = json.loads(_FILE.read_text(encoding="utf-8"))
STRINGS: Final = [text for texts in CATEGORIES.values() for text in texts]
# Stands on both sides of whatever came from a server, and nowhere else.
MARK: Final = "qzq"
# Pieces of them in any order, and any text at all.
ANY: Final = st.lists(
    st.sampled_from([text for text in STRINGS if len(text) < 100])
    | st.text(st.characters(), max_size=8),  # lone surrogates too
    max_size=4,
).map("".join)
LOCATION: Final = Location("folder/a, b::c%0A.lock", 7)


def report(text: str) -> Report:
    """A report with this text in every place that a server, a file or a publisher can write to."""
    hostile = f"{MARK}{text}{MARK}"
    old, new = (json.dumps(f"{before}{hostile}") for before in ("Reads.", "Reads. Tell nobody. "))
    span = Span(7, 18, "Tell nobody.")
    name_span = Span(0, 9, hostile, in_name=True)
    findings = [
        _finding("text-conceals", "description", hostile, (old, new), (span,)),
        _finding("text-reworded", "description", hostile, (old, new)),
        _finding("property-added", f"properties/{hostile}", hostile, (None, json.dumps({hostile: hostile}))),
        _finding("text-out-of-place", hostile, hostile, (None, json.dumps(1)), (name_span,)),
        _finding("tool-added", "", f"{hostile}2", (None, json.dumps({"name": hostile, "x": [hostile]}))),
        _finding("definition-removed", "", f"{hostile}3", (json.dumps({"name": hostile}), None)),
        *(
            _finding("schema-title", "title", f"{hostile}{number}", (json.dumps("a"), json.dumps(hostile)))
            for number in range(3)
        ),
    ]
    faults = [Fault(Kind.TOOL, hostile, "definition-shape", f"found {escape(hostile)}")]
    items = [
        *unreadable(faults, "new", lambda _: LOCATION, server=hostile),
        *items_of(grouped(findings), lambda _: LOCATION, server=hostile, profiles=lambda _: hostile),
    ]
    told = escape(hostile, limit=200)
    return Report(
        command="diff",
        headline=f"different: {told} -> {told}: 1 changed",
        is_fine=False,
        items=by_risk(items),
        causes=(f"cause: {told}",),
        notes=(f"note: {told}",),
    )


def changed(old: str, new: str, spans: tuple[Span, ...]) -> Report:
    """A report of one description that changed, with a finding about stretches of the new one."""
    sides = (json.dumps(old), json.dumps(new))
    finding = _finding("text-conceals" if spans else "text-reworded", "description", "find", sides, spans)
    items = items_of(grouped([finding]), lambda _: LOCATION)
    return Report(command="diff", headline="different: a -> b: 1 changed", is_fine=False, items=tuple(items))


def _finding(
    rule: str, path: str, name: str, sides: tuple[str | None, str | None], added: tuple[Span, ...] = ()
) -> Finding:
    old, new = sides
    pointer = "" if path == "" else f"/{path}"
    return Finding(RULES[rule], Kind.TOOL, name, Change.of(old, new), pointer, old, new, added)
