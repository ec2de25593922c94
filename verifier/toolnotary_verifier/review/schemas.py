# SPDX-License-Identifier: Apache-2.0
"""What changed in an input schema: what is taken now and was not before (JSON Schema 2020-12, draft-07)."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.review.pointer import ABSENT, Steps, at, written
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import schema
from toolnotary_verifier.review.schema_keywords import is_reordered, keyword_rule
from toolnotary_verifier.review.schema_sites import site
from toolnotary_verifier.review.schema_types import accepted, is_remote, same

Told = tuple[Rule, Steps]

# Keywords that only say together which values are taken.
_SHAPE: Final = frozenset(("$dynamicRef", "$ref", "allOf", "anyOf", "nullable", "oneOf", "type"))

# What is said of members without a name, and words by which nothing is taken or refused.
_OTHERS: Final = frozenset(("additionalProperties", "propertyNames", "unevaluatedProperties"))
_NOTES: Final = frozenset(
    ("$comment", "$defs", "$id", "$schema", "default", "definitions", "description", "examples", "title")
)


class _Sides(NamedTuple):
    """One schema on both sides, and the documents that its references lead into."""

    steps: Steps
    old: JsonObject
    new: JsonObject
    old_root: JsonValue
    new_root: JsonValue


def schema_rules(old: JsonValue, new: JsonValue, places: Iterable[Steps]) -> Iterator[Told]:
    """What changed from one schema to another, each with its place.

    Args:
        old: the whole schema of before; `ABSENT` where there was none.
        new: the whole schema of now.
        places: every place that differs.
    """
    if _vanished(old, new):
        yield schema.SCHEMA_VANISHED, ()
        return
    if same(old, old, new, new):
        yield schema.SAME_RESOLVED, ()
        return
    members: dict[Steps, dict[Steps, None]] = {}
    for place in places:
        found = site(old, new, place)
        members.setdefault(found.schema, {})[found.member] = None
    for steps, changed in members.items():
        before, after = at(old, steps), at(new, steps)
        if () in changed or not isinstance(before, dict) or not isinstance(after, dict):
            yield schema.SCHEMA_REPLACED, steps
            continue
        yield from _of_schema(_Sides(steps, before, after, old, new), changed)


def _is_vacuous(value: JsonValue) -> bool:
    """Whether a schema says nothing: what is left of one whose generator lost the types."""
    return value is True or value is ABSENT or (isinstance(value, dict) and value.keys() <= {"$schema"})


def _vanished(old: JsonValue, new: JsonValue) -> bool:
    """Whether a schema said something, and any arguments at all are taken now.

    One that named nothing and was closed only opens.
    """
    if _is_vacuous(new) and not _is_vacuous(old):
        return True
    named = {key: one for key, one in old.items() if key not in _OTHERS} if isinstance(old, dict) else old
    return _takes_all(new) and not _takes_all(named)


def _takes_all(value: JsonValue) -> bool:
    """Whether a schema takes every object and names no member of it, however that is written."""
    if not isinstance(value, dict):
        return value is True or value is ABSENT
    return all(_is_idle(keyword, one) for keyword, one in value.items())


def _is_idle(keyword: str, value: JsonValue) -> bool:
    if keyword in _OTHERS:
        return _takes_all(value)
    if keyword in ("allOf", "anyOf", "oneOf"):
        return isinstance(value, list) and all(map(_takes_all, value))
    if keyword == "type":
        return value == "object" or (isinstance(value, list) and "object" in value)
    return keyword in _NOTES or value in ({}, [], 0, False, None)


def _of_schema(sides: _Sides, changed: Iterable[Steps]) -> Iterator[Told]:
    keywords = {member[0] for member in changed if len(member) == 1}
    shape = sorted(keywords & _SHAPE)
    if shape:
        yield _shape_rule(sides, shape), (*sides.steps, *shape) if len(shape) == 1 else sides.steps
    for keyword in sorted(keywords - _SHAPE - {"properties", "required"}):
        rule = keyword_rule(keyword, sides.old.get(keyword, ABSENT), sides.new.get(keyword, ABSENT))
        yield rule, (*sides.steps, keyword)
    names = {member[1] for member in changed if len(member) == 2 and member[0] == "properties"}
    if "properties" in keywords:
        names = {*_names(sides.old), *_names(sides.new)}
        if not names:
            yield schema.KEYWORD, (*sides.steps, "properties")
    yield from _properties(sides, sorted(names))
    if "required" in keywords:
        yield _required_rule(sides), (*sides.steps, "required")
    for member in changed:
        if len(member) == 2 and member[0] != "properties":
            yield keyword_rule(member[0], ABSENT, ABSENT), (*sides.steps, *member)


def _names(one: JsonObject) -> list[str]:
    held = one.get("properties")
    return list(held) if isinstance(held, dict) else []


def _shape_rule(sides: _Sides, shape: list[str]) -> Rule:
    old, new = sides.old, sides.new
    for keyword in ("$ref", "$dynamicRef"):
        if is_remote(new.get(keyword)) and new.get(keyword) != old.get(keyword):
            return schema.REF_REMOTE
    if all(is_reordered(old.get(keyword), new.get(keyword)) for keyword in shape):
        return schema.ORDER
    if same(old, sides.old_root, new, sides.new_root):
        return schema.SAME_RESOLVED
    before, after = accepted(old, sides.old_root), accepted(new, sides.new_root)
    if before != after:
        if before < after:
            return schema.TYPE_WIDENED
        return schema.TYPE_NARROWED if after < before else schema.TYPE_CHANGED
    return schema.REF_CHANGED if "$ref" in shape else schema.COMPOSITION


def _properties(sides: _Sides, names: Iterable[str]) -> Iterator[Told]:
    before, after = sides.old.get("properties"), sides.new.get("properties")
    old, new = (side if isinstance(side, dict) else {} for side in (before, after))
    gone = {_fingerprint(old[name]) for name in names if name in old and name not in new}
    for name in names:
        steps = (*sides.steps, "properties", name)
        if name in new and name in old:
            yield schema.SCHEMA_REPLACED, steps
        elif name not in new:
            yield schema.PROPERTY_REMOVED, steps
        elif _fingerprint(new[name]) in gone:
            yield schema.PROPERTY_RENAMED, steps
        else:
            required = sides.new.get("required")
            is_required = isinstance(required, list) and name in required
            yield schema.PROPERTY_REQUIRED if is_required else schema.PROPERTY_OPTIONAL, steps


def _fingerprint(value: JsonValue) -> str | None:
    """What a property that was renamed keeps."""
    kept = {key: item for key, item in value.items() if key != "title"} if isinstance(value, dict) else value
    return written(kept)


def _required_rule(sides: _Sides) -> Rule:
    old, new = sides.old.get("required", []), sides.new.get("required", [])
    if is_reordered(old, new):
        return schema.ORDER
    before, after = (
        {one for one in side if isinstance(one, str)} if isinstance(side, list) else set()
        for side in (old, new)
    )
    known = set(_names(sides.old)) & set(_names(sides.new))
    if (before - after) & known:
        return schema.REQUIRED_DROPPED
    return schema.REQUIRED_ADDED if (after - before) & known else schema.REQUIRED_FOLLOWS


def intrinsic(value: JsonValue, steps: Steps = ()) -> Iterator[Told]:
    """What a value that came brings with it, anywhere in it: references to elsewhere, copies into headers."""
    if isinstance(value, dict):
        if is_remote(value.get("$ref")):
            yield schema.REF_REMOTE, (*steps, "$ref")
        if "x-mcp-header" in value:
            yield schema.HEADER, (*steps, "x-mcp-header")
        for key, item in value.items():
            yield from intrinsic(item, (*steps, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from intrinsic(item, (*steps, str(place)))
