# SPDX-License-Identifier: Apache-2.0
"""The readable implementation of `jcs-exact/1` on the standard library."""

import json
import math
from collections.abc import Iterator
from typing import Any

from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.limits import DEFAULT_LIMITS

JsonValue = Any  # None | bool | int | float | str | list | dict | Flaw; recursive aliases cost more than they tell
JsonObject = dict[str, Any]

# 2**1024 has 309 decimal digits: a longer literal is out of the domain before it is converted.
_MAX_INTEGER_DIGITS = 309
_INTEGER_BOUND = 1 << 1024
_EXACT = 1 << 53


class CanonicalError(InvalidInput):
    """Bytes or values outside `jcs-exact/1`; `where` is a JSON pointer (RFC 6901) or a byte offset."""

    def __init__(self, code: str, message: str, *, where: str = "") -> None:
        super().__init__(code, f"{message} at {where}" if where else message)
        self.where = where


class Flaw:
    """Stands in a parsed message for a part that is not strict JSON."""

    __slots__ = ("code", "message")

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message


def _object(pairs: list[tuple[str, Any]]) -> Any:
    value = dict(pairs)
    if len(value) != len(pairs):
        return Flaw("duplicate-key", "an object repeats a key")
    return value


def _integer(literal: str) -> Any:
    if len(literal) > _MAX_INTEGER_DIGITS + 1:
        return Flaw("number-range", "an integer has more than 309 digits")
    value = int(literal)
    if not -_INTEGER_BOUND < value < _INTEGER_BOUND:
        return Flaw("number-range", "an integer reaches 2^1024")
    return value


def _float(literal: str) -> Any:
    value = float(literal)
    if math.isinf(value):
        return Flaw("number-range", "a number overflows binary64")
    if value == 0 and any(digit in "123456789" for digit in literal.lower().split("e", 1)[0]):
        return Flaw("number-range", "a number that is not zero underflows to zero")
    return value


def _constant(literal: str) -> Any:
    return Flaw("not-json", f"{literal} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def parse_message(raw: bytes, *, max_bytes: int = DEFAULT_LIMITS.frame_bytes) -> JsonValue:
    """The value of a message, flaws in place.

    Raises:
        CanonicalError: `too-large`, `not-utf8`, `not-json` or `too-deep`, if there is no value at all.
    """
    if len(raw) > max_bytes:
        raise CanonicalError("too-large", f"got {len(raw)} bytes, at most {max_bytes} are read")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise CanonicalError("not-utf8", "a byte order mark is not allowed", where="byte 0")
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise CanonicalError("not-utf8", "bytes are not UTF-8", where=f"byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise CanonicalError("not-json", error.msg.lower(), where=f"character {error.pos}") from None
    except RecursionError:
        raise CanonicalError("too-deep", "nested too deeply") from None


def parse(
    raw: bytes, *, max_bytes: int = DEFAULT_LIMITS.manifest_bytes, max_depth: int = DEFAULT_LIMITS.definition_depth
) -> JsonValue:
    """The value of a document that is strict throughout.

    Raises:
        CanonicalError: whatever is not strict, with its code and place.
    """
    value = parse_message(raw, max_bytes=max_bytes)
    canonical_bytes(value, max_depth=max_depth)
    return value


def canonical_bytes(value: JsonValue, *, max_depth: int = DEFAULT_LIMITS.definition_depth) -> bytes:
    """The canonical form of a parsed value.

    Raises:
        CanonicalError: `duplicate-key`, `lone-surrogate`, `number-range`, `too-deep`.
    """
    return "".join(_write(value, "", max_depth)).encode("utf-8")


def _write(value: JsonValue, where: str, depth: int) -> Iterator[str]:
    if isinstance(value, Flaw):
        raise CanonicalError(value.code, value.message, where=where)
    if depth < 0:
        raise CanonicalError("too-deep", "nested too deeply", where=where)
    if isinstance(value, str):
        yield _string(value, where)
    elif isinstance(value, dict):
        yield "{"
        for index, key in enumerate(sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))):
            yield ("," if index else "") + _string(key, where) + ":"
            yield from _write(value[key], f"{where}/{key}", depth - 1)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for index, item in enumerate(value):
            if index:
                yield ","
            yield from _write(item, f"{where}/{index}", depth - 1)
        yield "]"
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int):
        yield str(value)
    else:
        yield number_text(value)


def _string(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise CanonicalError("lone-surrogate", "a string holds a lone surrogate", where=where) from None
    return json.dumps(value, ensure_ascii=False)


def number_text(value: float) -> str:
    """The text of a finite double: RFC 8785 section 3.2.2.3, in exponent form from 2^53 on."""
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if abs(value) >= _EXACT or not -6 < point <= 21:
        power = point - 1
        tail = "." + digits[1:] if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'+' if power > 0 else '-'}{abs(power)}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"


def plain(value: JsonValue) -> JsonValue:
    """The same tree with Python's own int and float at its leaves."""
    return value


def serialize(value: JsonValue) -> bytes:
    """Compact JSON in pure ASCII, keys in the order received: for forwarding what was verified.

    Raises:
        CanonicalError: if the value holds a `Flaw`.
    """

    def refuse(flaw: Flaw) -> Any:
        raise CanonicalError(flaw.code, flaw.message)

    return json.dumps(value, separators=(",", ":"), default=refuse).encode("ascii")
