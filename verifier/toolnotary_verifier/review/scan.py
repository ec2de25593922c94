# SPDX-License-Identifier: Apache-2.0
"""Findings about text that came: what stands in it, read together with the text around it.

A whole sentence is read where a word of it changed, so that no edit completes one unseen; what was there
before and stayed is told by nothing here.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain, islice
from operator import itemgetter
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.review.finding import EXCERPT, Change, Difference, Finding, Span
from toolnotary_verifier.review.pointer import ABSENT, pointer, steps_of, written
from toolnotary_verifier.review.reading.characters import read_breaks, read_characters
from toolnotary_verifier.review.reading.encoded import read_encoded
from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.reading.marks import addresses, read_marks, read_origins
from toolnotary_verifier.review.reading.rows import is_short, read_row
from toolnotary_verifier.review.reading.scripts import read_scripts
from toolnotary_verifier.review.reading.sentences import read_sentences
from toolnotary_verifier.review.reading.slots import Slot, Text, read_slot, slot_of, spoken, texts_of
from toolnotary_verifier.review.risk import Risk, Rule
from toolnotary_verifier.review.rules import wording
from toolnotary_verifier.review.texts import edits
from toolnotary_verifier.words import Origin

# Characters that are read in one review, of which the largest real list has a million.
_READ: Final = 2_000_000
# The member of a resource that is base64 by definition (MCP schema: BlobResourceContents).
_BINARY: Final = ("blob",)
# Members that name something, beside those that are names by their slot; and what is fetched from.
_IDENTIFYING: Final = frozenset((("name",), ("uri",), ("uriTemplate",), ("src",), ("websiteUrl",)))
_FETCHED: Final = frozenset((("src",), ("websiteUrl",)))
# Stretches of one text that are told of one rule.
_SPANS: Final = 50
_BLANKS: Final = " \t\r\n"
# Characters from which on a part of a text can be a sentence of its own.
_SENTENCE: Final = 20
# Parts of a name from which on it can be a sentence.
_NAMED: Final = 4

Range = tuple[int, int]


class Came(NamedTuple):
    """A text that came, or one of which parts came.

    Attributes:
        text: the text, and where it stands.
        old: the value that stood there; `ABSENT` where nothing did.
        new: the value that stands there.
    """

    text: Text
    old: JsonValue
    new: JsonValue

    def parts(self) -> list[Range]:
        """What of the text is new, in characters; a place of no length is where something went."""
        is_edited = isinstance(self.old, str) and isinstance(self.new, str) and not self.text.in_name
        return list(_parts(self.old, self.new)) if is_edited else [(0, len(self.text.text))]


class Scanner:
    """Reads the texts of one review, within one bound."""

    def __init__(self, tools: AbstractSet[str]) -> None:
        """Know the server.

        Args:
            tools: the names of its tools now.
        """
        self._tools = tools
        self._left = _READ

    def findings(
        self, old: Definition | None, new: Definition, differences: Iterable[Difference]
    ) -> Iterator[Finding]:
        """What stands in the texts that came with the differences of one definition.

        Args:
            old: the definition of before; None where it came.
            new: the definition of now.
            differences: the places that differ.
        """
        known = cache(lambda: frozenset() if old is None else addresses(old.canonical.decode("utf-8")))
        words = frozenset(text.text for text in texts_of(new.value, kind=new.kind) if text.in_name)
        others = self._tools - {new.name}
        all_came = [came for difference in differences for came in _came(difference)]
        told: set[tuple[Rule, Text]] = set()
        for came in all_came:
            for rule, spans in self._read(came, others, words, known).items():
                told.add((rule, came.text))
                yield _finding(rule, new, came, spans)
        if self._left >= 0:
            for rule, came in _joined(new, all_came):
                if (rule, came.text) not in told:
                    yield _finding(rule, new, came, (_span(came, 0, len(came.text.text)),))

    def _read(
        self,
        came: Came,
        tools: AbstractSet[str],
        words: AbstractSet[str],
        known: Callable[[], AbstractSet[str]],
    ) -> dict[Rule, tuple[Span, ...]]:
        text = came.text.text
        self._left -= len(text)
        if self._left < 0:
            return {wording.UNREAD: (_span(came, 0, len(text)),)}
        edited = came.parts()
        found: dict[Rule, dict[Range, None]] = {}
        for hit in chain(_hits(came.text, tools, words), _alone(text, edited)):
            if hit.rule is wording.ADDRESS and text[hit.start : hit.end].lower() in known():
                continue
            told = found.setdefault(hit.rule, {})
            if len(told) < _SPANS:
                told.update(dict.fromkeys(_touched(text, edited, hit)))
        found = {rule: parts for rule, parts in found.items() if parts}
        if any(rule.risk >= Risk.HIGH for rule in found):
            found = {rule: parts for rule, parts in found.items() if rule.risk > Risk.LOW}
        return {rule: tuple(_span(came, *part) for part in parts) for rule, parts in found.items()}


def _finding(rule: Rule, new: Definition, came: Came, spans: tuple[Span, ...]) -> Finding:
    before, after = written(came.old), written(came.new)
    change, place = Change.of(before, after), pointer(came.text.steps)
    return Finding(rule, new.kind, new.name, change, place, before, after, spans)


def _joined(new: Definition, came: Sequence[Came]) -> Iterator[tuple[Rule, Came]]:
    """What short texts say one after another, such as allowed values of a word each; those that came."""
    fresh = {one.text: one for one in came if is_short(one.text.text)}
    row = read_row(texts_of(new.value, kind=new.kind)) if fresh else ()
    told = dict.fromkeys((rule, text) for rule, texts in row for text in texts if text in fresh)
    yield from ((rule, fresh[text]) for rule, text in told)


def _hits(text: Text, tools: AbstractSet[str], words: AbstractSet[str]) -> Iterator[Hit]:
    said, whole = text.text, len(text.text)
    yield from read_characters(said)
    yield from read_scripts(said)
    if text.slot is Slot.NAME or text.steps[-1:] in _IDENTIFYING:
        yield from read_breaks(said)
    yield from read_slot(text)
    if text.steps[-1:] != _BINARY:
        yield from read_encoded(said)
    if text.slot is Slot.NAME:
        parted = spoken(said)
        said = parted if parted.count(" ") >= _NAMED else said
        yield from (Hit(hit.rule, 0, whole) for hit in read_sentences(said))
    else:
        yield from read_sentences(said)
    if text.slot in (Slot.PROSE, Slot.TITLE, Slot.VALUE, Slot.OTHER):
        yield from read_marks(said, tools, words)
    elif text.steps[-1:] in _FETCHED and not said.startswith("data:"):
        yield from read_origins(said)


def _alone(text: str, parts: Iterable[Range]) -> Iterator[Hit]:
    """What the parts say by themselves: where no full stop parts them from what stood there before."""
    for start, end in parts:
        if start > 0 and end - start >= _SENTENCE:
            part = text[start:end]
            at = start + len(part) - len(part.lstrip())
            yield from (Hit(hit.rule, at + hit.start, at + hit.end) for hit in read_sentences(part.lstrip()))


def _touched(text: str, parts: Sequence[Range], hit: Hit) -> list[Range]:
    """What of a hit is new; all of it where something went from its middle."""
    new = []
    for start, end in islice(parts, bisect_right(parts, hit.start, key=itemgetter(1)), None):
        if start >= hit.end:
            break
        new.append((max(start, hit.start), min(end, hit.end)))
    shown = [part for part in (_trimmed(text, *part) for part in new) if part[1] > part[0]]
    return shown[:_SPANS] or ([(hit.start, hit.end)] if new else [])


def _trimmed(text: str, start: int, end: int) -> Range:
    """The same stretch without the blanks around it, where it is more than blanks."""
    part = text[start:end]
    if not part.strip(_BLANKS):
        return start, end
    return start + len(part) - len(part.lstrip(_BLANKS)), end - len(part) + len(part.rstrip(_BLANKS))


def _span(came: Came, start: int, end: int) -> Span:
    return Span(start, end, came.text.text[start : min(end, start + EXCERPT)], came.text.in_name)


def _came(difference: Difference) -> Iterator[Came]:
    if difference.new is None:
        return
    steps, kind = steps_of(difference.path), difference.kind
    old = ABSENT if difference.old is None else json.loads(difference.old)
    new = json.loads(difference.new)
    if isinstance(old, str) and isinstance(new, str):
        yield Came(Text(steps, new, slot_of(steps, kind)), old, new)
        return
    if difference.change is Change.ADDED and steps and not steps[-1].isdecimal():
        yield Came(Text(steps, steps[-1], Slot.NAME, in_name=True), ABSENT, new)
    before = {text.text for text in texts_of(old, kind=kind)} if old is not ABSENT else frozenset()
    for text in texts_of(new, steps, kind=kind):
        if text.text not in before:
            yield Came(text, ABSENT, text.text)


def _parts(old: str, new: str) -> Iterator[Range]:
    place = 0
    for piece in edits(old, new):
        if piece.origin is Origin.OLD:
            yield place, place
            continue
        if piece.origin is Origin.NEW:
            yield place, place + len(piece.text)
        place += len(piece.text)
