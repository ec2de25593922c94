# SPDX-License-Identifier: Apache-2.0
"""A parsed value handed on: as JSON text in the order received, or as a tree of Python's own types."""

import json

from toolnotary_verifier.canonical.fault import first_fault, is_literal, is_unicode
from toolnotary_verifier.canonical.flaw import CanonicalError, Flaw, JsonValue
from toolnotary_verifier.canonical.number import exact_real
from toolnotary_verifier.limits import DEFAULT_LIMITS

_DEPTH = DEFAULT_LIMITS.message_depth


def serialize(value: JsonValue) -> bytes:
    """Compact JSON in pure ASCII, members in the order received, every number with its exact value.

    For forwarding what was verified: whoever reads it finds one value, no matter how lenient a parser it
    uses.

    Raises:
        CanonicalError: the value holds a `Flaw`, a lone surrogate, or a number out of range.
    """
    if type(value) is int:  # mostly an id
        return b"%d" % value
    try:
        text = _dumps(value, ascii_only=False)
        if text.isascii():
            return text.encode("ascii")
        if is_unicode(text):
            return _dumps(value, ascii_only=True).encode("ascii")
    except (CanonicalError, ValueError, RecursionError):  # ValueError: not finite, or cyclic
        pass
    raise first_fault(value, max_depth=_DEPTH)


def _dumps(value: JsonValue, *, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"), default=_number)


def _number(value: JsonValue) -> float:
    if is_literal(value):
        return exact_real(str(value))
    if isinstance(value, Flaw):
        raise CanonicalError(value.code, value.message)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def plain(value: JsonValue) -> JsonValue:
    """The same tree of `None`, `bool`, `int`, `float`, `str`, `list` and `dict` alone.

    Raises:
        CanonicalError: the value holds a `Flaw` or a number out of range.
    """
    try:
        return _plain(value)
    except (CanonicalError, RecursionError):
        raise first_fault(value, max_depth=_DEPTH) from None


def _plain(value: JsonValue) -> JsonValue:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, int):
        return int(value)
    return float(value if isinstance(value, float) else _number(value))
