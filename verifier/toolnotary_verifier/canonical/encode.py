# SPDX-License-Identifier: Apache-2.0
"""A parsed value to its canonical bytes: the reference writer (docs/spec/canonical-form.md 3 and 4)."""

from collections.abc import Callable, Iterable
from json.encoder import encode_basestring as quoted

from toolnotary_verifier.canonical.fault import first_fault, is_literal
from toolnotary_verifier.canonical.flaw import CanonicalError, JsonObject, JsonValue
from toolnotary_verifier.canonical.number import exact_real, integer_text, real_text
from toolnotary_verifier.canonical.order import by_code_units, has_astral_key
from toolnotary_verifier.limits import DEFAULT_LIMITS

_Out = Callable[[str], None]
_Order = Callable[[Iterable[str]], list[str]]


class _UnwritableError(Exception):
    """The value has a fault; where, `first_fault` finds out."""


def encode(value: JsonValue, *, max_depth: int = DEFAULT_LIMITS.definition_depth) -> bytes:
    """The canonical bytes of a value from either parser, or built by hand of Python's own types.

    Raises:
        CanonicalError: the code of a `Flaw`, `lone-surrogate`, `number-range` or `too-deep`.
    """
    try:
        canonical = _text(value, max_depth, sorted)
        return _text(value, max_depth, by_code_units) if has_astral_key(canonical) else canonical
    except (_UnwritableError, CanonicalError, UnicodeEncodeError, RecursionError):
        raise first_fault(value, max_depth=max_depth) from None


def _text(value: JsonValue, max_depth: int, order: _Order) -> bytes:
    parts: list[str] = []
    _write(value, max_depth, parts.append, order)
    return "".join(parts).encode("utf-8")


def _write(value: JsonValue, room: int, out: _Out, order: _Order) -> None:
    """Write one value; `room` is how many more arrays and objects may be open at once."""
    kind = type(value)
    if kind is str:
        out(quoted(value))
    elif kind is dict:
        _write_object(value, room - 1, out, order)
    elif kind is list:
        _write_array(value, room - 1, out, order)
    elif value is None:
        out("null")
    elif value is True:
        out("true")
    elif value is False:
        out("false")
    else:
        out(_number_or_subclass(value, room, order))


def _write_object(members: JsonObject, room: int, out: _Out, order: _Order) -> None:
    if room < 0:
        raise _UnwritableError
    before = "{"
    for key in order(members):
        member = members[key]
        kind = type(member)
        if kind is str:  # the usual cases are written here: a call for each would cost a quarter of the time
            out(f"{before}{quoted(key)}:{quoted(member)}")
        elif kind is dict:
            out(f"{before}{quoted(key)}:")
            _write_object(member, room - 1, out, order)
        else:
            out(f"{before}{quoted(key)}:")
            _write(member, room, out, order)
        before = ","
    out("}" if members else "{}")


def _write_array(items: list[JsonValue], room: int, out: _Out, order: _Order) -> None:
    if room < 0:
        raise _UnwritableError
    before = "["
    for item in items:
        out(before)
        _write(item, room, out, order)
        before = ","
    out("]" if items else "[]")


def _number_or_subclass(value: JsonValue, room: int, order: _Order) -> str:
    if isinstance(value, int):
        return integer_text(value)
    if isinstance(value, float):
        return real_text(value)
    if is_literal(value):
        return real_text(exact_real(str(value)))
    if isinstance(value, str):  # such as a member of an enumeration
        return quoted(value)
    if isinstance(value, dict):
        return _text(dict(value), room, order).decode("utf-8")
    if isinstance(value, list | tuple):
        return _text(list(value), room, order).decode("utf-8")
    raise _UnwritableError  # a Flaw, or what is no JSON value
