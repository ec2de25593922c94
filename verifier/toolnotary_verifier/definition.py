# SPDX-License-Identifier: Apache-2.0
"""One tool, prompt, resource, template or instructions text, exactly as the server sent it."""

from enum import StrEnum
from typing import NamedTuple

from toolnotary_verifier.canonical import CanonicalError, Digest, JsonValue, canonical_bytes
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits


class Kind(StrEnum):
    """What a definition defines; the value is how it is written in lockfiles and results."""

    TOOL = "tool"
    PROMPT = "prompt"
    RESOURCE = "resource"
    TEMPLATE = "resourceTemplate"
    INSTRUCTIONS = "instructions"


# What identifies a definition within its kind (MCP schema: Tool, Prompt, Resource, ResourceTemplate).
NAME_MEMBER = {
    Kind.TOOL: "name",
    Kind.PROMPT: "name",
    Kind.RESOURCE: "uri",
    Kind.TEMPLATE: "uriTemplate",
}
# `instructions` is one text per server and has no name of its own.
INSTRUCTIONS_NAME = "instructions"


class Definition(NamedTuple):
    """A definition and its digests; equality is that of kind, name and canonical bytes.

    Attributes:
        kind: what it defines.
        name: its identity within the kind, as received.
        value: the parsed value (a `str` for instructions), members in the order received.
        canonical: the bytes of its canonical form.
        digest: the digest of those bytes.
    """

    kind: Kind
    name: str
    value: JsonValue
    canonical: bytes
    digest: Digest

    @classmethod
    def of(
        cls, kind: Kind, value: JsonValue, *, limits: Limits = DEFAULT_LIMITS, parsed: bool = False
    ) -> "Definition":
        """The definition that `value` is.

        Args:
            kind: what it defines.
            value: its value.
            limits: bounds on its size and depth.
            parsed: that `value` came from `parse` or `parse_message` (see `canonical_bytes`).

        Raises:
            CanonicalError: the value has no canonical form.
            InvalidInput: `definition-shape` if it is not an object with a name, `too-large`.
        """
        if kind is Kind.INSTRUCTIONS:
            name = INSTRUCTIONS_NAME
            if not isinstance(value, str):
                raise InvalidInput("definition-shape", "instructions are not a string")
        else:
            member = NAME_MEMBER[kind]
            if not isinstance(value, dict) or not isinstance(value.get(member), str):
                raise InvalidInput("definition-shape", f"a {kind} without a {member} that is a string")
            name = value[member]
        canonical = canonical_bytes(value, max_depth=limits.definition_depth, parsed=parsed)
        if len(canonical) > limits.definition_bytes:
            shown = escape(name, limit=80)
            raise CanonicalError(
                "too-large",
                f"{kind} {shown} has {len(canonical)} bytes, at most {limits.definition_bytes} are accepted",
            )
        return cls(kind, name, value, canonical, Digest.of(canonical))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Definition) and self._told() == other._told()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._told())

    def __repr__(self) -> str:
        return f"Definition({self.kind!r}, {self.name!r}, {self.digest!r})"

    def _told(self) -> tuple[Kind, str, bytes, Digest]:
        return (self.kind, self.name, self.canonical, self.digest)

    @property
    def key(self) -> tuple[Kind, str]:
        """What identifies it within one surface."""
        return (self.kind, self.name)
