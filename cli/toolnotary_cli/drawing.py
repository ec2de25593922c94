# SPDX-License-Identifier: Apache-2.0
"""A review for people: what changed in which definition, word by word; what cannot be seen is spelled out.

Lines that hold text from a server begin with `  | `, so that no text can pass for a line of ours.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from toolnotary_cli.marking import marked, unmarked
from toolnotary_cli.output import Look, shown, styled
from toolnotary_cli.wording import called, name_text
from toolnotary_verifier.escape import escape
from toolnotary_verifier.review import Change, Difference, Finding, Review, Risk, by_definition
from toolnotary_verifier.surface import Fault
from toolnotary_verifier.words import Origin, Piece, word_changes

_SIGN = {Change.ADDED: "+", Change.REMOVED: "-", Change.CHANGED: "~"}
_LOOK: Mapping[Change, Look] = {Change.ADDED: "good", Change.REMOVED: "bad", Change.CHANGED: "warn"}
_RISK_LOOK: Mapping[Risk, Look] = {
    Risk.NONE: "dim",
    Risk.LOW: "dim",
    Risk.MEDIUM: "warn",
    Risk.HIGH: "bad",
    Risk.CRITICAL: "bad",
}
# Steps of the search for common words in one text: fewer after the definitions that a person still reads
# closely.
_STEPS, _CLOSELY, _STEPS_LATER = 10_000, 100, 500
_GUTTER = "  | "
# Characters of an unchanged stretch that stay visible beside a change, and of a changed one before it is cut.
_CONTEXT = 60
_SHOWN = 1500
# Latin ends at U+024F; a letter beyond it inside a word of ASCII letters is a look-alike, and is spelled out.
_LATIN_END = "\u024f"


def review_lines(review: Review) -> Iterator[str]:
    """The review in lines, escaped: faults first, then every definition, then hints and notes."""
    for side, faults in (("old", review.old_faults), ("new", review.new_faults)):
        for fault in faults:
            yield _fault_line(side, fault)
    findings = by_definition(review.findings)
    places = by_definition(review.differences)
    for number, (key, told) in enumerate(findings.items()):  # the most dangerous first
        steps = _STEPS if number < _CLOSELY else _STEPS_LATER
        yield from _definition(places.get(key, []), told, steps=steps)
    for rename in review.renames:
        how = "only the name differs" if rename.exact else "they share a description or a schema"
        yield f"probably renamed: {name_text(rename.old)} -> {name_text(rename.new)} ({how})"
    for note in review.notes:
        yield styled(f"note: {note}", "dim")


def _fault_line(side: str, fault: Fault) -> str:
    sign = styled("!", "bad")
    where = called(fault.kind, fault.name)
    return f"{sign} {where}: {fault.code} on the {side} side: {shown(fault.message, limit=400)}"


def _definition(
    differences: Sequence[Difference], findings: Sequence[Finding], *, steps: int
) -> Iterator[str]:
    first = differences[0] if differences else findings[0]
    whole = first.change if first.path == "" else Change.CHANGED
    yield styled(f"{_SIGN[whole]} {called(first.kind, first.name)} {whole}", _LOOK[whole])
    for one in findings:
        place = f" at {shown(one.path)}" if one.path else ""
        yield styled(f"  {one.risk} {one.rule.id}{place}: {one.rule.title}", _RISK_LOOK[one.risk])
    for finding in differences:
        if finding.path:
            yield f"  {_SIGN[finding.change]} {shown(finding.path)} {finding.change}"
        yield from _content(finding, steps)


def _content(finding: Difference, steps: int) -> Iterator[str]:
    old, new = _value(finding.old), _value(finding.new)
    if isinstance(old, str) and isinstance(new, str):
        yield from _gutter(_pieces(word_changes(old, new, steps=steps)))
    elif finding.old is not None and finding.new is not None:
        yield from _gutter(f"{_removed(finding.old)} {_added(finding.new)}")
    elif finding.new is not None:
        yield from _gutter(_added(new if isinstance(new, str) else laid_out(new)))
    elif finding.old is not None:
        yield from _gutter(_removed(old if isinstance(old, str) else laid_out(old)))


def _value(text: str | None) -> object:
    return None if text is None else json.loads(text)


def laid_out(value: object) -> str:
    """A JSON value over several lines, not escaped yet."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def _gutter(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield f"{_GUTTER}{line}"


def _pieces(pieces: Sequence[Piece]) -> str:
    """The pieces in order, what went and came marked, long common stretches cut."""
    drawn = []
    for index, piece in enumerate(pieces):
        if piece.origin is Origin.OLD:
            drawn.append(_removed(piece.text))
        elif piece.origin is Origin.NEW:
            drawn.append(_added(piece.text))
        else:
            drawn.append(_common(piece.text, before=index > 0, after=index < len(pieces) - 1))
    return "".join(drawn)


def _common(text: str, *, before: bool, after: bool) -> str:
    """An unchanged stretch: what stands next to a change stays."""
    head, tail = _CONTEXT * before, _CONTEXT * after
    hidden = len(text) - head - tail
    if hidden <= _CONTEXT:
        return unmarked(plain_text(text))
    mark = styled(f"[... {hidden} unchanged characters ...]", "dim")
    ends = [unmarked(plain_text(part)) for part in (text[:head], text[len(text) - tail :] if tail else "")]
    return mark.join(ends)


def _removed(text: str) -> str:
    return styled(marked(Origin.OLD, _changed(text)), "bad")


def _added(text: str) -> str:
    return styled(marked(Origin.NEW, _changed(text)), "good")


def _changed(text: str) -> str:
    if len(text) <= _SHOWN:
        return unmarked(spelled_text(text))
    half = _SHOWN // 2
    cut = f"[... {len(text) - 2 * half} more characters ...]"
    return cut.join(unmarked(spelled_text(part)) for part in (text[:half], text[-half:]))


def plain_text(text: str) -> str:
    """Text from a server, escaped; line feeds stay."""
    return escape(text, keep="\n")


def spelled_text(text: str) -> str:
    """Escaped, and look-alikes inside words of ASCII letters spelled out."""
    shown = escape(text, keep="\n")
    return shown if shown.isascii() else "".join(map(_word, _split(shown)))


def _split(text: str) -> Iterator[str]:
    for _, run in groupby(text, key=lambda c: c in " \n"):
        yield "".join(run)


def _word(word: str) -> str:
    mixed = any(c.isascii() and c.isalpha() for c in word) and any(c > _LATIN_END for c in word)
    return "".join(f"\\u{{{ord(c):x}}}" if c > _LATIN_END else c for c in word) if mixed else word
