# SPDX-License-Identifier: Apache-2.0
"""What some reader could take a parsed message for, in any case of its keys and any nesting of batches."""

import json
from collections.abc import Iterator

from toolnotary_verifier.canonical import JsonObject, JsonValue

# Members of a result that a host could take for definitions, folded.
HELD_MEMBERS = frozenset(("tools", "prompts", "resources", "resourcetemplates", "instructions"))
_ENVELOPE = frozenset(("jsonrpc", "id", "method", "params", "result", "error"))
_DOT_ABOVE = "\u0307"  # what is left of a Turkish capital i


def fold(key: str) -> str:
    """The key as the most lenient case-insensitive reader compares it."""
    if key.isascii():
        return key.lower()
    return key.upper().casefold().replace(_DOT_ABOVE, "")


def definition_members(message: JsonObject) -> set[str]:
    """Members of the message's results that hold definitions or instructions, folded; mostly none.

    Counts a message as an answer wherever it has a result, whatever else it has.
    """
    found = set()
    for key, result in message.items():
        if isinstance(result, dict) and fold(key) == "result":
            for member, value in result.items():
                if isinstance(value, list | dict | str) and fold(member) in HELD_MEMBERS:
                    found.add(fold(member))
    return found


def misspells(members: JsonObject, exact: frozenset[str] = _ENVELOPE) -> bool:
    """Whether a key is one of `exact` for a reader that ignores case, but not for one that does not."""
    return not exact.issuperset(members) and any(key not in exact and fold(key) in exact for key in members)


def messages(value: JsonValue) -> Iterator[JsonValue]:
    """The messages in a batch, however deep batches nest; whatever is no array is one message."""
    waiting = [value]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, list):
            waiting[:0] = item
        else:
            yield item


def lenient_ids(frame: bytes, *, requests: bool = False) -> list[JsonValue]:
    """The ids that a lenient reader may find in a frame that is no strict JSON, so that nobody waits.

    Only for answering with an error: nothing else is read from such a frame.

    Args:
        frame: the frame.
        requests: whether ids of requests are wanted, rather than those of answers.
    """
    try:
        value = json.loads(frame.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return []
    parts = [item for item in messages(value) if isinstance(item, dict)]
    found = (part.get("id") for part in parts if requests or "method" not in part)
    return [one for one in found if isinstance(one, str | int | float) and not isinstance(one, bool)]
