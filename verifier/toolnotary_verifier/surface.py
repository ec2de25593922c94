# SPDX-License-Identifier: Apache-2.0
"""All that a server says of itself at one moment: definitions, and what could not be taken as one."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import Flaw, JsonObject, JsonValue
from toolnotary_verifier.definition import INSTRUCTIONS_NAME, NAME_MEMBER, Definition, Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits

# Hosts build function names from tool names: every character outside this set becomes "_".
_HOST_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_SHOWN_RIVALS = 3
# What an unasked server said: shared by all surfaces, and never written to.
NOTHING: Final[JsonObject] = {}


class Fault(NamedTuple):
    """An entry of a listing that is no definition.

    Attributes:
        kind: the listing it stood in.
        name: its name as received where it has one, else `#` and its index in the listing.
        code: `ambiguous-name`, or the code of the error that refused it.
        message: one escaped line.
    """

    kind: Kind
    name: str
    code: str
    message: str


class Surface(NamedTuple):
    """What a server advertised, as far as it was asked.

    Attributes:
        definitions: by kind and name.
        faults: entries that are invalid or ambiguous; their names have no definition.
        inspected: the kinds that were asked for: absence says something only about these.
        protocol_version: the negotiated revision, where known.
        server_info: what the server calls itself: shown and recorded, never an identity.
        capabilities: as advertised.
        notes: escaped lines worth telling (a byte-equal duplicate was folded, a banner was skipped).
    """

    definitions: Mapping[tuple[Kind, str], Definition]
    faults: tuple[Fault, ...] = ()
    inspected: frozenset[Kind] = frozenset()
    protocol_version: str | None = None
    server_info: JsonObject = NOTHING
    capabilities: JsonObject = NOTHING
    notes: tuple[str, ...] = ()

    def of_kind(self, kind: Kind) -> tuple[Definition, ...]:
        """The definitions of one kind, sorted by name."""
        return tuple(self.definitions[key] for key in sorted(self.definitions) if key[0] is kind)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all was advertised, not even something unreadable."""
        return not self.definitions and not self.faults


def assemble(
    entries: Mapping[Kind, Iterable[JsonValue]],
    *,
    instructions: JsonValue = None,
    inspected: Iterable[Kind] = (),
    protocol_version: str | None = None,
    server_info: JsonObject | None = None,
    capabilities: JsonObject | None = None,
    notes: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    parsed: bool = False,
) -> Surface:
    """The surface made of listing entries in any order, pages already joined.

    A bad entry becomes a `Fault` and nothing else suffers. A name that stands twice with equal content counts
    once; with different content the name is ambiguous and has no definition. Names that hosts would fold into
    one are ambiguous too (DESIGN: verdicts, `ambiguous`). `parsed` says that the entries came from
    `parse_message`, which lets them be digested faster (see `canonical_bytes`).
    """
    found: dict[tuple[Kind, str], Definition] = {}
    faults: list[Fault] = []
    told = list(notes)
    values = [(kind, index, value) for kind, items in entries.items() for index, value in enumerate(items)]
    if instructions is not None:
        values.append((Kind.INSTRUCTIONS, 0, instructions))
    ambiguous: set[tuple[Kind, str]] = set()
    for kind, index, value in values:
        try:
            definition = Definition.of(kind, value, limits=limits, parsed=parsed)
        except InvalidInput as error:
            faults.extend(_faults(kind, index, value, error))
            continue
        known = found.setdefault(definition.key, definition)
        if known.digest != definition.digest:
            ambiguous.add(definition.key)
        elif known is not definition:
            told.append(
                f"{kind} {escape(definition.name, limit=80)} is listed more than once, with equal content"
            )
    two = "one name stands for different definitions"
    faults.extend(Fault(*key, "ambiguous-name", two) for key in sorted(ambiguous))
    # A name that is also carried by an unreadable entry cannot be told apart by the host.
    spoiled = {(fault.kind, fault.name) for fault in faults}
    spoiled |= _host_collisions(found, faults)
    return Surface(
        definitions={key: found[key] for key in sorted(found) if key not in spoiled},
        faults=tuple(faults),
        inspected=frozenset(inspected) | frozenset(entries),
        protocol_version=protocol_version,
        server_info=server_info or {},
        capabilities=capabilities or {},
        notes=tuple(told),
    )


def _faults(kind: Kind, index: int, value: JsonValue, error: InvalidInput) -> list[Fault]:
    """One fault for each name that a reader could take the entry to have; by its place where it has none."""
    if kind is Kind.INSTRUCTIONS:
        names: tuple[str, ...] = (INSTRUCTIONS_NAME,)
    elif isinstance(value, Flaw):
        names = value.claims(NAME_MEMBER[kind])
    else:
        given = value.get(NAME_MEMBER[kind]) if isinstance(value, dict) else None
        names = (given,) if isinstance(given, str) and given else ()
    code, message = (value.code, value.message) if isinstance(value, Flaw) else (error.code, error.message)
    return [Fault(kind, name, code, message) for name in names or (f"#{index}",)]


def host_name(name: str) -> str:
    """What hosts make of the name of a tool: two names of which they make one cannot be told apart."""
    return _HOST_NAME.sub("_", name)


def _host_collisions(
    found: Mapping[tuple[Kind, str], Definition], faults: list[Fault]
) -> set[tuple[Kind, str]]:
    folded: dict[str, list[str]] = {}
    for kind, name in found:
        if kind is Kind.TOOL:
            folded.setdefault(host_name(name), []).append(name)
    collided = set()
    for names in folded.values():
        for name in names if len(names) > 1 else ():
            # Not all of them: thousands of names that fold into one must not cost their square.
            rivals = [other for other in names[: _SHOWN_RIVALS + 1] if other != name][:_SHOWN_RIVALS]
            shown = ", ".join(escape(rival, limit=80) for rival in rivals)
            more = f" and {len(names) - 1 - len(rivals)} more" if len(names) - 1 > len(rivals) else ""
            faults.append(
                Fault(Kind.TOOL, name, "ambiguous-name", f"hosts cannot tell it from {shown}{more}")
            )
            collided.add((Kind.TOOL, name))
    return collided
