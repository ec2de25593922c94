# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists in sentences for people."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from toolnotary_verifier.definition import Kind
    from toolnotary_verifier.overrides import Override
    from toolnotary_verifier.review import Whole
    from toolnotary_verifier.verdict import Aspect

# Names of one list that are shown before the rest is counted, and characters of one name.
_NAMES: Final = 12
_CHARACTERS: Final = 80
# Characters of the name of a definition.
_NAME: Final = 200


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 tool`, `2 tools`; `plural` where an `s` does not make one."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def called(kind: "Kind | Aspect | Whole", name: str) -> str:
    """`tool NAME`, escaped and bounded; `instructions` alone, of which a server has one."""
    return kind.value if name == kind.value else f"{kind.value} {name_text(name)}"


def name_text(name: str) -> str:
    """A definition's name in one line; look-alikes of ASCII letters are spelled out beside it."""
    text = escape(name, limit=_NAME)
    spelled = "".join(escape(c, limit=None) if c < "\x80" else f"\\u{{{ord(c):x}}}" for c in name[:_NAME])
    return text if name.isascii() or spelled == text else f"{text} (spelled {spelled})"


def enumerated(names: Iterable[str]) -> str:
    """Names from anywhere, each once and in order, escaped and bounded: `a, b and 3 more`."""
    found = sorted(set(names))
    told = ", ".join(escape(name, limit=_CHARACTERS) for name in found[:_NAMES])
    rest = len(found) - _NAMES
    return f"{told} and {rest} more" if rest > 0 else told


def override_line(one: "Override") -> str:
    """What passes by break-glass, until when and why, in one line."""
    why = escape(one.reason, limit=300)
    return f"{called(one.kind, one.name)} passes by break-glass until {one.until}, since {one.since}: {why}"


def override_document(one: "Override") -> dict[str, str]:
    """The same for programs."""
    return {
        "kind": one.kind.value,
        "name": one.name,
        "digest": one.digest,
        "since": one.since,
        "until": one.until,
        "reason": one.reason,
    }
