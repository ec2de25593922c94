# SPDX-License-Identifier: Apache-2.0
"""Tools of several pinned servers that stand in each other's way: found, and drawn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from toolnotary_cli.output import Look, shown, styled
from toolnotary_cli.wording import called, counted, enumerated, name_text
from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.pins import Key, Pins
from toolnotary_verifier.review.risk import Risk
from toolnotary_verifier.review.shadowing import Held, Shadow, shadows

if TYPE_CHECKING:
    from toolnotary_verifier.project import Project

# What is told before the rest is counted: shadows, and names in one.
_MOST: Final = 50
_NAMES: Final = 8
_LOOKS: Final[Mapping[Risk, Look]] = {Risk.CRITICAL: "bad", Risk.HIGH: "bad", Risk.MEDIUM: "warn"}


def held_by_pins(pins: Pins) -> Held:
    """What a server is pinned to, accepted or not; texts as far as they are at hand."""
    definitions: list[Definition] = []
    names = {name for kind, name, _ in pins.unaccepted if kind is Kind.TOOL}
    for profile in pins.profiles:
        for (kind, name), found in profile.definitions.items():
            names |= {name} if kind is Kind.TOOL else set()
            definitions += [text for one in found if (text := one.legible()) is not None]
    return Held.of(definitions, names)


def between_servers(project: "Project", seen: Mapping[str, Held]) -> list[Shadow]:
    """What the servers of a lockfile are to each other, and to what is seen of some.

    Of several servers with one launch the first counts: every name of it stands there twice. A server whose
    pins cannot be read is left out; `check` says what is wrong with it.

    Args:
        project: the lockfile, and what of it counts.
        seen: by server, what it shows now, or would be pinned to.
    """
    from toolnotary_cli.looking import entry_launch
    from toolnotary_verifier.pinning import load_pins

    entries = {entry.place[1]: entry for entry in reversed(project.lockfile.entries)}
    counting = {entry.server for entry in entries.values()}
    again = {entry.server for entry in project.lockfile.entries} - counting
    held = {server: [one] for server, one in seen.items() if server not in again}
    if len(counting | held.keys()) < 2:
        return []
    for entry in entries.values():
        try:
            pins = load_pins(project, server=entry.server, launch=entry_launch(project, entry))
            held.setdefault(entry.server, []).append(held_by_pins(pins))
        except ToolnotaryError:
            continue
    return shadows({server: _together(found) for server, found in held.items()})


def about(found: Iterable[Shadow], server: str, keys: AbstractSet[Key] | None = None) -> list[Shadow]:
    """Those that a server has a part in; of that, those that these definitions have a part in."""
    return [one for one in found if one.involves(server, keys)]


def _together(found: Iterable[Held]) -> Held:
    parts = list(found)
    definitions = {(*one.key, one.digest): one for held in parts for one in held.definitions}
    return Held.of(definitions.values(), (name for held in parts for name in held.names))


def document(one: Shadow) -> JsonObject:
    """A shadow for programs."""
    return {
        "rule": one.rule.id,
        "risk": one.rule.risk.value,
        "title": one.rule.title,
        "names": list(one.names),
        "servers": list(one.servers),
        "by": one.by or None,
        "places": [{"kind": kind.value, "name": name} for kind, name in one.places[:_NAMES]],
        "times": len(one.places),
    }


def lines(found: Sequence[Shadow]) -> Iterator[str]:
    """Shadows for people, escaped, the most dangerous first."""
    for one in found[:_MOST]:
        names = ", ".join(name_text(name) for name in one.names[:_NAMES])
        more = f" and {len(one.names) - _NAMES} more" if len(one.names) > _NAMES else ""
        risk = styled(f"{one.rule.risk.value:<8}", _LOOKS.get(one.rule.risk, "dim"))
        yield f"{risk} {names}{more}, of {enumerated(one.servers)}: {one.rule.title}{_by(one)}"
    if len(found) > _MOST:
        yield f"and {len(found) - _MOST} more"


def _by(one: Shadow) -> str:
    if not one.by:
        return ""
    told = ", ".join(called(kind, name) for kind, name in one.places[:_NAMES])
    rest = len(one.places) - _NAMES
    more = f" and {counted(rest, 'more definition')}" if rest > 0 else ""
    return f": {shown(one.by)}, {told}{more}"
