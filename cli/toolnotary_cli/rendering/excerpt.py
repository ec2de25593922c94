# SPDX-License-Identifier: Apache-2.0
"""What of a change is shown where there is little room: what it is about, and what stands beside that."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from toolnotary_cli.drawing import laid_out, plain_text, spelled_text
from toolnotary_cli.rendering.report import Item
from toolnotary_verifier.words import Origin, Piece, word_changes

# Steps of the search for common words in one text.
_STEPS: Final = 10_000
# Characters that may stay between two changes that are told as one.
_BETWEEN: Final = 3
# The end of a character that was spelled out, where a cut took its beginning.
_PARTIAL: Final = re.compile(r"^u?\{?[0-9a-f]{0,6}\}")
# How much of the room stands before what the finding is about.
_BEFORE: Final = 4
CUT: Final = "..."


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
    """Changes between which only a blank or a mark stays are one: a sentence is read in one piece."""
    held = {Origin.OLD: "", Origin.NEW: ""}
    for at, piece in enumerate(found):
        if piece.origin is not Origin.BOTH:
            held[piece.origin] += piece.text
        elif (
            0 < at < len(found) - 1 and not any(map(str.isalnum, piece.text)) and len(piece.text) <= _BETWEEN
        ):
            held = {origin: text + piece.text for origin, text in held.items()}
        else:
            yield from _taken_out(held)
            held = {Origin.OLD: "", Origin.NEW: ""}
            yield piece
    yield from _taken_out(held)


def _taken_out(held: Mapping[Origin, str]) -> Iterator[Piece]:
    yield from (Piece(origin, text) for origin, text in held.items() if text)


def shown(piece: Piece) -> str:
    """A piece as it is shown: escaped, line feeds kept."""
    return plain_text(piece.text) if piece.origin is Origin.BOTH else spelled_text(piece.text)


def around(item: Item, room: int) -> tuple[tuple[Origin, str], ...]:
    """The pieces of an item cut to what fits, each escaped and in one line; what the finding is about stays.

    Args:
        item: the item.
        room: characters, as they are shown.
    """
    found = pieces(item)
    if item.spans:  # they are about what came
        found = tuple(piece for piece in found if piece.origin is not Origin.OLD)
    head, tail = _parted(found, _focus(item, found))
    after, used = _taken(tail, room - room // _BEFORE)
    before, _ = _taken([(origin, text[::-1]) for origin, text in reversed(head)], room // _BEFORE)
    ahead = [(origin, text[::-1]) for origin, text in reversed(before)]
    begun = sum(len(text) for _, text in ahead) < sum(len(text) for _, text in head)
    if begun:
        ahead[:1] = [(origin, _PARTIAL.sub("", text)) for origin, text in ahead[:1]]
    ended = used < sum(len(text) for _, text in tail)
    marks = ([(Origin.BOTH, CUT)] if begun else [], [(Origin.BOTH, CUT)] if ended else [])
    return tuple(_joined([*marks[0], *ahead, *after, *marks[1]]))


def _focus(item: Item, found: Sequence[Piece]) -> int:
    """Where in the pieces, in characters as received, that begins what the finding is about."""
    start = next((span.start for span in item.spans if not span.in_name), None)
    passed = seen = 0
    for piece in found:
        if start is None and piece.origin is not Origin.BOTH:
            return passed
        if start is not None and piece.origin is not Origin.OLD:
            if start < seen + len(piece.text):
                return passed + start - seen
            seen += len(piece.text)
        passed += len(piece.text)
    return 0


def _parted(found: Iterable[Piece], at: int) -> tuple[list[tuple[Origin, str]], list[tuple[Origin, str]]]:
    """The pieces before and after a place, escaped, in one line each."""
    sides: tuple[list[tuple[Origin, str]], list[tuple[Origin, str]]] = ([], [])
    for piece in found:
        for side, text in zip(sides, (piece.text[: max(at, 0)], piece.text[max(at, 0) :]), strict=True):
            if text:
                side.append((piece.origin, shown(Piece(piece.origin, text)).replace("\n", " ")))
        at -= len(piece.text)
    return sides


def _taken(parts: Iterable[tuple[Origin, str]], room: int) -> tuple[list[tuple[Origin, str]], int]:
    taken: list[tuple[Origin, str]] = []
    used = 0
    for origin, text in parts:
        if used >= room:
            break
        taken.append((origin, text[: room - used]))
        used += len(taken[-1][1])
    return taken, used


def _joined(parts: Iterable[tuple[Origin, str]]) -> Iterator[tuple[Origin, str]]:
    """Neighbours of one origin as one."""
    last, held = Origin.BOTH, ""
    for origin, text in parts:
        if origin is not last and held:
            yield last, held
            held = ""
        last, held = origin, held + text
    if held:
        yield last, held
