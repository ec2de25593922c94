# SPDX-License-Identifier: Apache-2.0
"""The same form at the speed of compiled code, with extra `fast`: jiter parses, orjson writes.

Neither is trusted with a decision. jiter is strict, finds repeated keys and keeps the literals of fractions;
what it refuses, the reference judges. orjson writes what is left as RFC 8785 would, but for numbers, which
are put in as finished text, and for keys beyond U+FFFF; where one of those could matter the reference writes.
"""

import re

import jiter
import orjson

from toolnotary_verifier.canonical import decode as reference_parser
from toolnotary_verifier.canonical import encode as reference_writer
from toolnotary_verifier.canonical.flaw import JsonValue
from toolnotary_verifier.canonical.nesting import is_deeper
from toolnotary_verifier.canonical.number import MAX_INTEGER_DIGITS, Real, exact_real, real_text
from toolnotary_verifier.canonical.order import has_astral_key
from toolnotary_verifier.limits import DEFAULT_LIMITS

_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER  # an integer beyond 2^53 - 1 goes to the reference
_DIGIT = re.compile(rb"[0-9]")
_DIGITS = b"0123456789"
_SMALL = 4096


def _parser_depth() -> int:
    """How many arrays jiter opens at once before it gives up.

    Raises:
        ImportError: it has no such limit, so that this implementation cannot bound depth with it.
    """
    for depth in range(DEFAULT_LIMITS.message_depth, 1024):
        try:
            _from_json(b"[" * (depth + 1) + b"]" * (depth + 1))
        except ValueError:
            return depth
    raise ImportError("this release of jiter does not bound the depth of its input")


def _from_json(raw: bytes) -> JsonValue:
    return jiter.from_json(
        raw, catch_duplicate_keys=True, float_mode="lossless-float", allow_inf_nan=False, cache_mode="keys"
    )


_PARSER_DEPTH = _parser_depth()


def decode(
    raw: bytes,
    *,
    max_bytes: int = DEFAULT_LIMITS.frame_bytes,
    max_depth: int = DEFAULT_LIMITS.message_depth,
) -> JsonValue:
    """As `decode` of the reference; numbers with a fraction or an exponent are jiter's, with their literal.

    Raises:
        CanonicalError: as the reference does, and by the reference.
    """
    if len(raw) <= max_bytes and not _may_hold_huge_integer(raw):
        try:
            return _bounded(raw, max_depth)
        except ValueError:
            pass
    return reference_parser.decode(raw, max_bytes=max_bytes, max_depth=max_depth)


def _bounded(raw: bytes, max_depth: int) -> JsonValue:
    """The value, if it nests no deeper than allowed.

    jiter's own limit bounds the depth for nothing: the text is parsed inside as many arrays as it allows
    more.

    Raises:
        ValueError: the reference must judge.
    """
    if len(raw) <= _SMALL and raw.count(b"{") + raw.count(b"[") <= max_depth:
        return _from_json(raw)
    spare = _PARSER_DEPTH - max_depth
    value = _from_json(b"".join((b"[" * spare, raw, b"]" * spare)))
    for _ in range(spare):
        # Text such as `1], [2` is valid in there. It must close an array and open it again behind a comma,
        # and so leaves an array that has not exactly one item.
        if len(value) != 1:
            raise ValueError("not one value")
        value = value[0]
    return value


def _may_hold_huge_integer(raw: bytes) -> bool:
    """Whether as many digits stand in a row as 2^1024 has: such a row covers one of the bytes sampled."""
    for found in _DIGIT.finditer(raw[::MAX_INTEGER_DIGITS]):
        place = found.start() * MAX_INTEGER_DIGITS
        before = raw[max(0, place - MAX_INTEGER_DIGITS) : place]
        behind = raw[place : place + MAX_INTEGER_DIGITS]
        row = len(before) - len(before.rstrip(_DIGITS)) + len(behind) - len(behind.lstrip(_DIGITS))
        if row >= MAX_INTEGER_DIGITS:
            return True
    return False


def encode(value: JsonValue, *, max_depth: int = DEFAULT_LIMITS.definition_depth) -> bytes:
    """As `encode` of the reference, for values from either parser: they hold no `float` of Python's own.

    Raises:
        CanonicalError: as the reference does, and by the reference.
    """
    try:
        canonical = orjson.dumps(value, default=_number, option=_SORTED)
    except orjson.JSONEncodeError:
        return reference_writer.encode(value, max_depth=max_depth)
    if is_deeper(canonical, max_depth) or has_astral_key(canonical):
        return reference_writer.encode(value, max_depth=max_depth)
    return canonical


def _number(value: JsonValue) -> orjson.Fragment:
    if type(value) is jiter.LosslessFloat:
        return orjson.Fragment(real_text(exact_real(str(value))))
    if type(value) is Real:
        return orjson.Fragment(real_text(value))
    raise TypeError("the reference must judge")
