# SPDX-License-Identifier: Apache-2.0
"""Names that one host gets from several servers: the same, the same to the host, or alike to a reader."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from toolnotary_verifier.escape import is_invisible
from toolnotary_verifier.surface import host_name

# Letters that look like those of ASCII, by what they look like: of Cyrillic, Greek and a few others.
_ALIKE: Final = {
    "a": "\u0430\u0251\u03b1\u0410\u0391",
    "b": "\u0412\u0392\u042c\u044c",
    "c": "\u0441\u0421\u03f2\u217d",
    "d": "\u0501\u217e",
    "e": "\u0435\u0415\u0395\u04bd\u0451",
    "g": "\u0261\u0581",
    "h": "\u04bb\u041d\u0397",
    "i": "\u0456\u0406\u03b9\u0131\u0399\u04cf",
    "j": "\u0458\u0408\u03f3",
    "k": "\u043a\u041a\u039a\u03ba",
    "m": "\u043c\u041c\u039c",
    "n": "\u0578\u039d\u03b7",
    "o": "\u043e\u041e\u03bf\u039f\u0585\u00f8",
    "p": "\u0440\u0420\u03c1\u03a1",
    "q": "\u051b",
    "r": "\u0433",
    "s": "\u0455\u0405",
    "t": "\u0442\u0422\u03a4\u03c4",
    "u": "\u057d\u03c5",
    "v": "\u03bd\u0475",
    "w": "\u051d\u0461",
    "x": "\u0445\u0425\u03a7\u03c7",
    "y": "\u0443\u0423\u03a5\u03b3",
    "z": "\u0396",
    "l": "1|\u04c0\u217c\u01c0",
    "": "_-. ",
}
_SKELETON: Final = {
    **{ord(one): letter for letter, all_of in _ALIKE.items() for one in all_of},
    ord("0"): "o",
    ord("I"): "l",
    ord("i"): "l",
    # Fullwidth forms (U+FF01 to U+FF5E) are those of ASCII, moved.
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
}
MOST_SHOWN: Final = 50


class Collision(NamedTuple):
    """Names that cannot be told apart.

    Attributes:
        kind: `exact`; `host`, where hosts make one name of them; `confusable`, where readers do.
        names: the names, as the servers have them.
        servers: those that have them, by what the host calls them.
    """

    kind: str
    names: tuple[str, ...]
    servers: tuple[str, ...]


def skeleton(name: str) -> str:
    """What a reader may take a name for: look-alikes as one, whatever the case, parted or not."""
    text = "".join(one for one in name if not is_invisible(one)).translate(_SKELETON)
    return text.translate(_SKELETON).lower().translate(_SKELETON).replace("rn", "m")


def collisions(names: Mapping[str, Iterable[str]]) -> list[Collision]:
    """The collisions between servers of one host; those within one server are the verifier's business.

    Args:
        names: by server, the names of its tools.
    """
    holders: dict[str, set[str]] = {}
    for server, held in names.items():
        for name in held:
            holders.setdefault(name, set()).add(server)
    found = [
        Collision("exact", (name,), tuple(sorted(servers)))
        for name, servers in sorted(holders.items())
        if len(servers) > 1
    ]
    told: set[frozenset[str]] = set()
    for kind, fold in (("host", host_name), ("confusable", skeleton)):
        found += _folded(kind, fold, holders, told)
    return found


def _folded(
    kind: str, fold: Callable[[str], str], holders: Mapping[str, set[str]], told: set[frozenset[str]]
) -> list[Collision]:
    """Different names that fold into one and stand on more than one server; each group is told once."""
    groups: dict[str, list[str]] = {}
    for name in sorted(holders):
        groups.setdefault(fold(name), []).append(name)
    found = []
    for members in groups.values():
        servers = set().union(*(holders[name] for name in members))
        if len(members) < 2 or len(servers) < 2 or frozenset(members) in told:
            continue
        told.add(frozenset(members))
        found.append(Collision(kind, tuple(members), tuple(sorted(servers))))
    return found
