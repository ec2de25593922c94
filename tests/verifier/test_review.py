# SPDX-License-Identifier: Apache-2.0
"""A review is empty exactly when the digests are equal; what it says leads from the old side to the new."""

import json
import subprocess
import sys
from typing import Any

import pytest
from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier.canonical import canonical_bytes, parse
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.review import Change, Difference, Review, review
from toolnotary_verifier.surface import Surface, assemble

ODD_KEYS = ["__hidden", "__", "a.b", "a'b", 'a"b', "a[0]", "a/b", "a~1b", "", "0", "name", "\u200b", "é"]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [0, 1, -1, 2**53, 2**63 - 1, 1.0, 0.1, 1e300, "1", "true", "null", "", "{}", "[]", "1.0"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(ODD_KEYS), st.text("ab", max_size=2)), inner, max_size=4),
    ),
    max_leaves=12,
)


def surface(*tools: Any) -> Surface:
    return assemble({Kind.TOOL: tools})


def tool(name: str = "read", **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def of(value: Any) -> Review:
    return review(surface(tool(x=value[0])), surface(tool(x=value[1])))


def applied(old: Any, findings: tuple[Difference, ...]) -> Any:
    """`old` with every finding carried out, those of one list together (their places are in the new list)."""
    value = json.loads(json.dumps(old))
    by_parent: dict[tuple[str, ...], list[Difference]] = {}
    for finding in findings:
        steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in finding.path.split("/")[1:])
        by_parent.setdefault(steps[:-1], []).append(finding)
    for steps in sorted(by_parent, key=len, reverse=True):
        parent = value
        for step in steps:
            parent = parent[int(step) if isinstance(parent, list) else step]
        _apply(parent, by_parent[steps])
    return value


def _apply(parent: Any, findings: list[Difference]) -> None:
    def place(finding: Difference) -> Any:
        step = finding.path.rsplit("/", 1)[1].replace("~1", "/").replace("~0", "~")
        return int(step) if isinstance(parent, list) else step

    if isinstance(parent, dict):
        for finding in findings:
            if finding.new is None:
                assert canonical_bytes(parent.pop(place(finding))).decode() == finding.old
            else:
                parent[place(finding)] = json.loads(finding.new)
        return
    for finding in sorted((f for f in findings if f.change is Change.REMOVED), key=place, reverse=True):
        assert canonical_bytes(parent.pop(place(finding))).decode() == finding.old
    for finding in sorted((f for f in findings if f.change is Change.ADDED), key=place):
        assert finding.new is not None
        parent.insert(place(finding), json.loads(finding.new))
    for finding in findings:
        if finding.change is Change.CHANGED:
            assert finding.new is not None
            parent[place(finding)] = json.loads(finding.new)


@settings(max_examples=scaled(300, 5000))
@given(VALUES, VALUES)
def test_a_review_is_empty_if_and_only_if_the_digests_are_equal(old: Any, new: Any) -> None:
    before, after = surface(tool(x=old)), surface(tool(x=new))
    equal = before.definitions[Kind.TOOL, "read"].digest == after.definitions[Kind.TOOL, "read"].digest
    found = review(before, after)
    assert found.differs is not equal
    assert all(finding.path.startswith("/x") for finding in found.differences), (
        "the library saw what the digests saw"
    )


@settings(max_examples=scaled(300, 5000))
@given(st.lists(LEAVES, max_size=8), st.data())
def test_list_edits_and_moves_are_told_so_that_they_lead_to_the_new_list(old: list[Any], data: Any) -> None:
    new = list(old)
    for _ in range(data.draw(st.integers(0, 3))):
        if new and data.draw(st.booleans()):
            new.insert(data.draw(st.integers(0, len(new))), new.pop(data.draw(st.integers(0, len(new) - 1))))
        else:
            new.insert(data.draw(st.integers(0, len(new))), data.draw(LEAVES))
    found = of((old, new))
    assert canonical_bytes(applied(tool(x=old), found.differences)) == canonical_bytes(tool(x=new))


