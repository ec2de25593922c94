# SPDX-License-Identifier: Apache-2.0
"""What differs inside of the definitions that both surfaces have, member by member, and where it comes from.

Dependencies and interpreters touch many tools alike; what touches one alone is nobody's variant.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonObject, canonical_bytes
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.equivalence import TOOL_SCHEMAS, normal_tool
from toolnotary_verifier.review.cause.forms import (
    GENERATED,
    IN_ORDER,
    Form,
    forms_of,
    in_forms,
    is_described,
    is_empty,
    unlike,
    uses,
)
from toolnotary_verifier.review.cause.model import MANY, Cause, Explained, Key

_INPUT: Final = "inputSchema"

Place = tuple[Key, str]  # a tool, and a member of it


class Both(NamedTuple):
    """A tool that both surfaces have, in normal form.

    Attributes:
        key: its kind and name.
        old: as it was.
        new: as it is.
        differing: the members that differ.
    """

    key: Key
    old: JsonObject
    new: JsonObject
    differing: frozenset[str]

    @classmethod
    def of(cls, old: Definition, new: Definition) -> "Both":
        """Two definitions of one tool."""
        before, after = normal_tool(old.value), normal_tool(new.value)
        members = before.keys() | after.keys() if old.digest != new.digest else ()
        differing = frozenset(member for member in members if not _same(before, after, member))
        return cls(old.key, before, after, differing)


def _same(before: JsonObject, after: JsonObject, member: str) -> bool:
    if member not in before or member not in after:
        return False
    return canonical_bytes(before[member]) == canonical_bytes(after[member])


class Members:
    """The members that differ, and what accounts for them.

    Args:
        tools: every tool that both surfaces have.

    Attributes:
        named: the causes that were found.
        left: by tool, the members that nothing accounts for; every tool that differs is in it.
    """

    def __init__(self, tools: Iterable[Both]) -> None:
        self._tools = tuple(tools)
        self.named: list[Explained] = []
        self.left: dict[Key, set[str]] = {
            tool.key: set(tool.differing) for tool in self._tools if tool.differing
        }
        self._vanished()
        self._returned()
        self._rewritten()

    def _vanished(self) -> None:
        """Input schemas that are empty now: what generated them no longer understands its sources."""
        described = [tool for tool in self._tools if is_described(tool.old.get(_INPUT))]
        empty = [tool for tool in described if is_empty(tool.new.get(_INPUT))]
        if _are_many(len(empty), len(described)):
            self._account(
                Cause.SCHEMA_VANISHED,
                [(tool.key, _INPUT) for tool in empty],
                f"{len(empty)} of {len(described)} input schemas became empty at once: "
                "these tools take any arguments now",
            )

    def _returned(self) -> None:
        """The other way round, whoever was pinned was seen so; what the schemas say now is new, and stays."""
        described = [tool for tool in self._tools if is_described(tool.new.get(_INPUT))]
        empty = [tool for tool in described if is_empty(tool.old.get(_INPUT))]
        if _are_many(len(empty), len(described)):
            self.named.append(
                Explained(
                    Cause.SCHEMA_VANISHED,
                    (),
                    f"{len(empty)} of {len(described)} input schemas were empty in what is pinned: "
                    "it was captured while they were; what they say now is new",
                )
            )

    def _rewritten(self) -> None:
        """Schemas that are the same but for the way in which they are written."""
        needed = {
            (tool.key, member): forms
            for tool in self._tools
            for member in TOOL_SCHEMAS
            if member in self.left.get(tool.key, ()) and member in tool.old and member in tool.new
            if (forms := _needed(tool, member))
        }
        alike = self._alike(needed)
        accepted = {
            place: forms
            for place, forms in needed.items()
            if all(form is IN_ORDER or (form.id, place[1]) in alike for form in forms)
        }
        ordered = [place for place, forms in accepted.items() if IN_ORDER in forms]
        if len({key for key, _ in ordered}) < MANY:
            accepted = {place: forms for place, forms in accepted.items() if IN_ORDER not in forms}
            ordered = []
        generated = [place for place, forms in accepted.items() if forms != [IN_ORDER]]
        if generated:
            ids = dict.fromkeys(
                form.id for place in generated for form in accepted[place] if form is not IN_ORDER
            )
            self._account(
                Cause.SCHEMA_GENERATOR,
                generated,
                f"schemas of {_tools(generated)} differ alike, and only in: {', '.join(ids)}",
            )
        if ordered:
            evidence = f"the same words stand in another order in schemas of {_tools(ordered)}"
            self._account(Cause.SET_ORDER, ordered, evidence)

    def _alike(self, needed: Mapping[Place, list[Form]]) -> set[tuple[str, str]]:
        """The forms, each with a member, that came, went or changed in all schemas that have them."""
        found_in = {form.id for forms in needed.values() for form in forms}
        wanted = [form for form in GENERATED if form.id in found_in]
        signs: dict[tuple[str, str], list[int | None]] = {}
        for tool in self._tools if wanted else ():
            for member in TOOL_SCHEMAS:
                known = needed.get((tool.key, member), ())
                before, after = (uses(side.get(member), wanted, tool.key[1]) for side in (tool.old, tool.new))
                for form in wanted:
                    was, becomes = before[form.id], after[form.id]
                    if was or becomes:
                        is_kept = was == becomes and form not in known
                        sign = None if is_kept else (becomes > was) - (becomes < was)
                        signs.setdefault((form.id, member), []).append(sign)
        return {place for place, found in signs.items() if len(found) >= MANY and len(set(found)) == 1}

    def _account(self, cause: Cause, places: Iterable[Place], evidence: str) -> None:
        keys = set()
        for key, member in places:
            self.left[key].discard(member)
            keys.add(key)
        self.named.append(Explained(cause, tuple(sorted(keys)), evidence))


def _are_many(count: int, total: int) -> bool:
    return count >= MANY and 2 * count >= total


def _needed(tool: Both, member: str) -> list[Form]:
    """The forms without any of which two schemas differ; none where they differ in all of them too."""
    name, forms = tool.key[1], forms_of(tool.old[member], tool.new[member])
    old, new = unlike(tool.old[member], tool.new[member])
    if in_forms(old, forms, name) != in_forms(new, forms, name):
        return []
    used = uses(old, forms, name) + uses(new, forms, name)
    return [
        form
        for form in forms
        if used[form.id]
        and in_forms(old, rest := [one for one in forms if one is not form], name)
        != in_forms(new, rest, name)
    ]


def _tools(places: Iterable[Place]) -> str:
    count = len({key for key, _ in places})
    return f"{count} tool{'' if count == 1 else 's'}"


def both(old: Mapping[Key, Definition], new: Mapping[Key, Definition]) -> Iterator[Both]:
    """The tools of both sides."""
    for key in sorted(old.keys() & new.keys()):
        if key[0] is Kind.TOOL:
            yield Both.of(old[key], new[key])
