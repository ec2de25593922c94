# SPDX-License-Identifier: Apache-2.0
"""Which types a schema takes, and what it is with every reference in its place; bounded work."""

from collections.abc import Iterable
from typing import Final

from toolnotary_verifier.canonical import JsonValue, canonical_bytes
from toolnotary_verifier.review.pointer import ABSENT, at, steps_of
from toolnotary_verifier.review.schema_sites import LISTS, MAPS, SINGLE

TYPES: Final = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
# Members that say nothing about what is taken, and so may stand beside a reference that is put in its place.
_NOTES: Final = frozenset(
    ("$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly")
)
_PARTS: Final = frozenset(("$defs", "definitions"))
_DEEP: Final = 24
_NODES: Final = 20_000


class _Unresolved(Exception):
    """A reference leads elsewhere, in a circle, or too far."""


def is_remote(reference: JsonValue) -> bool:
    """Whether a reference leads out of the document."""
    return isinstance(reference, str) and not reference.startswith("#")


def accepted(schema: JsonValue, root: JsonValue, depth: int = 0) -> frozenset[str]:
    """The types that a schema takes, as far as its own words say: all where they do not.

    Args:
        schema: any schema.
        root: the document that its references lead into.
        depth: how many schemas stand around it.
    """
    if schema is False:
        return frozenset()
    if not isinstance(schema, dict) or depth > _DEEP:
        return TYPES
    found = _named(schema.get("type", ABSENT))
    if isinstance(schema.get("$ref"), str):
        found &= accepted(_target(root, schema["$ref"]), root, depth + 1)
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if isinstance(values, list):
            found &= _numbers(_type_of(value) for value in values)
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and options:
            found &= frozenset().union(*(accepted(one, root, depth + 1) for one in options[:_DEEP]))
    options = schema.get("allOf")
    for one in options[:_DEEP] if isinstance(options, list) else ():
        found &= accepted(one, root, depth + 1)
    return found | {"null"} if schema.get("nullable") is True else found


def _named(kind: JsonValue) -> frozenset[str]:
    if isinstance(kind, str):
        return _numbers((kind,))
    return _numbers(one for one in kind if isinstance(one, str)) if isinstance(kind, list) else TYPES


def _numbers(kinds: Iterable[str]) -> frozenset[str]:
    """Every integer is a number."""
    found = frozenset(kinds)
    return found | {"integer"} if "number" in found else found


def _type_of(value: JsonValue) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "array" if isinstance(value, list) else "object"


def _target(root: JsonValue, reference: str) -> JsonValue:
    """What a local reference leads to; `ABSENT` where that is nothing here."""
    return at(root, steps_of(reference[1:])) if reference == "#" or reference.startswith("#/") else ABSENT


def same(old: JsonValue, old_root: JsonValue, new: JsonValue, new_root: JsonValue) -> bool:
    """Whether two schemas are equal with every reference in its place; False where that cannot be told."""
    if old is ABSENT or new is ABSENT:
        return False
    try:
        before = _Resolver(old_root).resolved(old, 0)
        return bool(canonical_bytes(before) == canonical_bytes(_Resolver(new_root).resolved(new, 0)))
    except _Unresolved:
        return False


class _Resolver:
    """Puts what a reference leads to in its place, up to a bound."""

    def __init__(self, root: JsonValue) -> None:
        self._root = root
        self._left = _NODES

    def resolved(self, schema: JsonValue, depth: int) -> JsonValue:
        self._left -= 1
        if self._left < 0 or depth > 2 * _DEEP:  # a reference in a circle ends here too
            raise _Unresolved
        if isinstance(schema, list):  # of schemas, or of names in draft-07's `dependencies`
            return [self.resolved(item, depth + 1) for item in schema]
        if not isinstance(schema, dict):
            return schema
        if isinstance(schema.get("$ref"), str):
            beside = {key: item for key, item in schema.items() if key not in _PARTS and key != "$ref"}
            target = _target(self._root, schema["$ref"])
            if not isinstance(target, dict) or not beside.keys() <= _NOTES:
                raise _Unresolved
            return self.resolved({**target, **beside}, depth + 1)
        return {key: self._member(key, item, depth + 1) for key, item in schema.items() if key not in _PARTS}

    def _member(self, keyword: str, value: JsonValue, depth: int) -> JsonValue:
        """The value of a keyword: only where schemas stand is `$ref` a reference."""
        if keyword in MAPS and isinstance(value, dict):
            return {name: self.resolved(item, depth) for name, item in value.items()}
        return self.resolved(value, depth) if keyword in SINGLE or keyword in LISTS else value