@settings(max_examples=scaled(300, 5000))
@given(VALUES, VALUES)
def test_carrying_out_every_finding_gives_the_new_definition(old: Any, new: Any) -> None:
    found = of((old, new))
    assert canonical_bytes(applied(tool(x=old), found.differences)) == canonical_bytes(tool(x=new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([True], [1]),
        ([False], [0]),
        (1, "1"),
        (None, "null"),
        ({}, []),
        ({"__secret": 1}, {"__secret": 2}),
        ({"__secret": 1}, {}),
        ([1, 2, 3], [3, 2, 1]),
        (2**53, 2**53 + 1),
        (2**63 - 1, 2**63),
        ({"a": {"b": 1}}, {"a.b": 1}),
    ],
)
def test_what_python_or_deepdiff_takes_for_equal_is_told(old: Any, new: Any) -> None:
    assert of((old, new)).differs


@pytest.mark.parametrize(("old", "new"), [(1, 1.0), (100, 1e2), (0, -0.0), ("é", "\u00e9")])
def test_two_spellings_of_one_value_are_no_difference(old: Any, new: Any) -> None:
    assert not of((old, new)).differs


def test_the_place_is_a_json_pointer() -> None:
    key = "a/b~'\"[0].c"
    (finding,) = of(({key: [1, {"__x": 1}]}, {key: [1, {"__x": 2}]})).differences
    assert finding == Difference(Kind.TOOL, "read", Change.CHANGED, "/x/a~1b~0'\"[0].c/1/__x", "1", "2")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (["a", "b", "c"], ["b", "c"], [("/x/0", '"a"', None)]),
        (["b", "c"], ["a", "b", "c"], [("/x/0", None, '"a"')]),
        ([1, 2, 3], [1, 9, 3], [("/x/1", "2", "9")]),
        ([{"k": 1}, {"k": 2}], [{"k": 1}, {"k": 3}], [("/x/1/k", "2", "3")]),
        ([{"k": 1}, {"k": 2}], [{"k": 0}, {"k": 1}, {"k": 2}], [("/x/0", None, '{"k":0}')]),
    ],
)
def test_a_list_is_told_in_the_shorter_of_two_ways(old: Any, new: Any, told: list[Any]) -> None:
    assert [(finding.path, finding.old, finding.new) for finding in of((old, new)).differences] == told


def test_a_change_that_the_library_loses_when_it_aligns_lists_is_told() -> None:
    old, new = ["n", "n", "t", "n"], ["n", "f", "n", "f", "t"]
    assert canonical_bytes(applied(tool(x=old), of((old, new)).differences)) == canonical_bytes(tool(x=new))


def test_added_and_removed_tools_are_told_whole() -> None:
    found = review(surface(tool("a"), tool("b")), surface(tool("b"), tool("c")))
    assert [(f.name, f.change, f.path) for f in found.differences] == [
        ("a", Change.REMOVED, ""),
        ("c", Change.ADDED, ""),
    ]


def test_a_changed_instructions_text_is_one_finding() -> None:
    old = assemble({}, instructions="read", inspected=[Kind.INSTRUCTIONS])
    new = assemble({}, instructions="send", inspected=[Kind.INSTRUCTIONS])
    (finding,) = review(old, new).differences
    assert (finding.kind, finding.path, finding.old, finding.new) == (
        Kind.INSTRUCTIONS,
        "",
        '"read"',
        '"send"',
    )


def test_the_order_of_tools_is_no_difference() -> None:
    assert not review(surface(tool("a"), tool("b")), surface(tool("b"), tool("a"))).differs


def test_a_definition_that_cannot_be_read_is_a_difference_even_when_both_sides_have_it() -> None:
    bad = surface(tool("a"), tool("b", description="\ud800"))
    found = review(bad, bad)
    assert found.differs
    assert [fault.name for fault in (*found.old_faults, *found.new_faults)] == ["b", "b"]
    assert found.differences == ()


def test_a_name_that_became_ambiguous_is_told_as_that_and_not_as_removed() -> None:
    found = review(surface(tool("a")), surface(tool("a"), tool("a", title="A")))
    assert [fault.code for fault in found.new_faults] == ["ambiguous-name"]
    assert found.differences == ()


def test_a_tool_that_only_changed_its_name_is_told_as_renamed() -> None:
    (rename,) = review(surface(tool("a", title="T")), surface(tool("b", title="T"))).renames
    assert (rename.old, rename.new, rename.exact) == ("a", "b", True)


