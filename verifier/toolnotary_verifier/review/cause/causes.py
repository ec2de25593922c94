# SPDX-License-Identifier: Apache-2.0
"""All that differs between two surfaces, shared out to causes; whatever is left over stands apart."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.review.cause.machine import value_of
from toolnotary_verifier.review.cause.members import Members, both
from toolnotary_verifier.review.cause.model import Apart, Cause, Causes, Explained, Key, Known
from toolnotary_verifier.review.cause.names import Moved
from toolnotary_verifier.surface import Surface

_UNKNOWN: Final = Known()
_ORDER: Final = {cause: place for place, cause in enumerate(Cause)}


def causes_of(old: Surface, new: Surface, *, known: Known = _UNKNOWN) -> Causes:
    """What makes `new` differ from `old`, as far as the two show it themselves.

    Kinds that only one side was asked for are not compared, and tools that are equal in normal form do not
    differ. An entry that is no definition stands apart on either side.

    Args:
        old: what is pinned or signed.
        new: what is seen.
        known: what is known about the two besides.
    """
    return _Shared(old, new, known).causes()


class _Shared:
    """One pair of surfaces."""

    def __init__(self, old: Surface, new: Surface, known: Known) -> None:
        kinds = old.inspected & new.inspected
        self._faults = {(fault.kind, fault.name) for fault in (*old.faults, *new.faults)}
        self._old = self._compared(old, kinds)
        self._new = self._compared(new, kinds)
        self._is_other_version = known.is_other_version or _differs(old.server_info, new.server_info)
        self._signed = self._of_profile(known.profiles)

    def _compared(self, surface: Surface, kinds: frozenset[Kind]) -> dict[Key, Definition]:
        found = surface.definitions.items()
        return {key: one for key, one in found if key[0] in kinds and key not in self._faults}

    def _is_same(self, key: Key) -> bool:
        return key in self._old and self._old[key].digest == self._new[key].digest

    def _of_profile(self, profiles: Iterable[frozenset[Digest]]) -> frozenset[Key]:
        """What differs and is of the one other profile that all of the surface may be of.

        Profiles do not mix: where anything that is as pinned is not of that profile, none of it is excused.
        """
        same = {one.digest for key, one in self._new.items() if self._is_same(key)}
        found = [
            frozenset(
                key for key, one in self._new.items() if one.digest in profile and not self._is_same(key)
            )
            for profile in profiles
            if same <= profile
        ]
        return max(found, key=len, default=frozenset())

    def causes(self) -> Causes:
        """The causes, and what is left over."""
        members = Members(both(self._without_signed(self._old), self._without_signed(self._new)))
        left = {key: found for key, found in members.left.items() if found}
        moved = self._moved(len(left))
        lists = self._by_signature(moved) if self._signed else moved.explained()
        found = [
            *members.named,
            *([] if lists is None else [lists]),
            *self._of_machine(left),
        ]
        accounted = frozenset(() if lists is None else lists.accounted)
        apart = [
            *(Apart(*key) for key in self._faults),
            *(Apart(*one.key) for one in (*moved.gone, *moved.came) if one.key not in accounted),
            *(Apart(*key, tuple(sorted(names))) for key, names in left.items()),
            *(Apart(*key) for key in self._other_changed()),
        ]
        return Causes(tuple(_joined(found)), tuple(sorted(apart)))

    def _without_signed(self, side: Mapping[Key, Definition]) -> dict[Key, Definition]:
        return {key: one for key, one in side.items() if key not in self._signed}

    def _moved(self, unexplained: int) -> Moved:
        gone = tuple(one for key, one in self._old.items() if key not in self._new)
        came = tuple(
            one for key, one in self._new.items() if key not in self._old and key not in self._signed
        )
        stayed = tuple(one for key, one in self._new.items() if key in self._old and key[0] is Kind.TOOL)
        return Moved(gone, came, stayed, unexplained, self._is_other_version)

    def _other_changed(self) -> list[Key]:
        """What differs and is no tool: prompts, resources, templates, instructions."""
        return [
            key
            for key in self._old.keys() & self._without_signed(self._new).keys()
            if key[0] is not Kind.TOOL and not self._is_same(key)
        ]

    def _by_signature(self, moved: Moved) -> Explained:
        """What is of another profile, and what that profile lacks."""
        evidence = f"{len(self._signed)} definitions are as signed for another profile"
        if moved.gone:
            evidence += f", which lacks {len(moved.gone)} of the pinned one"
        keys = {*self._signed, *(one.key for one in moved.gone)}
        return Explained(Cause.CONFIGURATION, tuple(sorted(keys)), evidence)

    def _of_machine(self, left: Mapping[Key, set[str]]) -> Iterator[Explained]:
        """The value that all texts which are left over differ in; the texts stay left over."""
        pairs: list[tuple[JsonValue, JsonValue]] = [
            (_members(self._old[key], names), _members(self._new[key], names)) for key, names in left.items()
        ]
        pairs += [(self._old[key].value, self._new[key].value) for key in self._other_changed()]
        if value_of(pairs) is not None:
            evidence = (
                f"{len(pairs)} definitions differ in one value, a time zone or a path, and nowhere else"
            )
            yield Explained(Cause.ENVIRONMENT, (), evidence)


def _members(definition: Definition, names: Iterable[str]) -> JsonObject:
    return {name: definition.value[name] for name in names if name in definition.value}


def _differs(old: JsonObject, new: JsonObject) -> bool:
    """Whether a server calls its version otherwise than before, where it says one at all."""
    before, after = old.get("version"), new.get("version")
    return isinstance(before, str) and isinstance(after, str) and before != after


def _joined(found: Iterable[Explained]) -> list[Explained]:
    """Each cause once, in their order."""
    joined: dict[Cause, Explained] = {}
    for one in sorted(found, key=lambda one: _ORDER[one.cause]):
        known = joined.setdefault(one.cause, one)
        if known is not one:
            accounted = tuple(sorted({*known.accounted, *one.accounted}))
            joined[one.cause] = Explained(one.cause, accounted, f"{known.evidence}; {one.evidence}")
    return list(joined.values())
