# SPDX-License-Identifier: Apache-2.0
"""Annotations of a tool: which hints now promise more (MCP schema 2025-11-25, `ToolAnnotations`)."""

from typing import Final

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.review.pointer import ABSENT
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import hints
from toolnotary_verifier.review.texts import title_rule

# By hint, the value that promises to be safe; the protocol takes the other one where nothing is said.
_SAFE: Final = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}


def annotation_rule(name: str, old: JsonValue, new: JsonValue) -> Rule:
    """The rule that the change of one annotation falls under."""
    if name == "title":
        return title_rule(old, new)
    if name not in _SAFE:
        return hints.HINT_OTHER
    if new is ABSENT:
        return hints.HINT_STRICTER if old is _SAFE[name] else hints.HINT_WITHDRAWN
    if not isinstance(new, bool):
        return hints.HINT_UNCLEAR
    if new is not _SAFE[name]:
        return hints.HINT_STRICTER
    return hints.HINT_CLAIMED if old is ABSENT else hints.HINT_SAFER
