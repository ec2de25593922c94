# SPDX-License-Identifier: Apache-2.0
"""The same form at the speed of compiled code, with extra `fast`: jiter parses, orjson writes.

Neither is trusted with a decision. jiter is strict, finds repeated keys and keeps the literals of fractions;
what it refuses, the reference judges. orjson writes what is left as RFC 8785 would, but for numbers, which
are put in as finished text, and for keys beyond U+FFFF; where one of those could matter the reference writes.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import jiter
import orjson

from toolnotary_verifier.canonical import decode as reference_parser
from toolnotary_verifier.canonical import encode as reference_writer
from toolnotary_verifier.canonical.flaw import JsonValue
from toolnotary_verifier.canonical.nesting import USUAL_DEPTH, Deepest, is_deeper, opening_brackets
from toolnotary_verifier.canonical.number import MAX_INTEGER_DIGITS, Real, exact_real, real_text
from toolnotary_verifier.canonical.order import has_astral_key
from toolnotary_verifier.limits import DEFAULT_LIMITS

_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER  # an integer beyond 2^53 - 1 goes to the reference
# How often the bytes are sampled for a row of digits as long as 2^1024 has: such a row is met three times.
_STRIDE = MAX_INTEGER_DIGITS // 3
_AS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_MET = re.compile(rb"0{3,}")
_ROW = re.compile(rb"[0-9]+")
# Text this short is looked at for its number of brackets before any other bound on its depth.
_SMALL = 4096
# A parsed text is written again in less time than repeated keys are searched for, if so many items of a list
# at a time that they stay in the processor's cache, and take no memory worth counting.
_AT_ONCE = 16
# Fractions cost more than that in a text too large for the cache. They and blanks are looked for at its head.
_FITS_CACHE = 128 << 10
_FRACTION = re.compile(rb"[:,\[]-?[0-9]+[.eE]")
# How deep the list stands whose items are written in turn: tools stand in `result`.
_OPENED = 2
# Bounds and steps of schemas are the same few fractions again and again: short literals are remembered.
_SHORT_LITERAL = 32


def _from_json(raw: bytes, *, search_keys: bool = True) -> JsonValue:
    return jiter.from_json(
        raw,
        catch_duplicate_keys=search_keys,
        float_mode="lossless-float",
        allow_inf_nan=False,
        cache_mode="keys",
    )


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


_SPARE = _parser_depth() - USUAL_DEPTH
_OPEN, _CLOSE = b"[" * _SPARE, b"]" * _SPARE


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
    if len(raw) <= max_bytes and max_depth >= USUAL_DEPTH and not _may_hold_huge_integer(raw):
        try:
            return _usual(raw)
        except ValueError:
            pass
    return reference_parser.decode(raw, max_bytes=max_bytes, max_depth=max_depth)


def _usual(raw: bytes) -> JsonValue:
    """The value, if it nests no deeper than messages do.

    jiter's own limit bounds the depth for free: the text is parsed inside as many arrays as it allows more.

    Raises:
        ValueError: the reference must judge.
    """
    around = b"" if len(raw) <= _SMALL and opening_brackets(raw) <= USUAL_DEPTH else _OPEN
    text = b"".join((around, raw, _CLOSE[: len(around)]))
    if _is_worth_rewriting(raw):
        value = _inside(around, _from_json(text, search_keys=False))
        if _is_rewritten(value, raw):
            return value
    return _inside(around, _from_json(text))


def _inside(around: bytes, value: JsonValue) -> JsonValue:
    for _ in around:
        # Text such as `1], [2` is valid in there. It must close an array and open it again behind a comma,
        # and so leaves an array that has not exactly one item, which is a ValueError here.
        [value] = value
    return value


def _is_worth_rewriting(raw: bytes) -> bool:
    if raw.find(b'": ', 0, _SMALL) >= 0:
        return False
    return len(raw) <= _FITS_CACHE or not _FRACTION.search(raw, 0, _SMALL)


def _is_rewritten(value: JsonValue, raw: bytes) -> bool:
    """Whether orjson writes the value as it was received: then it repeats no key, as orjson never does."""
    end = 0
    try:
        for written in _pieces(value) if len(raw) > _SMALL else (orjson.dumps(value, _as_received),):
            if not raw.startswith(written, end):
                return False
            end += len(written)
    except orjson.JSONEncodeError:  # such as an integer beyond 64 bits
        return False
    return not raw[end:].strip(b" \t\r\n")


def _pieces(value: JsonValue, opened: int = _OPENED) -> Iterator[bytes]:
    """The value as orjson writes it, in parts: members of objects, and some items of a list at a time."""
    if type(value) is dict and value and opened:
        mark = b"{"
        for key, member in value.items():
            yield b"%b%b:" % (mark, orjson.dumps(key))
            yield from _pieces(member, opened - 1)
            mark = b","
        yield b"}"
    elif type(value) is list and len(value) > _AT_ONCE:
        mark = b"["
        for start in range(0, len(value), _AT_ONCE):
            yield mark + orjson.dumps(value[start : start + _AT_ONCE], _as_received)[1:-1]
            mark = b","
        yield b"]"
    else:
        yield orjson.dumps(value, _as_received)


def _may_hold_huge_integer(raw: bytes) -> bool:
    """Whether as many digits stand in a row as 2^1024 has."""
    sample = raw[::_STRIDE].translate(_AS_ZERO)
    if b"000" not in sample:  # a tenth of the time of the expression
        return False
    for met in _MET.finditer(sample):
        near = raw[max(0, met.start() - 1) * _STRIDE : (met.end() + 1) * _STRIDE]
        if max(map(len, _ROW.findall(near))) >= MAX_INTEGER_DIGITS:
            return True
    return False


def encode(value: JsonValue, max_depth: int = DEFAULT_LIMITS.definition_depth) -> bytes:
    """As `encode` of the reference, for values from either parser: they hold no `float` of Python's own.

    Raises:
        CanonicalError: as the reference does, and by the reference.
    """
    try:
        canonical = orjson.dumps(value, _number, _SORTED)
    except orjson.JSONEncodeError:
        return reference_writer.encode(value, max_depth)
    if max_depth < Deepest.met and is_deeper(canonical, max_depth):
        return reference_writer.encode(value, max_depth)
    if not canonical.isascii() and has_astral_key(canonical):
        return reference_writer.encode(value, max_depth)
    return canonical


def _as_received(value: JsonValue) -> orjson.Fragment:
    if type(value) is jiter.LosslessFloat:
        literal = str(value)
        return _received(literal) if len(literal) <= _SHORT_LITERAL else orjson.Fragment(literal)
    raise TypeError("not from the parser")


def _number(value: JsonValue) -> orjson.Fragment:
    if type(value) is jiter.LosslessFloat:
        literal = str(value)
        return _known(literal) if len(literal) <= _SHORT_LITERAL else _fragment(literal)
    if type(value) is Real:
        return orjson.Fragment(real_text(value))
    raise TypeError("the reference must judge")


def _fragment(literal: str) -> orjson.Fragment:
    return orjson.Fragment(real_text(exact_real(literal)))


_known = lru_cache(maxsize=1024)(_fragment)
_received = lru_cache(maxsize=1024)(orjson.Fragment)