def test_a_renamed_tool_that_kept_its_description_is_a_probable_rename() -> None:
    text = "Reads an invoice and returns its fields."
    (rename,) = review(
        surface(tool("a", description=text)), surface(tool("b", description=text, title="T"))
    ).renames
    assert (rename.old, rename.new, rename.exact) == ("a", "b", False)


def test_each_name_takes_part_in_one_rename_at_most() -> None:
    found = review(surface(tool("a"), tool("b")), surface(tool("c")))
    assert [(rename.old, rename.new) for rename in found.renames] == [("a", "c")]


def test_kinds_that_one_side_was_not_asked_for_are_noted_and_not_compared() -> None:
    old = assemble({Kind.TOOL: [tool()]})
    new = assemble({Kind.TOOL: [tool()], Kind.PROMPT: [{"name": "p"}]})
    found = review(old, new)
    assert not found.differs
    assert len(found.notes) == 1


def test_server_info_and_capabilities_are_noted_and_no_difference() -> None:
    old = assemble({Kind.TOOL: []}, server_info={"version": "1"}, capabilities={"tools": {}})
    new = assemble(
        {Kind.TOOL: []}, server_info={"version": "2"}, capabilities={"tools": {"listChanged": True}}
    )
    found = review(old, new)
    assert not found.differs
    assert len(found.notes) == 2


def test_a_thousand_changed_tools_and_a_huge_array_are_reviewed_place_by_place() -> None:
    old = surface(*(tool(f"t{i}", description=f"Reads {i}.") for i in range(1000)))
    new = surface(*(tool(f"t{i}", description=f"Sends {i}.") for i in range(1000)))
    assert [f.path for f in review(old, new).differences] == ["/description"] * 1000
    numbers = list(range(3000))
    paths = [f.path for f in of((numbers, [*numbers, 1])).differences]
    assert paths == ["/x/3000"]


def test_a_change_too_large_to_take_apart_is_told_by_whole_members() -> None:
    many = Limits(definition_bytes=8 << 20)
    old = assemble({Kind.TOOL: [tool(x=[0] * 150_000, y=1, z=1)]}, limits=many)
    new = assemble({Kind.TOOL: [tool(x=[1] * 150_000, y=1, z=2)]}, limits=many)
    assert [finding.path for finding in review(old, new).differences] == ["/x", "/z"]


def test_a_description_of_five_megabytes_is_reviewed() -> None:
    many = Limits(definition_bytes=8 << 20)
    old = assemble({Kind.TOOL: [tool(description="a" * (5 << 20))]}, limits=many)
    new = assemble({Kind.TOOL: [tool(description="a" * (5 << 20) + "b")]}, limits=many)
    (finding,) = review(old, new).differences
    assert finding.path == "/description"


def test_numbers_beyond_doubles_are_shown_exactly() -> None:
    (finding,) = of((9223372036854775807, 9223372036854775806)).differences
    assert (finding.old, finding.new) == ("9223372036854775807", "9223372036854775806")


def test_values_read_from_bytes_are_reviewed_like_any_other() -> None:
    def read(text: str) -> Definition:
        return Definition.of(Kind.TOOL, parse(text.encode()))

    old, new = read('{"name":"a","x":[1.50,true]}'), read('{"name":"a","x":[1.5,1]}')
    found = review(
        Surface(definitions={old.key: old}, inspected=frozenset(Kind)),
        Surface(definitions={new.key: new}, inspected=frozenset(Kind)),
    )
    assert [finding.path for finding in found.differences] == ["/x/1"]


READ = """
import sys
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.review import review
from toolnotary_verifier.surface import assemble
old, new = (assemble({Kind.TOOL: [{"name": "a", "x": x}]}) for x in (1, 2))
"""


def test_equal_surfaces_are_reviewed_without_loading_deepdiff() -> None:
    code = READ + "assert not review(old, old).differs; sys.exit('deepdiff' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_change_without_the_extra_says_which_extra_is_missing() -> None:
    code = READ + (
        "sys.modules['deepdiff'] = None\n"
        "try:\n    review(old, new)\n"
        "except ConfigurationError as error:\n    sys.exit(error.code != 'missing-extra')\n"
        "sys.exit(2)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
