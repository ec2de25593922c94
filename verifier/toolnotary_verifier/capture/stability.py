# SPDX-License-Identifier: Apache-2.0
"""Which definitions differ between looks under the same circumstances, and which words moved.

A server that builds its texts from a set, a clock or its working directory says something else at every start
(research: one in 71 servers did, in four of its tools). Whoever publishes it must know before users do.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolnotary_verifier.canonical import JsonValue, canonical_bytes
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.surface import Surface

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_MAX_PLACES = 5
_MAX_WORDS = 12
_MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Move:
    """One place of a definition that differs between two looks.

    Attributes:
        place: JSON pointer (RFC 6901) within the definition, escaped.
        before, after: the words that differ, escaped and bounded.
        is_reordered: the same words in another order, as a set or map leaves them.
    """

    place: str
    before: str
    after: str
    is_reordered: bool

    def __str__(self) -> str:
        """One line."""
        order = " (the same words in another order)" if self.is_reordered else ""
        return f"{self.place or '/'}: {self.before!s} | {self.after!s}{order}"


@dataclass(frozen=True, slots=True)
class Unstable:
    """A definition that is not the same at every look.

    Attributes:
        profile: the circumstances under which it was seen to differ.
        kind, name: which definition.
        variants: every definition seen, in the order of first sight.
        comes_and_goes: some looks did not have it at all.
        moves: what differs between the first two variants.
    """

    profile: str
    kind: Kind
    name: str
    variants: tuple[Definition, ...]
    comes_and_goes: bool
    moves: tuple[Move, ...]


def unstable(profile: str, looks: Sequence[Surface]) -> tuple[Unstable, ...]:
    """What differs between looks of one profile, by kind and name."""
    keys = sorted({key for look in looks for key in look.definitions})
    found = []
    for key in keys:
        seen = [look.definitions[key] for look in looks if key in look.definitions]
        variants = tuple({definition.digest: definition for definition in seen}.values())
        absent = len(seen) < len(looks)
        if len(variants) > 1 or absent:
            moves = tuple(moved(variants[0], variants[1])) if len(variants) > 1 else ()
            found.append(Unstable(profile, *key, variants, absent, moves))
    return tuple(found)


def moved(one: Definition, other: Definition) -> list[Move]:
    """Where two definitions of one name differ, at most a handful of places."""
    moves: list[Move] = []
    for place, before, after in _differences(one.value, other.value, ""):
        moves.append(_move(place, before, after))
        if len(moves) == _MAX_PLACES:
            break
    return moves


def _differences(one: JsonValue, other: JsonValue, place: str) -> Iterable[tuple[str, str, str]]:
    """Leaves that differ, as (pointer, text, text); an absent one is shown as nothing."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            step = f"{place}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in one or key not in other:
                yield step, _leaf(one, key), _leaf(other, key)
            else:
                yield from _differences(one[key], other[key], step)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differences(left, right, f"{place}/{index}")
    elif canonical_bytes([one]) != canonical_bytes([other]):
        yield place, _text(one), _text(other)


def _leaf(holder: dict[str, JsonValue], key: str) -> str:
    return _text(holder[key]) if key in holder else ""


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else canonical_bytes(value).decode("utf-8")


def _move(place: str, before: str, after: str) -> Move:
    one, other = _WORD.findall(before), _WORD.findall(after)
    reordered = sorted(one) == sorted(other)
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return Move(escape(place, limit=_MAX_TEXT), _shown(one, start, end), _shown(other, start, end), reordered)


def _shown(words: list[str], start: int, end: int) -> str:
    middle = words[start : len(words) - end]
    cut = "..." if len(middle) > 2 * _MAX_WORDS else ""
    return escape("".join(middle[: 2 * _MAX_WORDS]), limit=_MAX_TEXT) + cut
