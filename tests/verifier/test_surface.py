# SPDX-License-Identifier: Apache-2.0
"""Entries sorted into definitions and faults: a bad one harms itself and whatever it cannot be told from."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.canonical import parse_message
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.surface import Surface, assemble


def tool(name: Any, description: str = "Does it.") -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def tools(*entries: Any, limits: Limits | None = None) -> Surface:
    return assemble({Kind.TOOL: entries}, limits=limits or Limits())


def names(surface: Surface) -> list[str]:
    return [name for _, name in surface.definitions]


def faults(surface: Surface) -> list[tuple[str, str]]:
    return [(fault.name, fault.code) for fault in surface.faults]


@given(st.permutations([tool("a"), tool("b"), tool("c", "Other.")]))
def test_the_order_of_a_listing_means_nothing(entries: list[Any]) -> None:
    surface, sorted_ = tools(*entries), tools(tool("a"), tool("b"), tool("c", "Other."))
    assert surface.definitions == sorted_.definitions
    assert names(surface) == ["a", "b", "c"]


def test_one_bad_tool_leaves_the_others_alone() -> None:
    surface = tools(tool("a"), {"description": "nameless"}, tool("b", "\ud800"), tool(7), None, tool("c"))
    assert names(surface) == ["a", "c"]
    assert faults(surface) == [
        ("#1", "definition-shape"),
        ("b", "lone-surrogate"),
        ("#3", "definition-shape"),
        ("#4", "definition-shape"),
    ]


def test_a_tool_that_repeats_a_key_is_invalid_under_every_name_it_claims() -> None:
    entries = parse_message(
        b'[{"name":"a","name":"b","inputSchema":{}},{"name":"b","inputSchema":{}},{"name":"c"}]'
    )
    surface = tools(*entries)
    assert faults(surface) == [("a", "duplicate-key"), ("b", "duplicate-key")]
    assert names(surface) == ["c"]


def test_a_name_twice_with_equal_content_counts_once_and_is_told() -> None:
    surface = tools(tool("a"), dict(reversed(tool("a").items())))
    assert names(surface) == ["a"]
    assert not surface.faults
    assert len(surface.notes) == 1


def test_a_name_for_two_definitions_is_ambiguous_and_has_none() -> None:
    surface = tools(tool("a"), tool("b"), tool("a", "Other."))
    assert names(surface) == ["b"]
    assert faults(surface) == [("a", "ambiguous-name")]


@pytest.mark.parametrize(
    ("one", "other"), [("get.data", "get_data"), ("a b", "a\u200bb"), ("\u0435", "\u0454")]
)
def test_names_that_hosts_fold_into_one_are_ambiguous(one: str, other: str) -> None:
    surface = tools(tool(one), tool(other), tool("fine"))
    assert names(surface) == ["fine"]
    assert {code for _, code in faults(surface)} == {"ambiguous-name"}


def test_names_of_other_kinds_do_not_collide_with_tools() -> None:
    surface = assemble({Kind.TOOL: [tool("a")], Kind.PROMPT: [{"name": "a"}], Kind.RESOURCE: [{"uri": "a"}]})
    assert len(surface.definitions) == 3
    assert not surface.faults


def test_thousands_of_names_that_fold_into_one_are_told_shortly() -> None:
    surface = tools(*(tool(chr(0x4E00 + index)) for index in range(3000)))
    assert len(surface.faults) == 3000
    assert max(len(fault.message) for fault in surface.faults) < 200


def test_what_a_fault_says_is_safe_to_show() -> None:
    surface = tools(tool("a\x1b[2J"), tool("a\u202eX3J"), tool("aX_2J"), tool("a__2J"))
    shown = " ".join(fault.message for fault in surface.faults)
    assert surface.faults
    assert shown.isprintable()


def test_instructions_are_a_definition_and_anything_but_a_text_is_a_fault() -> None:
    assert names(assemble({}, instructions="Be kind.")) == ["instructions"]
    surface = assemble({}, instructions={"text": "Be kind."})
    assert not surface.definitions
    assert faults(surface) == [("instructions", "definition-shape")]


def test_a_definition_beyond_the_limits_is_invalid_and_the_others_are_not() -> None:
    deep: Any = "x"
    for _ in range(70):
        deep = [deep]
    surface = tools(
        tool("long", "x" * 300), {**tool("deep"), "x": deep}, tool("a"), limits=Limits(definition_bytes=200)
    )
    assert names(surface) == ["a"]
    assert faults(surface) == [("long", "too-large"), ("deep", "too-deep")]


def test_only_what_was_asked_for_is_inspected() -> None:
    surface = assemble({Kind.TOOL: []}, inspected=[Kind.PROMPT])
    assert surface.inspected == {Kind.TOOL, Kind.PROMPT}
    assert surface.is_empty
    assert not tools(None).is_empty
    assert tools(tool("a")).of_kind(Kind.PROMPT) == ()
