# SPDX-License-Identifier: Apache-2.0
"""Which keyword of which schema a place belongs to (JSON Schema 2020-12; draft-07 for what was renamed)."""

from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.review.pointer import Steps, at

MAPS: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
SINGLE: Final = frozenset(
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


class Site(NamedTuple):
    """A member of a schema that changed.

    Attributes:
        schema: the way to the schema.
        member: the keyword; keyword and name for an entry of a map; empty for the schema as a whole.
    """

    schema: Steps
    member: Steps


def site(old: JsonValue, new: JsonValue, place: Steps) -> Site:
    """The innermost member that holds `place` and whose schema stands on both sides.

    Args:
        old: the whole schema of before.
        new: the whole schema of now.
        place: steps within it.
    """
    start = 0
    while True:
        schema, rest = place[:start], place[start:]
        if not rest or not _are(dict, old, new, schema):
            return Site(schema, rest[:1])
        within = _within(old, new, schema, rest)
        if not within:
            entry = rest[0] in MAPS and len(rest) > 1 and _are(dict, old, new, (*schema, rest[0]))
            return Site(schema, rest[: 2 if entry else 1])
        start += within


def _within(old: JsonValue, new: JsonValue, schema: Steps, rest: Steps) -> int:
    """How many steps lead into a schema that both sides have, and that holds the place; 0 for none."""
    keyword = rest[0]
    if keyword in MAPS:
        return 2 if len(rest) > 2 and _are(dict, old, new, (*schema, *rest[:2])) else 0
    if keyword in SINGLE and len(rest) > 1 and _are(dict, old, new, (*schema, keyword)):
        return 1
    if keyword in LISTS and len(rest) > 2:
        # Two arrays of different length are not compared item by item: which belongs to which is a guess.
        before, after = at(old, (*schema, keyword)), at(new, (*schema, keyword))
        alike = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
        return 2 if alike and _are(dict, old, new, (*schema, *rest[:2])) else 0
    return 0


def _are(kind: type, old: JsonValue, new: JsonValue, steps: Steps) -> bool:
    return isinstance(at(old, steps), kind) and isinstance(at(new, steps), kind)
