# SPDX-License-Identifier: Apache-2.0
"""Which surface of one source is compared with which of another, and which of several definitions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolnotary_cli.subject import ALONE, Key, Subject
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.surface import Surface

_DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two surfaces to compare.

    Attributes:
        profile: the profile whose surfaces they are, empty where neither side has profiles.
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

    Two manifests are compared profile by profile. A surface that was seen once is compared with that profile
    of a manifest which it differs least from: which one a server shows depends on who asks.
    """
    if old.is_single and new.is_single:
        return Pairing(pairs=(Pair(profile=ALONE, old=old.surfaces[ALONE], new=new.surfaces[ALONE]),))
    if old.is_single:
        name, surface = _nearest(new, old.surfaces[ALONE])
        return Pairing(pairs=(Pair(profile=name, old=old.surfaces[ALONE], new=surface),))
    if new.is_single:
        name, surface = _nearest(old, new.surfaces[ALONE])
        return Pairing(pairs=(Pair(profile=name, old=surface, new=new.surfaces[ALONE]),))
    both = sorted(set(old.surfaces) & set(new.surfaces))
    if not both:  # no name in common: what each calls its first profile still says more than nothing
        first = (_first(old), _first(new))
        pairs = [Pair(profile=first[1], old=old.surfaces[first[0]], new=new.surfaces[first[1]])]
    else:
        pairs = [_of_manifests(name, old, new) for name in both]
    return Pairing(
        pairs=tuple(pairs),
        only_old=tuple(sorted(set(old.surfaces) - set(new.surfaces))),
        only_new=tuple(sorted(set(new.surfaces) - set(old.surfaces))),
    )


def _first(subject: Subject) -> str:
    return _DEFAULT if _DEFAULT in subject.surfaces else min(subject.surfaces)


def _nearest(subject: Subject, seen: Surface) -> tuple[str, Surface]:
    """The profile that `seen` differs least from; of several definitions of a name, the one that was seen."""

    def distance(name: str) -> tuple[int, bool, str]:
        surface = fitted[name].definitions
        kinds = seen.inspected
        ours = {key: d.digest for key, d in surface.items() if key[0] in kinds}
        theirs = {key: d.digest for key, d in seen.definitions.items()}
        differing = sum(1 for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))
        return differing, name != _DEFAULT, name

    fitted = {
        name: _choose(
            surface, {key: _seen(found, seen.definitions.get(key)) for key, found in _several(subject, name)}
        )
        for name, surface in subject.surfaces.items()
    }
    best = min(fitted, key=distance)
    return best, fitted[best]


def _seen(found: Sequence[Definition], live: Definition | None) -> Definition:
    return next((one for one in found if live is not None and one.digest == live.digest), found[0])


def _several(subject: Subject, profile: str) -> Iterator[tuple[Key, Sequence[Definition]]]:
    for key, found in subject.variants.get(profile, {}).items():
        if len(found) > 1:
            yield key, found


def _choose(surface: Surface, chosen: Mapping[Key, Definition]) -> Surface:
    return surface._replace(definitions={**surface.definitions, **chosen}) if chosen else surface


def _of_manifests(profile: str, old: Subject, new: Subject) -> Pair:
    """Names with several definitions are equal if all of them are; otherwise one that differs is shown."""
    before, after = old.variants.get(profile, {}), new.variants.get(profile, {})
    chosen: tuple[dict[Key, Definition], dict[Key, Definition]] = ({}, {})
    for key in before.keys() & after.keys():
        if max(len(before[key]), len(after[key])) > 1:
            kept = {one.digest for one in before[key]} & {one.digest for one in after[key]}
            for side, found in zip(chosen, (before[key], after[key]), strict=True):
                side[key] = next((one for one in found if one.digest not in kept), found[0])
            if all(one.digest in kept for one in (*before[key], *after[key])):
                chosen[1][key] = chosen[0][key]
    return Pair(
        profile=profile,
        old=_choose(old.surfaces[profile], chosen[0]),
        new=_choose(new.surfaces[profile], chosen[1]),
    )
