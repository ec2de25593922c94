# SPDX-License-Identifier: Apache-2.0
"""Which rule each change falls under: every difference gets a finding at its place, above it or below it."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.review.annotations import annotation_rule
from toolnotary_verifier.review.finding import Change, Difference, Finding
from toolnotary_verifier.review.pointer import ABSENT, Steps, at, pointer, steps_of, written
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import hints, schema, surface
from toolnotary_verifier.review.schema_keywords import keyword_rule
from toolnotary_verifier.review.schema_sites import site
from toolnotary_verifier.review.schemas import Told, intrinsic, schema_rules
from toolnotary_verifier.review.texts import text_rule, title_rule

Pair = tuple[JsonValue, JsonValue]
Member = Callable[[Pair, list[Steps]], Iterator[Told]]

_ADDED: Final = {
    Kind.TOOL: surface.TOOL_ADDED,
    Kind.PROMPT: surface.PROMPT_ADDED,
    Kind.RESOURCE: surface.RESOURCE_ADDED,
    Kind.TEMPLATE: surface.RESOURCE_ADDED,
    Kind.INSTRUCTIONS: surface.INSTRUCTIONS_ADDED,
}
_TEXTS: Final = frozenset(("$comment", "description", "title"))


def classified(
    old: Definition | None, new: Definition | None, differences: Iterable[Difference]
) -> Iterator[Finding]:
    """What the differences of one definition are.

    Args:
        old: the definition of before, None where it came.
        new: the definition of now, None where it went.
        differences: all places that differ.
    """
    sides = tuple(ABSENT if one is None else json.loads(one.canonical) for one in (old, new))
    one = new or old
    if one is None:
        return
    told = _told(one.kind, (sides[0], sides[1]), [steps_of(d.path) for d in differences])
    for rule, steps in dict.fromkeys(told):
        before, after = written(at(sides[0], steps)), written(at(sides[1], steps))
        yield Finding(rule, one.kind, one.name, Change.of(before, after), pointer(steps), before, after)


def _told(kind: Kind, pair: Pair, places: list[Steps]) -> Iterator[Told]:
    old, new = pair
    if new is ABSENT:
        yield surface.REMOVED, ()
    elif old is ABSENT:
        yield _ADDED[kind], ()
        yield from _brought(new, ())
    elif kind is Kind.INSTRUCTIONS:
        yield text_rule(old, new), ()
    else:
        for place in places:
            if not place:  # digests differ and nothing else was seen
                yield surface.EXTENSION, ()
        members: dict[str, list[Steps]] = {}
        for place in places:
            if place:
                members.setdefault(place[0], []).append(place[1:])
        for member, inside in members.items():
            told = _MEMBERS[kind].get(member, _single(surface.EXTENSION))
            for rule, steps in told((at(old, (member,)), at(new, (member,))), inside):
                yield rule, (member, *steps)


def _single(rule: Rule) -> Member:
    """One rule for each place."""
    return partial(_each, rule)


def _each(rule: Rule, _: Pair, places: list[Steps]) -> Iterator[Told]:
    yield from ((rule, place) for place in places)


def _description(pair: Pair, _: list[Steps]) -> Iterator[Told]:
    yield text_rule(*pair), ()


def _title(pair: Pair, _: list[Steps]) -> Iterator[Told]:
    yield title_rule(*pair), ()


def _input(pair: Pair, places: list[Steps]) -> Iterator[Told]:
    old, new = pair
    yield from schema_rules(old, new, places)
    for place in places:
        if at(old, place) is ABSENT:
            yield from _brought(at(new, place), place)


def _brought(value: JsonValue, steps: Steps) -> Iterator[Told]:
    for rule, inside in intrinsic(value):
        yield rule, (*steps, *inside)


def _output(pair: Pair, places: list[Steps]) -> Iterator[Told]:
    """A schema of results: its words count like any, the rest constrains the server alone."""
    for place in places:
        found = site(*pair, place)
        steps = (*found.schema, *found.member)
        is_text = len(found.member) == 1 and found.member[0] in _TEXTS
        old, new = at(pair[0], steps), at(pair[1], steps)
        yield keyword_rule(found.member[0], old, new) if is_text else schema.OUTPUT, steps


def _annotations(pair: Pair, places: list[Steps]) -> Iterator[Told]:
    old, new = pair
    for place in places:
        if place:
            yield annotation_rule(place[0], at(old, place[:1]), at(new, place[:1])), place[:1]
            continue
        names = {*_keys(old), *_keys(new)}
        for name in sorted(names):
            yield annotation_rule(name, at(old, (name,)), at(new, (name,))), (name,)
        if not names:
            yield hints.HINT_OTHER, ()


def _keys(value: JsonValue) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _arguments(pair: Pair, places: list[Steps]) -> Iterator[Told]:
    for place in places:
        old, new = at(pair[0], place), at(pair[1], place)
        texts = {"description": text_rule, "title": title_rule}
        rule = texts[place[-1]](old, new) if place and place[-1] in texts else surface.ARGUMENT_CHANGED
        yield rule, place


_COMMON: Final[dict[str, Member]] = {
    "description": _description,
    "title": _title,
    "icons": _single(surface.ICONS),
    "_meta": _single(surface.META),
}
_RESOURCE: Final[dict[str, Member]] = {
    **_COMMON,
    **dict.fromkeys(("annotations", "mimeType", "name", "size"), _single(surface.RESOURCE_CHANGED)),
}
_MEMBERS: Final[dict[Kind, dict[str, Member]]] = {
    Kind.TOOL: {
        **_COMMON,
        "annotations": _annotations,
        "inputSchema": _input,
        "outputSchema": _output,
        "execution": _single(surface.EXECUTION),
    },
    Kind.PROMPT: {**_COMMON, "arguments": _arguments},
    Kind.RESOURCE: _RESOURCE,
    Kind.TEMPLATE: _RESOURCE,
}
