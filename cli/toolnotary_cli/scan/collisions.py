# SPDX-License-Identifier: Apache-2.0
"""Names that one host gets from several servers: the same, the same to the host, or alike to a reader."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from toolnotary_verifier.lookalikes import skeleton
from toolnotary_verifier.surface import host_name

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
