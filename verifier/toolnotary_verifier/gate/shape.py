# SPDX-License-Identifier: Apache-2.0
"""What some reader could take a parsed message for, in any case of its keys and any nesting of batches."""

import json
from collections.abc import Iterator

from toolnotary_verifier.canonical import JsonObject, JsonValue

# Members of a result that a host could take for definitions, folded.
HELD_MEMBERS = frozenset(("tools", "prompts", "resources", "resourcetemplates", "instructions"))
_ENVELOPE = frozenset(("jsonrpc", "id", "method", "params", "result", "error"))
_DOT_ABOVE = "\u0307"  # what is left of a Turkish capital i
_AROUND = " \t\r\n\0\ufeff\ufffd"


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
    if exact.issuperset(members):
        return False
    folded = {fold(key) for key in exact}
    return any(key not in exact and fold(key) in folded for key in members)


def messages(value: JsonValue) -> Iterator[JsonValue]:
    """The messages in a batch, however deep batches nest; whatever is no array is one message."""
    entered = [iter((value,))]  # the arrays that are open: moving their items about costs their square
    while entered:
        for item in entered[-1]:
            if isinstance(item, list):
                entered.append(iter(item))
                break
            yield item
        else:
            entered.pop()


def bare_method(method: str) -> str:
    """The letters and digits of a method's name, as the most lenient router compares it.

    Case, blanks, control characters, punctuation and compatible forms of letters do not count, so that names
    of different methods stay different, and all spellings of one become one.
    """
    if not method.isascii():
        import unicodedata

        method = unicodedata.normalize("NFKC", method)
    return "".join(letter for letter in fold(method) if letter.isascii() and letter.isalnum())


def lenient_messages(frame: bytes) -> list[JsonObject]:
    """The messages that a lenient reader may find in a frame that is no strict JSON, so that nobody waits.

    Only for answering with an error: nothing else is read from such a frame. It is decoded as readers do that
    guess: by byte order mark or by the zeros in it.
    """
    try:
        text = frame.decode(json.detect_encoding(frame), "replace")
        # What is left of a line feed of two or four bytes, the first of which ended the frame.
        value = json.loads(text.strip(_AROUND))
    except (ValueError, RecursionError):
        return []
    return [item for item in messages(value) if isinstance(item, dict)]


def lenient_ids(frame: bytes) -> list[JsonValue]:
    """The ids of the answers that a lenient reader may find in a frame that is no strict JSON."""
    found = (part.get("id") for part in lenient_messages(frame) if "method" not in part)
    return [one for one in found if isinstance(one, str | int | float) and not isinstance(one, bool)]
