# SPDX-License-Identifier: Apache-2.0
"""What changed between two surfaces, for people and programs; nothing here decides what may pass.

Used by the command line and the registry, never by `decide` or the gate (DESIGN: rooms).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from toolnotary_verifier.canonical import Digest, JsonValue, canonical_bytes
from toolnotary_verifier.definition import NAME_MEMBER, Definition, Kind
from toolnotary_verifier.differences import Change, Finding, changed_members, compare_all
from toolnotary_verifier.escape import escape
from toolnotary_verifier.surface import Fault, Surface

__all__ = ["Change", "Finding", "Rename", "Review", "review"]

# A description this long says which tool it belongs to.
_TELLING = 20

Key = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Rename:
    """A definition that went and one that came and looks like it: a hint, never a judgement.

    Attributes:
        kind: what the two define.
        old: the name that is gone.
        new: the name that is new.
        exact: whether nothing but the name differs.
    """

    kind: Kind
    old: str
    new: str
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Everything that differs between two surfaces.

    Attributes:
        findings: sorted by kind and name, within a definition in document order.
        old_faults: entries of the old surface that are no definitions and so cannot be compared.
        new_faults: the same of the new surface.
        renames: removed and added definitions that belong together, probably.
        notes: escaped lines worth telling that are no difference.
    """

    findings: tuple[Finding, ...] = ()
    old_faults: tuple[Fault, ...] = ()
    new_faults: tuple[Fault, ...] = ()
    renames: tuple[Rename, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the surfaces are not equal, or could not be compared throughout."""
        return bool(self.findings or self.old_faults or self.new_faults)


def review(old: Surface, new: Surface) -> Review:
    """Everything that differs between `old` and `new`.

    Kinds that only one side was asked for are noted, not compared: absence says nothing there. `serverInfo`
    and `capabilities` are noted as well (DESIGN: terms, surface).

    Raises:
        ConfigurationError: `missing-extra`, if something changed and deepdiff is not installed.
    """
    compared = frozenset(kind for kind in Kind if kind in old.inspected and kind in new.inspected)
    before = {key: found for key, found in old.definitions.items() if key[0] in compared}
    after = {key: found for key, found in new.definitions.items() if key[0] in compared}
    spoiled = {(fault.kind, fault.name) for fault in (*old.faults, *new.faults)}
    pairs = [(before.get(key), after.get(key)) for key in sorted({*before, *after} - spoiled)]
    gone = [was for was, now in pairs if was is not None and now is None]
    came = [now for was, now in pairs if now is not None and was is None]
    return Review(
        findings=tuple(compare_all(pairs)),
        old_faults=old.faults,
        new_faults=new.faults,
        renames=tuple(_renames(gone, came)),
        notes=tuple(_notes(old, new, compared)),
    )


def _renames(gone: list[Definition], came: list[Definition]) -> Iterator[Rename]:
    """Pairs that are equal but for the name, then pairs that share a telling member; each name once."""
    taken: set[Key] = set()
    for exact in (True, False):
        traits = {new.key: _traits(new, exact=exact) for new in came if new.key not in taken}
        bearers: dict[tuple[Kind, Digest], Key] = {}
        for key, found in traits.items():
            for trait in found:
                bearers.setdefault((key[0], trait), key)
        for old in gone:
            if old.key in taken:
                continue
            alike = [
                bearers[old.kind, trait]
                for trait in _traits(old, exact=exact)
                if (old.kind, trait) in bearers
            ]
            if alike and alike[0] not in taken:
                taken |= {alike[0], old.key}
                yield Rename(old.kind, old.name, alike[0][1], exact)


def _traits(definition: Definition, *, exact: bool) -> list[Digest]:
    if not isinstance(definition.value, dict):
        return []
    own = NAME_MEMBER[definition.kind]
    if exact:
        rest = {key: item for key, item in definition.value.items() if key != own}
        return [Digest.of(canonical_bytes(rest))]
    description, schema = definition.value.get("description"), definition.value.get("inputSchema")
    telling: list[JsonValue] = (
        [description] if isinstance(description, str) and len(description) >= _TELLING else []
    )
    telling += [schema] if isinstance(schema, dict) and schema.get("properties") else []
    return [Digest.of(canonical_bytes(value)) for value in telling]


def _notes(old: Surface, new: Surface, compared: frozenset[Kind]) -> Iterator[str]:
    for side, surface in (("old", old), ("new", new)):
        for kind in Kind:
            count = sum(1 for key in surface.definitions if key[0] is kind)
            if count and kind not in compared:
                yield f"kind {kind} is not compared: {count} on the {side} side, the other has no such list"
    for member, before, after in (
        ("serverInfo", old.server_info, new.server_info),
        ("capabilities", old.capabilities, new.capabilities),
    ):
        if before and after and canonical_bytes(before) != canonical_bytes(after):
            places = ", ".join(escape(f"/{name}", limit=80) for name in changed_members(before, after))
            yield f"{member} differs at {places}; it is recorded, and is no definition"
    if old.protocol_version and new.protocol_version and old.protocol_version != new.protocol_version:
        versions = escape(f"{old.protocol_version} and {new.protocol_version}", limit=80)
        yield f"the two sides speak different protocol revisions: {versions}"
