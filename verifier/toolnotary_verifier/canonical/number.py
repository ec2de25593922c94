# SPDX-License-Identifier: Apache-2.0
"""Numbers of `jcs-exact/1`: integers keep every digit, all others are doubles (docs/spec/canonical-form.md).

RFC 8785 sees doubles only, so that 2^53 and 2^53 + 1 share one text. Here an integer literal is written with
its own digits, and a double of 2^53 or more in exponent form: the two never share a text.
"""

from math import inf

from toolnotary_verifier.canonical.flaw import CanonicalError, Flaw

# 2^1024 has 309 decimal digits: a longer literal is out of range before it is converted, so that neither
# Python's limit on the digits of an integer nor the cost of converting millions of them matters.
MAX_INTEGER_DIGITS = 309
_INTEGER_BITS = 1024
_EXACT = float(1 << 53)

_TOO_LARGE = Flaw("number-range", "an integer is 2^1024 or more in magnitude")
_OVERFLOW = Flaw("number-range", "a number is too large for a double")
_UNDERFLOW = Flaw("number-range", "a number that is not zero is too small for a double")


class Real(float):
    """A literal with a fraction or an exponent.

    A type of its own, because the accelerated writer would write a plain `float` in its own way (`1.0`).
    """

    __slots__ = ()


def integer(literal: str) -> int | Flaw:
    """The value of an integer literal."""
    if len(literal) < MAX_INTEGER_DIGITS:
        return int(literal)
    if len(literal) > MAX_INTEGER_DIGITS + 1:  # one more for the sign
        return _TOO_LARGE
    value = int(literal)
    return value if value.bit_length() <= _INTEGER_BITS else _TOO_LARGE


def real(literal: str) -> Real | Flaw:
    """The double nearest to a literal with a fraction or an exponent."""
    value = Real(literal)
    if value and -inf < value < inf:
        return value
    if value:
        return _OVERFLOW
    return _UNDERFLOW if _has_digit(literal) else value


def _has_digit(literal: str) -> bool:
    """Whether the literal, read without its exponent, is something else than zero."""
    return bool(literal.lower().partition("e")[0].strip("-0."))


def exact_real(literal: str) -> Real:
    """The double nearest to a literal.

    Raises:
        CanonicalError: `number-range`.
    """
    value = real(literal)
    if isinstance(value, Flaw):
        raise CanonicalError(value.code, value.message)
    return value


def integer_text(value: int) -> str:
    """All digits of an integer.

    Raises:
        CanonicalError: `number-range`, from 2^1024 on.
    """
    if value.bit_length() > _INTEGER_BITS:
        raise CanonicalError(_TOO_LARGE.code, _TOO_LARGE.message)
    return int.__repr__(value)


def real_text(value: float) -> str:
    """The shortest decimal that reads back as this double, laid out as in RFC 8785 section 3.2.2.3.

    Python and ECMAScript agree on the digits; the layout differs in `1.0`, in exponents of one digit, between
    1e-6 and 1e-4, and by our own rule from 2^53 on.

    Raises:
        CanonicalError: `number-range`, for what is not finite.
    """
    text = float.__repr__(value)
    if text[-2:] == ".0":
        if value == 0:
            return "0"
        return text[:-2] if -_EXACT < value < _EXACT else _with_exponent(text[:-2])
    if "e" not in text:
        if "n" in text:  # inf and nan
            raise CanonicalError("number-range", "a number is not finite")
        return text
    if text[-3:-1] != "-0":  # Python writes e-05 to e-09; from 1e16 on and below 1e-9 both are the same
        return text
    if text[-1] in "789":  # 1e-07 as 1e-7
        return text[:-2] + text[-1]
    return _without_exponent(text[:-4], int(text[-1]))


def _with_exponent(digits: str) -> str:
    """`9007199254740992` as `9.007199254740992e+15`."""
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
    fraction = digits[1:].rstrip("0")
    return f"{sign}{digits[0]}{'.' if fraction else ''}{fraction}e+{len(digits) - 1}"


def _without_exponent(mantissa: str, exponent: int) -> str:
    """`1.5e-05` as `0.000015`."""
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    return f"{sign}0.{'0' * (exponent - 1)}{mantissa.replace('.', '')}"
