# SPDX-License-Identifier: Apache-2.0
"""A parsed value to its canonical bytes: the reference writer (docs/spec/canonical-form.md 2)."""

from collections.abc import Callable, Iterable
from json.encoder import encode_basestring as quoted
from typing import Any, Final

from toolnotary_verifier.canonical.fault import first_fault, is_literal
from toolnotary_verifier.canonical.flaw import CanonicalError, JsonObject, JsonValue
from toolnotary_verifier.canonical.number import Real, exact_real, integer_text, real_text
from toolnotary_verifier.canonical.order import by_code_units, has_astral_key
from toolnotary_verifier.limits import DEFAULT_LIMITS

_Out = Callable[[str], None]
_Order = Callable[[Iterable[str]], list[str]]


class _UnwritableError(Exception):
    """The value has a fault; where, `first_fault` finds out."""


def encode(value: JsonValue, max_depth: int = DEFAULT_LIMITS.definition_depth) -> bytes:
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
    _write("", value, max_depth, parts.append, order)
    return "".join(parts).encode("utf-8")


def _write(lead: str, value: JsonValue, room: int, out: _Out, order: _Order) -> None:
    """Write one value behind `lead`; `room` is how many more arrays and objects may be open at once."""
    kind = type(value)
    if kind is dict:
        _write_object(lead, value, room - 1, out, order)
    elif kind is list:
        _write_array(lead, value, room - 1, out, order)
    else:
        out(lead + _scalar(value, room, order))


# Both write each kind of member themselves: one more call for each of them would cost a quarter of the time.


def _write_object(lead: str, members: JsonObject, room: int, out: _Out, order: _Order) -> None:
    if room < 0:
        raise _UnwritableError
    lead += "{"
    for key in order(members) if len(members) > 1 else members:
        member = members[key]
        kind = type(member)
        if kind is str:
            out(f"{lead}{quoted(key)}:{quoted(member)}")
        elif kind is dict:
            _write_object(f"{lead}{quoted(key)}:", member, room - 1, out, order)
        elif kind is list:
            _write_array(f"{lead}{quoted(key)}:", member, room - 1, out, order)
        else:
            out(f"{lead}{quoted(key)}:{_scalar(member, room, order)}")
        lead = ","
    out("}" if members else lead + "}")


def _write_array(lead: str, items: list[JsonValue], room: int, out: _Out, order: _Order) -> None:
    if room < 0:
        raise _UnwritableError
    write = _WRITERS.get(type(items[0])) if items else None
    if write is not None and len(set(map(type, items))) == 1:  # all of one kind, as in most arrays: in one go
        out(f"{lead}[{','.join(map(write, items))}]")
        return
    lead += "["
    for item in items:
        kind = type(item)
        if kind is dict:
            _write_object(lead, item, room - 1, out, order)
        elif kind is list:
            _write_array(lead, item, room - 1, out, order)
        else:
            out(lead + _scalar(item, room, order))
        lead = ","
    out("]" if items else lead + "]")


_WRITERS: Final[dict[type, Callable[[Any], str]]] = {str: quoted, int: integer_text, Real: real_text}


def _scalar(value: JsonValue, room: int, order: _Order) -> str:
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is int:
        return integer_text(value)
    if kind is Real:
        return real_text(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return _rare(value, room, order)


def _rare(value: JsonValue, room: int, order: _Order) -> str:
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
