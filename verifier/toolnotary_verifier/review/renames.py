# SPDX-License-Identifier: Apache-2.0
"""Which definition that went is probably which that came; bounded work however many there are."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from toolnotary_verifier.canonical import Digest, canonical_bytes
from toolnotary_verifier.definition import NAME_MEMBER, Definition, Kind
from toolnotary_verifier.review.finding import Rename

Key = tuple[Kind, str]

# Two definitions of which less is the same are two definitions.
_ALIKE: Final = 60
# Pairs that are compared word by word.
_PAIRS: Final = 20_000
_WORD: Final = re.compile(rb"[a-zA-Z0-9_]+|[\x80-\xff]+")
_WORDS: Final = 4_000


def renames(gone: Sequence[Definition], came: Sequence[Definition]) -> Iterator[Rename]:
    """Pairs that are equal but for the name, then the most similar ones; each name once."""
    taken: set[Key] = set()
    bearers = {(one.kind, _rest(one)): one for one in came}
    for old in gone:
        new = bearers.get((old.kind, _rest(old)))
        if new is not None and new.key not in taken:
            taken |= {old.key, new.key}
            yield Rename(old.kind, old.name, new.name, exact=True, similarity=100)
    left = [one for one in gone if one.key not in taken], [one for one in came if one.key not in taken]
    ranked = sorted(_pairs(*left), key=lambda pair: (-pair[0], pair[1].name, pair[2].name))
    for similarity, old, new in ranked:
        if not taken & {old.key, new.key}:
            taken |= {old.key, new.key}
            yield Rename(old.kind, old.name, new.name, exact=False, similarity=similarity)


def _pairs(
    gone: Iterable[Definition], came: Iterable[Definition]
) -> Iterator[tuple[int, Definition, Definition]]:
    words = {one.key: _words(one) for one in (*gone, *came)}
    both = ((old, new) for old in gone for new in came if old.kind is new.kind)
    for old, new in islice(both, _PAIRS):
        similarity = _similarity(words[old.key], words[new.key])
        if similarity >= _ALIKE:
            yield similarity, old, new


def _rest(definition: Definition) -> Digest | None:
    """Everything but the name."""
    if not isinstance(definition.value, dict):
        return None
    own = NAME_MEMBER[definition.kind]
    return Digest.of(canonical_bytes({k: item for k, item in definition.value.items() if k != own}))


def _words(definition: Definition) -> frozenset[bytes]:
    found = (match[0].lower() for match in _WORD.finditer(definition.canonical))
    return frozenset(islice(found, _WORDS)) - {definition.name.lower().encode("utf-8", "replace")}


def _similarity(one: frozenset[bytes], other: frozenset[bytes]) -> int:
    """The words that both have among the words that either has, in percent; 99 unless all else is equal."""
    return min(99, 100 * len(one & other) // max(1, len(one | other)))
