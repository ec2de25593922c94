# SPDX-License-Identifier: Apache-2.0
"""The doors of this room, and which of its two implementations stands behind them."""

from collections.abc import Callable
from typing import Literal

from toolnotary_verifier.canonical import decode as reference_parser
from toolnotary_verifier.canonical import encode as reference_writer
from toolnotary_verifier.canonical.flaw import JsonValue
from toolnotary_verifier.limits import DEFAULT_LIMITS

# Importing the compiled parser and writer costs about as much time as they save on this many bytes.
_WORTH_IMPORTING = 200_000


class _Chosen:
    """The implementation in use, for the whole process."""

    decode: Callable[..., JsonValue] = staticmethod(reference_parser.decode)
    encode: Callable[..., bytes] = staticmethod(reference_writer.encode)
    settled = False


def prefer(implementation: Literal["auto", "accelerated", "reference"]) -> bool:
    """Choose the implementation for this process. Results are equal; the time they take is not.

    Args:
        implementation: `auto`, the default, imports the accelerated one for the first input that is large
        enough
            to pay for the import; `accelerated` does so now, for a process that will read many messages;
            `reference` never does.

    Returns:
        Whether the accelerated implementation is in use now; never where extra `fast` is not installed.
    """
    decode, encode = reference_parser.decode, reference_writer.encode
    if implementation == "accelerated":
        try:
            from toolnotary_verifier.canonical import accelerated
        except ImportError:
            pass
        else:
            decode, encode = accelerated.decode, accelerated.encode
    _Chosen.decode, _Chosen.encode = staticmethod(decode), staticmethod(encode)
    _Chosen.settled = implementation != "auto"
    return decode is not reference_parser.decode


def parse_message(raw: bytes, *, max_bytes: int = DEFAULT_LIMITS.frame_bytes) -> JsonValue:
    """The value of a message, with a `Flaw` for each part that is not strict JSON.

    A `Flaw` is no dict, list, str or number. It can stand anywhere, for the whole message too: a reader who
    asks for the type that it needs, and refuses all others, fails closed.

    Args:
        raw: the bytes of one message, exactly as received.
        max_bytes: the longest message that is looked at.

    Raises:
        CanonicalError: `too-large`, `too-deep`, `not-utf8` or `not-json`, if there is no value at all.
    """
    if not _Chosen.settled and len(raw) >= _WORTH_IMPORTING:
        prefer("accelerated")
    return _Chosen.decode(raw, max_bytes=max_bytes)


def parse(
    raw: bytes,
    *,
    max_bytes: int = DEFAULT_LIMITS.manifest_bytes,
    max_depth: int = DEFAULT_LIMITS.message_depth,
) -> JsonValue:
    """The value of a document that is strict throughout: it holds no `Flaw` and has a canonical form.

    Args:
        raw: the bytes of the document.
        max_bytes: the longest document that is looked at.
        max_depth: arrays and objects that may be open at once.

    Raises:
        CanonicalError: whatever is not strict, with its code and place.
    """
    value = parse_message(raw, max_bytes=max_bytes)
    canonical_bytes(value, max_depth=max_depth, parsed=True)
    return value


def canonical_bytes(
    value: JsonValue, *, max_depth: int = DEFAULT_LIMITS.definition_depth, parsed: bool = False
) -> bytes:
    """The canonical form of a value.

    Args:
        value: a tree from `parse` or `parse_message`, or one built by hand of Python's own types.
        max_depth: arrays and objects that may be open at once.
        parsed: promises that the value is a part of what `parse` or `parse_message` gave, or a few levels
            around such parts, so that the accelerated writer may be used. A Python `float` in it would be
            written in that writer's own way, which is the canonical form of nothing: its digest would match
            no other.

    Raises:
        CanonicalError: the code of a `Flaw`, `lone-surrogate`, `number-range` or `too-deep`.
    """
    return _Chosen.encode(value, max_depth) if parsed else reference_writer.encode(value, max_depth)
