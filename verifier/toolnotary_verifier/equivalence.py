# SPDX-License-Identifier: Apache-2.0
"""The normal form `equiv/1`: what honest fresh installs of one unchanged server may differ in.

Two rules (docs/spec/equivalence.md; DESIGN: verdicts, equivalences), the same on every interpreter:

- E1: in `description` strings at the tool and at schema positions, U+0020 at the beginning and end of each
  line and empty lines at the end do not count.
- E2: `execution.taskSupport` of `"forbidden"` equals its absence.

Both only touch tools. The gate forwards the pinned definition and never the live one where two are equal in
normal form, so that a rule can carry nothing to a model.
"""

from collections.abc import Callable
from typing import Final

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue, canonical_bytes
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.limits import DEFAULT_LIMITS

RECIPE: Final = "equiv/1"

# Where JSON Schema (2020-12, and draft-07 for what it renamed) has schemas. Everything else is content:
# `default`, `const`, `examples`, `enum` and unknown keywords are never entered.
SCHEMA_MAPS = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
)
SCHEMA_LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
SCHEMAS = frozenset(
    (
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
TOOL_SCHEMAS = ("inputSchema", "outputSchema")


def normal_text(text: str) -> str:
    """`text` under rule E1: lines are neither joined nor split, tabs and all other characters count."""
    return "\n".join(line.strip(" ") for line in text.split("\n")).rstrip("\n")


def normal_digest(definition: Definition) -> Digest:
    """The digest of the normal form; that of the definition itself for everything but tools."""
    if definition.kind is not Kind.TOOL:
        return definition.digest
    normal = canonical_bytes(normal_tool(definition.value), max_depth=DEFAULT_LIMITS.message_depth)
    return definition.digest if normal == definition.canonical else Digest.of(normal)


def normal_tool(tool: JsonObject) -> JsonObject:
    """The tool in normal form; `tool` stays as it is."""
    normal = _described(tool)
    for member in TOOL_SCHEMAS:
        if member in normal:
            normal[member] = _schema(normal[member])
    execution = normal.get("execution")
    if isinstance(execution, dict):
        kept = {
            name: value for name, value in execution.items() if (name, value) != ("taskSupport", "forbidden")
        }
        if kept:
            normal["execution"] = kept
        else:
            del normal["execution"]
    return normal


def _described(value: JsonObject) -> JsonObject:
    copy = dict(value)
    if isinstance(copy.get("description"), str):
        copy["description"] = normal_text(copy["description"])
    return copy


def _schema(schema: JsonValue) -> JsonValue:
    """A schema in normal form; `true`, `false` and whatever is no schema as it is."""
    if not isinstance(schema, dict):
        return schema
    normal = _described(schema)
    for keyword, value in normal.items():
        walk = _walk(keyword)
        if walk is not None:
            normal[keyword] = walk(value)
    return normal


def _walk(keyword: str) -> Callable[[JsonValue], JsonValue] | None:
    if keyword in SCHEMA_MAPS:
        return _schema_map
    if keyword in SCHEMA_LISTS:
        return _schema_or_list
    return _schema_or_list if keyword in SCHEMAS else None


def _schema_map(value: JsonValue) -> JsonValue:
    return {name: _schema(item) for name, item in value.items()} if isinstance(value, dict) else value


def _schema_or_list(value: JsonValue) -> JsonValue:
    return [_schema(item) for item in value] if isinstance(value, list) else _schema(value)
