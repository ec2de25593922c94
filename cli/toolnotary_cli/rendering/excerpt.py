# SPDX-License-Identifier: Apache-2.0
"""What of a change is shown where there is little room: what it is about, and what stands beside that."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from toolnotary_cli.drawing import laid_out, plain_text, spelled_text
from toolnotary_cli.marking import unmarked
from toolnotary_cli.rendering.report import Item
from toolnotary_verifier.words import Origin, Piece, word_changes

# Steps of the search for common words in one text.
_STEPS: Final = 10_000
# Characters that may stay between two changes that are told as one: words, and blanks or marks.
_BETWEEN, _BLANK = 12, 3
# The end of a character that was spelled out, where a cut took its beginning.
_PARTIAL: Final = re.compile(r"^u?\{?[0-9a-f]{0,6}\}")
# How much of the room stands before what the finding is about.
_BEFORE: Final = 4
CUT: Final = "..."
# A piece as it is shown, escaped.
Shown = tuple[Origin, str]


def clipped(text: str, most: int) -> str:
    """Escaped text in one line, cut after `most` characters."""
    return text if len(text) <= most else f"{text[:most]}{CUT}"


def pieces(item: Item) -> tuple[Piece, ...]:
    """What went and came at the first place of an item, as received; empty where nothing is known."""
    old, new = (None if text is None else json.loads(text) for text in (item.old, item.new))
    if item.spans and item.spans[0].in_name:
        return (Piece(Origin.NEW, item.spans[0].text),)
    if isinstance(old, str) and isinstance(new, str):
        return tuple(_together(word_changes(old, new, steps=_STEPS)))
    sides = ((Origin.OLD, item.old, old), (Origin.NEW, item.new, new))
    return tuple(
        Piece(origin, value if isinstance(value, str) else laid_out(value))
        for origin, text, value in sides
        if text is not None
    )


def _together(found: Sequence[Piece]) -> Iterator[Piece]:
    """Changes with less between them than they are long are one: a sentence is read in one piece."""
    held = {Origin.OLD: "", Origin.NEW: ""}
    for at, piece in enumerate(found):
        if piece.origin is not Origin.BOTH:
            held[piece.origin] += piece.text
        elif 0 < at < len(found) - 1 and len(piece.text) <= _stays_apart(found, at):
            held = {origin: text + piece.text for origin, text in held.items()}
        else:
            yield from _taken_out(held)
            held = {Origin.OLD: "", Origin.NEW: ""}
            yield piece
    yield from _taken_out(held)


def _stays_apart(found: Sequence[Piece], at: int) -> int:
    """How many characters between two changes are too few to part them."""
    if not any(map(str.isalnum, found[at].text)):
        return _BLANK
    sides = (found[max(at - 2, 0) : at], found[at + 1 : at + 3])
    longest = [max(len(one.text) for one in side if one.origin is not Origin.BOTH) for side in sides]
    return min(_BETWEEN, *longest)


def _taken_out(held: Mapping[Origin, str]) -> Iterator[Piece]:
    yield from (Piece(origin, text) for origin, text in held.items() if text)


def shown(piece: Piece) -> str:
    """A piece as it is shown: escaped, line feeds kept."""
    return plain_text(piece.text) if piece.origin is Origin.BOTH else spelled_text(piece.text)


def around(item: Item, room: int) -> tuple[Shown, ...]:
    """The pieces of an item cut to what fits, each escaped, `unmarked` and in one line.

    What the finding is about stays.

    Args:
        item: the item.
        room: characters, as they are shown.
    """
    found = _gist(item) or pieces(item)
    if item.spans:  # they are about what came
        found = tuple(piece for piece in found if piece.origin is not Origin.OLD)
    start, end = _focus(item, found)
    head, tail = _parted(found, start)
    stretch, rest = _parted(tail, end - start)
    ahead, is_begun = _last(_escaped(head), room // _BEFORE)
    after, is_ended = _stretch(_escaped(stretch), _escaped(rest), room - room // _BEFORE)
    marks = [[(Origin.BOTH, CUT)] if is_cut else [] for is_cut in (is_begun, is_ended)]
    # Two halves of a mark can meet where pieces do.
    joined = _joined([*marks[0], *ahead, *after, *marks[1]])
    return tuple((origin, unmarked(text)) for origin, text in joined)


def _gist(item: Item) -> tuple[Piece, ...]:
    """Of a definition that came or went as a whole, what it says of itself; empty for anything else."""
    if item.places[0].path or (item.old is None) is (item.new is None):
        return ()
    origin, text = (Origin.OLD, item.old) if item.new is None else (Origin.NEW, item.new)
    value = json.loads(text or "null")
    told = value.get("description") if isinstance(value, dict) else None
    return (Piece(origin, told),) if isinstance(told, str) and told.strip() else ()


def _focus(item: Item, found: Sequence[Piece]) -> tuple[int, int]:
    """Where in the pieces, in characters as received, what the finding is about begins and ends.

    That is the shortest stretch: some rules tell a whole sentence, others the words in it. Without any it is
    what changed first.
    """
    spans = [span for span in item.spans if not span.in_name]
    if spans:
        span = min(spans, key=lambda one: one.end - one.start)
        return span.start, span.end
    passed = 0
    for piece in found:
        if piece.origin is not Origin.BOTH:
            return passed, passed
        passed += len(piece.text)
    return 0, 0


def _parted(found: Iterable[Piece], at: int) -> tuple[list[Piece], list[Piece]]:
    """The pieces before and after a place, as received."""
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for piece in found:
        cut = max(at, 0)
        for side, text in zip(sides, (piece.text[:cut], piece.text[cut:]), strict=True):
            if text:
                side.append(Piece(piece.origin, text))
        at -= len(piece.text)
    return sides


def _escaped(found: Iterable[Piece]) -> list[Shown]:
    return [(piece.origin, unmarked(shown(piece)).replace("\n", " ")) for piece in found]


def _stretch(stretch: list[Shown], rest: list[Shown], room: int) -> tuple[list[Shown], bool]:
    """The stretch and what comes behind it, or its two ends where it does not fit; whether the end is cut."""
    if _size(stretch) <= room:
        return _first([*stretch, *rest], room)
    begun, _ = _first(stretch, room // _BEFORE)
    ended, _ = _last(stretch, room - room // _BEFORE)
    return [*begun, (Origin.BOTH, f" {CUT} "), *ended], bool(rest)


def _size(parts: Iterable[Shown]) -> int:
    return sum(len(text) for _, text in parts)


def _first(parts: Sequence[Shown], room: int) -> tuple[list[Shown], bool]:
    """As much of the beginning as there is room for, and whether that is not all."""
    taken: list[Shown] = []
    for origin, text in parts:
        left = room - _size(taken)
        if left <= 0:
            break
        taken.append((origin, text[:left]))
    return taken, _size(taken) < _size(parts)


def _last(parts: Sequence[Shown], room: int) -> tuple[list[Shown], bool]:
    """As much of the end as there is room for, and whether that is not all."""
    taken, is_cut = _first([(origin, text[::-1]) for origin, text in reversed(parts)], room)
    kept = [(origin, text[::-1]) for origin, text in reversed(taken)]
    if is_cut:
        kept[:1] = [(origin, _PARTIAL.sub("", text)) for origin, text in kept[:1]]
    return kept, is_cut


def _joined(parts: Iterable[Shown]) -> Iterator[Shown]:
    """Neighbours of one origin as one."""
    last, held = Origin.BOTH, ""
    for origin, text in parts:
        if origin is not last and held:
            yield last, held
            held = ""
        last, held = origin, held + text
    if held:
        yield last, held
