# SPDX-License-Identifier: Apache-2.0
"""Which surface of one source is compared with which of another, and which of several definitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolnotary_cli.subject import ALONE, Key, Subject
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.surface import Surface

_DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two surfaces to compare.

    Attributes:
        profile: the profile whose surfaces they are; empty where neither side has profiles, and where two of
            different names were named.
        old: the surface on the left.
        new: the surface on the right.
    """

    profile: str
    old: Surface
    new: Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """All that is compared, and the profiles that only one side has.

    Attributes:
        pairs: at least one.
        only_old: profiles of the left side without a counterpart; a difference of its own.
        only_new: the same of the right side.
    """

    pairs: tuple[Pair, ...]
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()


def pair(old: Subject, new: Subject) -> Pairing:
    """What to compare between two sources.

    Two single surfaces are compared with each other, whatever their profiles are called: a person who names
    two profiles wants these. Two manifests are compared profile by profile. A single surface is compared with
    that profile of a manifest which has its name, else with the one that it differs least from: which one a
    server shows depends on who asks.
    """
    if old.is_single or new.is_single:
        return Pairing(pairs=(_nearest(old, new),))
    both = sorted(set(old.surfaces) & set(new.surfaces))
    # No name in common: what each calls its first profile still says more than nothing.
    names = [(name, name) for name in both] or [(_first(old), _first(new))]
    return Pairing(
        pairs=tuple(_fitted(old, before, new, after) for before, after in names),
        only_old=tuple(sorted(set(old.surfaces) - set(new.surfaces))),
        only_new=tuple(sorted(set(new.surfaces) - set(old.surfaces))),
    )


def _first(subject: Subject) -> str:
    return _DEFAULT if _DEFAULT in subject.surfaces else min(subject.surfaces)


def _nearest(old: Subject, new: Subject) -> Pair:
    """The pair of surfaces that differ least; those of one name go before, then the default profile."""

    def distance(names: tuple[str, str]) -> tuple[bool, int, bool, tuple[str, str]]:
        return names[0] != names[1], _differing(fitted[names]), _DEFAULT not in names, names

    fitted = {
        (before, after): _fitted(old, before, new, after) for before in old.surfaces for after in new.surfaces
    }
    return fitted[min(fitted, key=distance)]


def _differing(two: Pair) -> int:
    """How many names differ, of the kinds that both sides were asked for."""
    kinds = two.old.inspected & two.new.inspected
    ours, theirs = (
        {key: one.digest for key, one in surface.definitions.items() if key[0] in kinds}
        for surface in (two.old, two.new)
    )
    return sum(1 for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))


def _fitted(old: Subject, before: str, new: Subject, after: str) -> Pair:
    """Two surfaces, each with that one of several definitions of a name which says whether they differ."""
    sides = ((old, before), (new, after))
    held = [subject.variants.get(name) for subject, name in sides]
    surfaces = [subject.surfaces[name] for subject, name in sides]
    if held[0] is not None and held[1] is not None:
        chosen = _of_manifests(held[0], held[1])
    else:
        chosen = (_seen(held[0], surfaces[1]), _seen(held[1], surfaces[0]))
    names = {before, after} - {ALONE}
    return Pair(
        profile=names.pop() if len(names) == 1 else ALONE,
        old=_choose(surfaces[0], chosen[0]),
        new=_choose(surfaces[1], chosen[1]),
    )


def _seen(held: Mapping[Key, Sequence[Definition]] | None, live: Surface) -> dict[Key, Definition]:
    """Against a listing any of several definitions will do: the one that was seen, else the first."""
    chosen = {}
    for key, found in (held or {}).items():
        if len(found) > 1 and key in live.definitions:
            digest = live.definitions[key].digest
            chosen[key] = next((one for one in found if one.digest == digest), found[0])
    return chosen


def _of_manifests(
    before: Mapping[Key, Sequence[Definition]], after: Mapping[Key, Sequence[Definition]]
) -> tuple[dict[Key, Definition], dict[Key, Definition]]:
    """Names with several definitions are equal if all of them are; otherwise one that differs is shown."""
    chosen: tuple[dict[Key, Definition], dict[Key, Definition]] = ({}, {})
    for key in before.keys() & after.keys():
        if max(len(before[key]), len(after[key])) > 1:
            kept = {one.digest for one in before[key]} & {one.digest for one in after[key]}
            for side, found in zip(chosen, (before[key], after[key]), strict=True):
                side[key] = next((one for one in found if one.digest not in kept), found[0])
            if all(one.digest in kept for one in (*before[key], *after[key])):
                chosen[1][key] = chosen[0][key]
    return chosen


def _choose(surface: Surface, chosen: Mapping[Key, Definition]) -> Surface:
    return surface._replace(definitions={**surface.definitions, **chosen}) if chosen else surface
