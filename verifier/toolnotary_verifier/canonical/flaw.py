# SPDX-License-Identifier: Apache-2.0
"""What is outside `jcs-exact/1`: the error, and what stands in a parsed message for a part that has one."""

from collections.abc import Sequence
from typing import Any

from toolnotary_verifier.errors import InvalidInput

# None | bool | int | float | str | list | dict | Flaw, or a parser's own number: a recursive alias would cost
# every reader more casts than it catches mistakes.
JsonValue = Any
JsonObject = dict[str, Any]


class CanonicalError(InvalidInput):
    """Bytes or a value outside `jcs-exact/1`.

    Attributes:
        where: a JSON pointer (RFC 6901) into what was canonicalized, or `byte N` where there is no value at
        all;
            escaped for showing, each of its parts cut to a length that people can read.
    """

    def __init__(self, code: str, message: str, *, where: str = "") -> None:
        super().__init__(code, f"{message} at {where}" if where else message)
        self.where = where


class Flaw:
    """Stands in a parsed message for a value that is not strict JSON; canonicalizing it raises its error.

    It is no `dict`, `list`, `str` or number, so that every check for the type that a reader expects fails on
    it: a `Flaw` at the top of a message, or for its `result`, leaves a message without a usable answer, and
    whoever reads it must refuse it as they refuse any other wrong type.

    Attributes:
        code: the stable code of the error.
        message: what is wrong, escaped for showing.
    """

    __slots__ = ("_members", "code", "message")

    def __init__(self, code: str, message: str, *, members: Sequence[tuple[str, JsonValue]] = ()) -> None:
        self.code = code
        self.message = message
        self._members = members

    def claims(self, member: str) -> tuple[str, ...]:
        """Every different string that this object gives for one member, in the order received.

        An object that repeats `name` claims each of its names: another parser may take any of them.
        """
        values = (value for key, value in self._members if key == member and isinstance(value, str))
        return tuple(dict.fromkeys(values))

    def __repr__(self) -> str:
        return f"Flaw({self.code!r}, {self.message!r})"
