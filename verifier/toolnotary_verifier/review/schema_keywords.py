# SPDX-License-Identifier: Apache-2.0
"""What the change of one keyword does to what a schema takes, by keyword."""

from collections.abc import Callable
from typing import Final

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.review.pointer import ABSENT, written
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import schema
from toolnotary_verifier.review.texts import text_rule, title_rule

_UPPER: Final = frozenset(
    ("exclusiveMaximum", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum")
)
_LOWER: Final = frozenset(
    ("exclusiveMinimum", "minContains", "minItems", "minLength", "minProperties", "minimum")
)
_SAFE: Final = 2**53 - 1
_LABEL: Final = 3  # words of a title that a generator makes of a name

Keyword = Callable[[JsonValue, JsonValue], Rule]


def keyword_rule(keyword: str, old: JsonValue, new: JsonValue) -> Rule:
    """The rule that the change of a keyword falls under; `ABSENT` stands for none.

    Keywords that only count together (types, references, `required`) are not decided here.
    """
    return _TABLE.get(keyword, _other)(old, new)


def is_reordered(old: JsonValue, new: JsonValue) -> bool:
    """Whether two arrays hold the same items."""
    if not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
        return False
    return sorted(map(str, map(written, old))) == sorted(map(str, map(written, new)))


def _upper(old: JsonValue, new: JsonValue) -> Rule:
    return _bound(old, new, sign=1)


def _lower(old: JsonValue, new: JsonValue) -> Rule:
    return _bound(old, new, sign=-1)


def _bound(old: JsonValue, new: JsonValue, *, sign: int) -> Rule:
    """A bound from above (`sign` 1) or below (-1)."""
    if all(one is ABSENT or one == sign * _SAFE for one in (old, new)):
        return schema.SAFE_INTEGERS
    if not _is_number(new):  # gone; or a boolean, as draft-04 wrote exclusive bounds
        return schema.BOUNDS_NARROWED if new is True else schema.BOUNDS_WIDENED
    is_wider = _is_number(old) and sign * new > sign * old
    return schema.BOUNDS_WIDENED if is_wider else schema.BOUNDS_NARROWED


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _multiple(old: JsonValue, _: JsonValue) -> Rule:
    return schema.BOUNDS_NARROWED if old is ABSENT else schema.BOUNDS_WIDENED


def _unique(_: JsonValue, new: JsonValue) -> Rule:
    return schema.BOUNDS_NARROWED if new is True else schema.BOUNDS_WIDENED


def _values(old: JsonValue, new: JsonValue) -> Rule:
    """Allowed values; `const` allows one."""
    if old is ABSENT or new is ABSENT:
        return schema.ENUM_NARROWED if old is ABSENT else schema.ENUM_WIDENED
    if is_reordered(old, new):
        return schema.ORDER
    before, after = (
        {written(one) for one in side} if isinstance(side, list) else {written(side)} for side in (old, new)
    )
    if before < after:
        return schema.ENUM_WIDENED
    return schema.ENUM_NARROWED if after < before else schema.ENUM_CHANGED


def _pattern(old: JsonValue, _: JsonValue) -> Rule:
    return schema.PATTERN_ADDED if old is ABSENT else schema.PATTERN_CHANGED


def _default(old: JsonValue, _: JsonValue) -> Rule:
    return schema.DEFAULT_ADDED if old is ABSENT else schema.DEFAULT_CHANGED


def _openness(old: JsonValue, new: JsonValue) -> Rule:
    """`additionalProperties` and its like: nothing said is as true."""
    was, becomes = (one is ABSENT or one is True or one == {} for one in (old, new))
    if was and becomes:
        return schema.KEYWORD
    return schema.CLOSED if new is False or (was and old is not False) else schema.OPENED


def _title(old: JsonValue, new: JsonValue) -> Rule:
    is_label = isinstance(new, str) and len(new.split()) <= _LABEL
    return schema.SCHEMA_TITLE if is_label or new is ABSENT else title_rule(old, new)


def _header(_: JsonValue, new: JsonValue) -> Rule:
    return schema.KEYWORD if new is ABSENT else schema.HEADER


def _always(rule: Rule) -> Keyword:
    return lambda _old, _new: rule


_other: Final = _always(schema.KEYWORD)
_composed: Final = _always(schema.COMPOSITION)
_parts: Final = _always(schema.PARTS)

_TABLE: Final[dict[str, Keyword]] = {
    **dict.fromkeys(_UPPER, _upper),
    **dict.fromkeys(_LOWER, _lower),
    "multipleOf": _multiple,
    "uniqueItems": _unique,
    "enum": _values,
    "const": _values,
    **dict.fromkeys(("pattern", "format", "contentEncoding", "contentMediaType"), _pattern),
    "default": _default,
    **dict.fromkeys(("examples", "example"), _always(schema.EXAMPLES)),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "additionalItems"), _openness),
    "unevaluatedItems": _openness,
    **dict.fromkeys(("description", "$comment"), text_rule),
    "title": _title,
    "x-mcp-header": _header,
    **dict.fromkeys(("$defs", "definitions"), _parts),
    **dict.fromkeys(
        (
            "contains",
            "contentSchema",
            "dependencies",
            "dependentRequired",
            "dependentSchemas",
            "discriminator",
            "else",
            "if",
            "items",
            "not",
            "patternProperties",
            "prefixItems",
            "propertyNames",
            "then",
        ),
        _composed,
    ),
}
