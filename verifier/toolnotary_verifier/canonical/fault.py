# SPDX-License-Identifier: Apache-2.0
"""Where a value leaves `jcs-exact/1`: the slow search for the place, after a writer has failed."""

from collections.abc import Iterator

from toolnotary_verifier.canonical.flaw import CanonicalError, Flaw, JsonValue
from toolnotary_verifier.canonical.number import exact_real, integer_text, real_text
from toolnotary_verifier.escape import escape

NO_STACK = "nested too deeply for the stack that is left"
# Characters of one member name that an error message repeats.
_SHOWN = 60


def first_fault(value: JsonValue, *, max_depth: int) -> CanonicalError:
    """The first fault of a value, members in the order received.

    Both implementations report through this, so that they agree on code and place.

    Raises:
        TypeError: the value is no JSON value at all, which bytes cannot bring about.
    """
    path: list[str] = []
    levels: list[Iterator[tuple[str, JsonValue]]] = [iter((("", value),))]
    while levels:
        entry = next(levels[-1], None)
        if entry is None:
            levels.pop()
            if path:
                path.pop()
            continue
        token, member = entry
        path.append(token)
        if (found := _fault_of(token, member)) is not None:
            return CanonicalError(found.code, found.message, where=_pointer(path))
        if isinstance(member, dict | list | tuple):
            if len(levels) > max_depth:
                return CanonicalError("too-deep", too_deep(max_depth), where=_pointer(path))
            levels.append(_members(member))
        else:
            path.pop()
    # The writer ran out of stack where this search, which needs none, found nothing wrong.
    return CanonicalError("too-deep", NO_STACK)


def _members(container: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(container, dict):
        return iter(container.items())
    return ((str(index), item) for index, item in enumerate(container))


def _fault_of(token: str, value: JsonValue) -> CanonicalError | Flaw | None:
    if isinstance(value, Flaw):
        return value
    if not is_unicode(token) or (isinstance(value, str) and not is_unicode(value)):
        return CanonicalError("lone-surrogate", "a string holds half of a surrogate pair")
    try:
        if isinstance(value, float):
            real_text(value)
        elif isinstance(value, int):
            integer_text(value)
        elif is_literal(value):
            exact_real(str(value))
        elif not (value is None or isinstance(value, str | dict | list | tuple)):
            raise TypeError(f"{type(value).__name__} is no JSON value")
    except CanonicalError as error:
        return error
    return None


def too_deep(max_depth: int) -> str:
    """What is wrong with text or a value that nests deeper than allowed."""
    return f"more than {max_depth} arrays and objects inside each other"


def is_unicode(text: str) -> bool:
    """Whether a string holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_literal(value: JsonValue) -> bool:
    """Whether this is the accelerated parser's number, which keeps the literal as its `str`."""
    kind = type(value)
    return kind.__name__ == "LosslessFloat" and kind.__module__ == "jiter"


def _pointer(path: list[str]) -> str:
    """The path as a JSON pointer: `~` and `/` as RFC 6901 section 3 spells them, then escaped for showing."""
    tokens = (escape(token.replace("~", "~0").replace("/", "~1"), limit=_SHOWN) for token in path[1:])
    return "".join(f"/{token}" for token in tokens)
