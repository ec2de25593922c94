# SPDX-License-Identifier: Apache-2.0
"""Strict JSON in, canonical bytes out: the form `jcs-exact/1` (docs/spec/canonical-form.md).

Two doors lead in. `parse` takes a whole document that must be strict (a manifest, a statement).
`parse_message` takes a message whose parts are judged one by one: a part that is not strict JSON (a repeated
key, a number outside the domain) stands in the tree as a `Flaw`, so that one bad tool does not hide the
others; whoever canonicalizes that part gets the error.

Numbers in a parsed tree may be of a parser's own type; compare canonical bytes, never parsed numbers, and
read them through `plain`.
"""

from toolnotary_verifier.canonical.digest import Digest
from toolnotary_verifier.canonical.doors import canonical_bytes, parse, parse_message, prefer
from toolnotary_verifier.canonical.flaw import CanonicalError, Flaw, JsonObject, JsonValue
from toolnotary_verifier.canonical.forward import plain, serialize

RECIPE = "jcs-exact/1"

__all__ = [
    "RECIPE",
    "CanonicalError",
    "Digest",
    "Flaw",
    "JsonObject",
    "JsonValue",
    "canonical_bytes",
    "parse",
    "parse_message",
    "plain",
    "prefer",
    "serialize",
]
