# SPDX-License-Identifier: Apache-2.0
"""What differs between definitions of one name: digests decide whether, deepdiff says what (DESIGN: review).

deepdiff (extra `review`) is imported when the first changed definition is taken apart. It is never asked to
ignore order or to stop early, since both can hide a change; it is fed leaves as their canonical JSON text, so
that `[true]` and `[1]` differ and `1` and `1.0` do not; and it is told to look at keys that begin with `__`.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from toolnotary_verifier.alignment import Origin, Run, align
from toolnotary_verifier.canonical import JsonObject, JsonValue, canonical_bytes
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.review.finding import Change, Difference
from toolnotary_verifier.review.pointer import pointer

if TYPE_CHECKING:
    from deepdiff import DeepDiff

# What deepdiff is shown in one review: every value counts as often as it is deep, which is what it costs
# there (some 15 microseconds each). Past it, members are compared as a whole.
_EFFORT = 800_000
# Bound on aligning one array, of which a review can meet thousands.
_STEPS = 2_000


def compare_all(pairs: Iterable[tuple[Definition | None, Definition | None]]) -> Iterator[Difference]:
    """What differs in each pair of definitions of one name; nothing if and only if their digests are equal.

    The pairs share one bound on the work: a change that is larger is told by whole members.

    Raises:
        ConfigurationError: `missing-extra`, if something changed and deepdiff is not installed.
    """
    effort = _EFFORT
    for old, new in pairs:
        if old is not None and new is not None:
            if old.digest != new.digest:
                found, cost = _changes(old, new, effort)
                effort -= cost
                yield from found
        elif new is not None:
            yield Difference(new.kind, new.name, Change.ADDED, "", None, _text(new))
        elif old is not None:
            yield Difference(old.kind, old.name, Change.REMOVED, "", _text(old), None)


def _text(definition: Definition) -> str:
    return definition.canonical.decode("utf-8")


def _changes(old: Definition, new: Definition, effort: int) -> tuple[list[Difference], int]:
    """What differs between two definitions whose digests differ, and the effort that they took."""
    found: list[Difference] = []
    cost = 0
    if isinstance(old.value, dict) and isinstance(new.value, dict):  # instructions are one text
        members = changed_members(old.value, new.value)
        before, after = (
            {key: _as_text(side[key]) for key in members if key in side} for side in (old.value, new.value)
        )
        _leave_equal_out(before, after)
        cost = _cost(before) + _cost(after)
        if cost <= effort:
            found = [_difference(old, *place) for place in _places(before, after)]
        else:
            found, cost = [_difference(old, pointer([key]), *texts) for key, texts in members.items()], 0
    # Digests decide: what differs is never told as equal, whatever a library made of it.
    return found or [_difference(old, "", _text(old), _text(new))], cost


def _difference(definition: Definition, path: str, old: str | None, new: str | None) -> Difference:
    return Difference(definition.kind, definition.name, Change.of(old, new), path, old, new)


Path = tuple[str | int, ...]
Steps = tuple[Path, str | None, str | None]
Place = tuple[str, str | None, str | None]


def _leave_equal_out(before: dict[str, object], after: dict[str, object]) -> None:
    """Take out what both objects hold alike, at any depth that only objects lead to."""
    for key in before.keys() & after.keys():
        was, now = before[key], after[key]
        if was == now:
            del before[key], after[key]
        elif isinstance(was, dict) and isinstance(now, dict):
            _leave_equal_out(was, now)


def _places(before: dict[str, object], after: dict[str, object]) -> list[Place]:
    """Every place that differs, in order of its path; leaves are canonical JSON text."""
    tree = _deepdiff()(
        before,
        after,
        view="tree",
        ignore_private_variables=False,
        # The library's own alignment of arrays loses changes (9.1: [n, n, t, n] to [n, f, n, f, t] ends in
        # n).
        zip_ordered_iterables=True,
        threshold_to_diff_deeper=0,  # otherwise two objects with few keys in common are one change
    )
    differing = [
        (tuple(level.path(output_format="list")), _written(level.t1), _written(level.t2))
        for levels in tree.values()
        for level in levels
    ]
    found = _aligned(differing, before, after)
    found.sort(key=lambda place: [(isinstance(step, str), step) for step in place[0]])
    return [(pointer(path), was, now) for path, was, now in found]


def _aligned(found: Iterable[Steps], before: object, after: object, depth: int = 0) -> list[Steps]:
    """The same differences, arrays told as items that came and went wherever that is shorter.

    The first `depth` steps of every path are not looked at: the arrays there have been decided about.
    """
    told: list[Steps] = []
    inside: dict[Path, list[Steps]] = {}
    for place in found:
        outermost = next((at for at in range(depth, len(place[0])) if isinstance(place[0][at], int)), None)
        (told if outermost is None else inside.setdefault(place[0][:outermost], [])).append(place)
    for path, places in inside.items():
        items = [[str(_written(item)) for item in _at(tree, path)] for tree in (before, after)]
        moved = list(_items(path, align(*items, steps=_STEPS)))
        told += moved if len(moved) < len(places) else _aligned(places, before, after, len(path) + 1)
    return told


def _items(path: Path, runs: Iterable[Run]) -> Iterator[Steps]:
    position = {Origin.OLD: 0, Origin.NEW: 0}
    for origin, texts in runs:
        for text in texts:
            if origin is Origin.OLD:
                yield (*path, position[Origin.OLD]), text, None
            elif origin is Origin.NEW:
                yield (*path, position[Origin.NEW]), None, text
            for side in position:
                position[side] += origin in (side, Origin.BOTH)


def _at(tree: object, path: Path) -> list[object]:
    for step in path:
        tree = tree[step]  # type: ignore[index]  # the path was found in this very tree
    assert isinstance(tree, list)  # noqa: S101 - an integer step stands in an array
    return tree


def changed_members(old: JsonObject, new: JsonObject) -> dict[str, tuple[str | None, str | None]]:
    """The members of two objects that differ, sorted: old and new canonical text, None where none is."""
    before = {key: canonical_bytes(value).decode("utf-8") for key, value in old.items()}
    after = {key: canonical_bytes(value).decode("utf-8") for key, value in new.items()}
    return {
        key: (before.get(key), after.get(key))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    }


def _deepdiff() -> "type[DeepDiff]":
    try:
        from deepdiff import DeepDiff
    except ModuleNotFoundError as error:
        if error.name != "deepdiff":
            raise
        raise ConfigurationError(
            "missing-extra",
            "showing what changed needs the extra review, which is not installed",
            remedy="pip install 'toolnotary[review]'",
        ) from None
    return DeepDiff


def _as_text(value: JsonValue) -> object:
    """The same containers, their leaves as canonical JSON text."""
    if isinstance(value, dict):
        return {key: _as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    return canonical_bytes(value).decode("utf-8")


def _written(value: object) -> str | None:
    """The canonical JSON text of what `_as_text` made; None for deepdiff's mark that nothing is there."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{','.join(str(_written(item)) for item in value)}]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))  # RFC 8785 section 3.2.3
        return "{" + ",".join(f"{canonical_bytes(key).decode()}:{_written(value[key])}" for key in keys) + "}"
    return None


def _cost(value: object, depth: int = 1) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth + sum(_cost(item, depth + 1) for item in items)
