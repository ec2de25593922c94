# SPDX-License-Identifier: Apache-2.0
"""Bytes to a value with flaws in place: the reference parser, on the standard library's scanner."""

import json

from toolnotary_verifier.canonical.fault import NO_STACK, is_unicode, too_deep
from toolnotary_verifier.canonical.flaw import CanonicalError, Flaw, JsonObject, JsonValue
from toolnotary_verifier.canonical.nesting import USUAL_DEPTH, Deepest, is_deeper, offset_of_depth
from toolnotary_verifier.canonical.number import integer, real
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def decode(
    raw: bytes,
    *,
    max_bytes: int = DEFAULT_LIMITS.frame_bytes,
    max_depth: int = DEFAULT_LIMITS.message_depth,
) -> JsonValue:
    """The value of a message, with a `Flaw` for each part that JSON text can hold and strict JSON cannot.

    Raises:
        CanonicalError: `too-large`, `too-deep`, `not-utf8` or `not-json`, where there is no value at all.
    """
    if len(raw) > max_bytes:
        raise CanonicalError("too-large", f"got {len(raw)} bytes, at most {max_bytes} are read")
    if raw.startswith(_BYTE_ORDER_MARK):
        raise CanonicalError("not-utf8", "a byte order mark is not allowed", where="byte 0")
    if is_deeper(raw, min(USUAL_DEPTH, max_depth)):
        if is_deeper(raw, max_depth):
            where = f"byte {offset_of_depth(raw, max_depth)}"
            raise CanonicalError("too-deep", too_deep(max_depth), where=where)
        Deepest.meet(max_depth)
    try:
        return _value(raw)
    except RecursionError:  # the depth is bounded: it was the caller who left no stack
        raise CanonicalError("too-deep", NO_STACK) from None


def _value(raw: bytes) -> JsonValue:
    try:
        return _scan(raw.decode("utf-8"))
    except UnicodeDecodeError:
        # A byte that is not UTF-8 becomes a lone surrogate, which no valid text can hold: it spoils the
        # string that it stands in, and between strings it is no JSON.
        return _mark(_scan(raw.decode("utf-8", "surrogateescape")))


def _scan(text: str) -> JsonValue:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode("utf-8", "surrogateescape"))
        raise CanonicalError("not-json", error.msg.lower(), where=f"byte {offset}") from None


def _object(members: list[tuple[str, JsonValue]]) -> JsonObject | Flaw:
    value = dict(members)
    if len(value) == len(members):
        return value
    seen: set[str] = set()
    for key, _ in members:
        if key in seen:
            break
        seen.add(key)
    return Flaw("duplicate-key", f"an object repeats the key {escape(key, limit=60)}", members=members)


# What the scanner takes besides JSON; one flaw each, however often they occur.
_CONSTANTS = {name: Flaw("not-json", f"{name} is not JSON") for name in ("NaN", "Infinity", "-Infinity")}
_NOT_UTF8 = Flaw("not-utf8", "a string is not UTF-8")
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=integer, parse_float=real, parse_constant=_CONSTANTS.__getitem__
)


def _mark(value: JsonValue) -> JsonValue:
    """The value with a `Flaw` for each string, and each object with a key, that was not UTF-8."""
    if isinstance(value, str):
        return value if is_unicode(value) else _NOT_UTF8
    if isinstance(value, list):
        return [_mark(item) for item in value]
    if isinstance(value, dict):
        if not all(map(is_unicode, value)):
            return Flaw("not-utf8", "a key is not UTF-8", members=tuple(value.items()))
        return {key: _mark(member) for key, member in value.items()}
    return value
