# SPDX-License-Identifier: Apache-2.0
"""Objects with exactly the members that a format lists; whatever else they hold is refused with a place."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape


def members(
    value: JsonValue,
    where: str,
    *,
    code: str,
    required: Collection[str] = (),
    optional: Collection[str] | None = (),
) -> JsonObject:
    """`value`, which is an object with all `required` members and otherwise only `optional` ones.

    Args:
        value: a parsed value.
        where: what it is, for messages.
        code: the code of the error.
        required: members that must be there.
        optional: members that may be there; None for any (a format whose readers ignore unknown members).

    Raises:
        InvalidInput: `code`.
    """
    if not isinstance(value, dict):
        raise InvalidInput(code, f"{where} is not an object")
    lacking = [name for name in required if name not in value]
    if lacking:
        raise InvalidInput(code, f"{where} lacks {', '.join(lacking)}")
    if optional is not None:
        unknown = sorted(name for name in value if name not in required and name not in optional)
        if unknown:
            shown = ", ".join(escape(name, limit=80) for name in unknown[:8])
            raise InvalidInput(code, f"{where} has members that the format does not know: {shown}")
    return value


def text(value: JsonValue, where: str, *, code: str, most: int | None = None) -> str:
    """`value`, which is a string of at least one character and at most `most`.

    Raises:
        InvalidInput: `code`.
    """
    if not isinstance(value, str) or not value:
        raise InvalidInput(code, f"{where} is not a string with at least one character")
    if most is not None and len(value) > most:
        raise InvalidInput(code, f"{where} has {len(value)} characters, at most {most} are accepted")
    return value


def array(value: JsonValue, where: str, *, code: str) -> list[JsonValue]:
    """`value`, which is an array.

    Raises:
        InvalidInput: `code`.
    """
    if not isinstance(value, list):
        raise InvalidInput(code, f"{where} is not an array")
    return value


def ascending(items: Sequence[Any], where: str, *, code: str) -> None:
    """Refuse an array that is not in ascending order, each item once: one content has one form.

    Raises:
        InvalidInput: `code`.
    """
    if any(not before < after for before, after in pairwise(items)):
        raise InvalidInput(code, f"{where} are not in ascending order, each once")
