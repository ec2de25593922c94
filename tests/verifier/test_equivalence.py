# SPDX-License-Identifier: Apache-2.0
"""docs/spec/equivalence.md: `equiv/1` leaves out what it says, and nothing else."""

import copy
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.equivalence import RECIPE, normal_digest, normal_text

Json = Any


def normal(value: Json, kind: Kind = Kind.TOOL) -> str:
    return normal_digest(Definition.of(kind, value))


def tool(**members: Json) -> Json:
    return {"name": "find", "inputSchema": {"type": "object"}, **members}


def equal(one: Json, other: Json) -> bool:
    assert one != other
    return normal(one) == normal(other)


def test_the_recipe_has_a_name_that_lockfiles_carry() -> None:
    assert RECIPE == "equiv/1"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Find a record.\n\n    Args:\n        q: ...", "Find a record.\n\nArgs:\nq: ..."),
        ("Find. ", "Find."),
        (" Find.", "Find."),
        ("Find.\n\n", "Find."),
        ("Find.\n   \n ", "Find."),
        ("a \nb", "a\nb"),
    ],
)
def test_spaces_around_lines_and_empty_lines_at_the_end_do_not_count(text: str, same: str) -> None:
    assert equal(tool(description=text), tool(description=same))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("a  b", "a b"),
        ("a b", "ab"),
        ("\ta", "a"),
        ("a\t", "a"),
        ("a\r\nb", "a\nb"),
        ("a\n\nb", "a\nb"),
        ("\na", "a"),
        ("a\nb", "a b"),
        ("a\n\nb\n\nc", "a\n\nb\nc"),
        ("a\u00a0", "a"),
        ("a\u200b", "a"),
        ("a\u2028b", "a\nb"),
        ("a\x0bb", "a\nb"),
        ("A", "a"),
    ],
)
def test_every_other_character_counts(text: str, other: str) -> None:
    assert not equal(tool(description=text), tool(description=other))


SCHEMA_POSITIONS = [
    ["properties", "q"],
    ["properties", "description"],
    ["properties", "default"],
    ["patternProperties", "^x"],
    ["$defs", "Query"],
    ["definitions", "Query"],
    ["dependentSchemas", "q"],
    ["dependencies", "q"],
    ["additionalProperties"],
    ["additionalItems"],
    ["items"],
    ["items", 0],
    ["prefixItems", 0],
    ["contains"],
    ["propertyNames"],
    ["unevaluatedItems"],
    ["unevaluatedProperties"],
    ["contentSchema"],
    ["not"],
    ["if"],
    ["then"],
    ["else"],
    ["allOf", 0],
    ["anyOf", 0],
    ["oneOf", 0],
]
CONTENT_POSITIONS = [
    ["default"],
    ["const"],
    ["examples", 0],
    ["enum", 0],
    ["x-vendor"],
    ["properties", "q", "default"],
    ["properties", "q", "const"],
    ["properties", "q", "examples", 0],
    ["properties", "q", "enum", 0],
    ["required", 0],
    ["discriminator"],
]


def at(path: list[Any], leaf: Json) -> Json:
    """A document in which `leaf` stands at `path`."""
    for part in reversed(path):
        leaf = [leaf] if isinstance(part, int) else {part: leaf}
    return leaf


@pytest.mark.parametrize("path", SCHEMA_POSITIONS, ids=lambda path: "/".join(map(str, path)))
@pytest.mark.parametrize("member", ["inputSchema", "outputSchema"])
def test_a_description_counts_alike_at_every_schema_position(member: str, path: list[Any]) -> None:
    one = tool(**{member: at(path, {"description": "a \n  b\n"})})
    other = tool(**{member: at(path, {"description": "a\nb"})})
    assert equal(one, other)


@pytest.mark.parametrize("path", CONTENT_POSITIONS, ids=lambda path: "/".join(map(str, path)))
def test_content_counts_to_the_last_space(path: list[Any]) -> None:
    one = tool(inputSchema=at(path, {"description": "a "}))
    other = tool(inputSchema=at(path, {"description": "a"}))
    assert not equal(one, other)


@pytest.mark.parametrize("member", ["title", "name", "annotations", "_meta", "icons", "$comment"])
def test_members_of_a_tool_other_than_its_description_count_as_they_are(member: str) -> None:
    one, other = ("a ", "a") if member in ("title", "name") else ({"description": "a "}, {"description": "a"})
    assert not equal({**tool(), member: one}, {**tool(), member: other})


def test_a_description_that_is_no_text_counts_as_it_is() -> None:
    assert not equal(tool(description=[" a"]), tool(description=["a"]))


def test_a_property_called_description_is_a_schema_and_no_text() -> None:
    one = tool(inputSchema={"properties": {"description": " a "}})
    assert not equal(one, tool(inputSchema={"properties": {"description": "a"}}))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"execution": {"taskSupport": "forbidden"}}, {}, True),
        ({"execution": {"taskSupport": "forbidden", "x": 1}}, {"execution": {"x": 1}}, True),
        ({"execution": {"taskSupport": "forbidden"}}, {"execution": {}}, True),
        ({"execution": {"taskSupport": "required"}}, {}, False),
        ({"execution": {"taskSupport": "optional"}}, {}, False),
        ({"execution": {"taskSupport": ["forbidden"]}}, {}, False),
        ({"execution": "forbidden"}, {}, False),
        ({"execution": None}, {}, False),
        ({"taskSupport": "forbidden"}, {}, False),
        ({"inputSchema": {"execution": {"taskSupport": "forbidden"}}}, {"inputSchema": {}}, False),
    ],
)
def test_forbidden_task_support_equals_its_absence_and_nothing_else(
    one: Json, other: Json, same: bool
) -> None:
    assert equal({**tool(), **one}, {**tool(), **other}) is same


@pytest.mark.parametrize("kind", [Kind.PROMPT, Kind.RESOURCE, Kind.TEMPLATE])
def test_only_tools_have_a_normal_form(kind: Kind) -> None:
    value = {"name": "a", "uri": "a:b", "uriTemplate": "a:{b}", "description": "a "}
    assert normal(value, kind) == Definition.of(kind, value).digest
    assert normal(value, kind) != normal({**value, "description": "a"}, kind)


def test_instructions_have_no_normal_form() -> None:
    assert normal("a ", Kind.INSTRUCTIONS) != normal("a", Kind.INSTRUCTIONS)


def test_the_definition_itself_is_left_as_it_was() -> None:
    value = tool(
        description=" a ", execution={"taskSupport": "forbidden"}, inputSchema={"properties": {"q": {}}}
    )
    before = copy.deepcopy(value)
    definition = Definition.of(Kind.TOOL, value)
    normal_digest(definition)
    assert definition.value == before


def test_numbers_keep_their_exact_digits() -> None:
    one = tool(description="a ", inputSchema={"maximum": 9223372036854775807})
    assert normal(one) != normal(tool(description="a", inputSchema={"maximum": 9223372036854775808}))


LINES = st.text(st.sampled_from(" \t\nab\r\u00a0"), max_size=20)


@settings(max_examples=scaled(300, 3000))
@given(LINES)
def test_the_normal_form_of_a_text_is_its_own_normal_form(text: str) -> None:
    assert normal_text(normal_text(text)) == normal_text(text)


@settings(max_examples=scaled(300, 3000))
@given(LINES, LINES)
def test_equal_normal_texts_hold_the_same_words_in_the_same_lines(one: str, other: str) -> None:
    if normal_text(one) == normal_text(other):

        def words(text: str) -> list[list[str]]:
            lines = [[word for word in line.split(" ") if word] for line in text.split("\n")]
            while lines and not lines[-1]:
                lines.pop()
            return lines

        assert words(one) == words(other)


def test_a_schema_at_the_depth_limit_has_a_normal_form() -> None:
    deep: Json = {"description": "a "}
    for _ in range(60):
        deep = {"not": deep}
    shallow = json.loads(json.dumps(deep).replace('"a "', '"a"'))
    assert equal(tool(inputSchema=deep), tool(inputSchema=shallow))


# Same version, other circumstances (research: 55 variants of real servers). By variant: tools whose digest
# differs from the first capture, and how many of those are equal in normal form.
VARIANTS = {
    "pypi/duckduckgo-mcp-server/0.7.0+env-py3.13": (3, 3),
    "npm/@circleci__mcp-server-circleci/0.20.0+dep-sdk1.20": (13, 13),
    "npm/mcp-server-code-runner/*+dep-sdk1.20": (1, 1),
    "npm/@modelcontextprotocol__server-filesystem/2026.8.31+dep-sdk1.20": (13, 0),
    "npm/@modelcontextprotocol__server-memory/*+dep-sdk1.20": (8, 0),
    "pypi/mcp-atlassian/0.23.1+cfg-seed0": (4, 0),
    "pypi/mcp-server-time/*+cfg-tz": (2, 0),
}


def tools(folder: Path) -> dict[str, Definition]:
    raw = (folder / "tools_list.page1.json").read_text(encoding="utf-8")
    listed = json.loads(raw)["result"]["tools"]
    return {value["name"]: Definition.of(Kind.TOOL, value) for value in listed}


def differing(one: Path, other: Path) -> Iterator[tuple[Definition, Definition]]:
    before, after = tools(one), tools(other)
    for name in before.keys() & after.keys():
        if before[name].digest != after[name].digest:
            yield before[name], after[name]


@pytest.mark.parametrize("variant", VARIANTS)
def test_real_variants_of_one_version_are_as_equal_as_was_measured(shared: Path, variant: str) -> None:
    found = sorted((shared / "corpus").glob(variant))
    if not found:
        pytest.skip(f"no capture of {variant} here")
    folder = found[0]
    pairs = list(differing(folder.with_name(folder.name.split("+")[0]), folder))
    equal_pairs = [pair for pair in pairs if normal_digest(pair[0]) == normal_digest(pair[1])]
    assert (len(pairs), len(equal_pairs)) == VARIANTS[variant]


def test_the_rules_buy_no_changed_release_a_free_pass(shared: Path) -> None:
    """Of neighbouring releases, those that differ differ in normal form too (research/corpus 6)."""
    compared = 0
    for server in sorted((shared / "corpus").glob("*/*")):
        releases = [
            folder
            for folder in sorted(server.iterdir())
            if "+" not in folder.name and (folder / "tools_list.page1.json").exists()
        ]
        for one, other in pairwise(releases):
            before, after = tools(one), tools(other)
            if before == after:
                continue
            compared += 1
            shapes = [{name: normal_digest(d) for name, d in side.items()} for side in (before, after)]
            assert shapes[0] != shapes[1], (one, other)
    assert compared > 50
