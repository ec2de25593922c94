# SPDX-License-Identifier: Apache-2.0
"""Pages joined to one listing: to the end, within limits, and read in one way only."""

from typing import Any

import pytest

from toolnotary_verifier.canonical import parse_message
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.jsonrpc import LIST_MEMBER
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.listing import Listing


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}}


def refusal(listing: Listing, result: Any, size: int = 100) -> str:
    with pytest.raises(InvalidInput) as caught:
        listing.receive(result, size)
    return caught.value.code


@pytest.mark.parametrize("kind", LIST_MEMBER)
def test_pages_are_joined_in_order_until_no_cursor_follows(kind: Kind) -> None:
    listing, member = Listing(kind), LIST_MEMBER[kind]
    assert listing.params == {}
    assert not listing.receive({member: [1, 2], "nextCursor": "b"}, 10)
    assert listing.params == {"cursor": "b"}
    assert listing.receive({member: [3]}, 10)
    assert listing.done
    assert listing.entries == [1, 2, 3]


def test_an_empty_cursor_is_a_cursor_and_null_is_the_end() -> None:
    listing = Listing(Kind.TOOL)
    assert not listing.receive({"tools": [], "nextCursor": ""}, 10)
    assert listing.params == {"cursor": ""}
    assert listing.receive({"tools": [], "nextCursor": None}, 10)


def test_the_first_page_keeps_what_a_host_expects_back() -> None:
    listing = Listing(Kind.TOOL)
    listing.receive({"tools": [], "ttlMs": 5, "nextCursor": "2"}, 10)
    listing.receive({"tools": [], "ttlMs": 9}, 10)
    assert listing.first_page["ttlMs"] == 5


@pytest.mark.parametrize(
    "result", [None, [], "x", {}, {"tools": None}, {"tools": {"a": {}}}, {"prompts": []}]
)
def test_an_answer_without_the_array_is_no_listing(result: Any) -> None:
    assert refusal(Listing(Kind.TOOL), result) == "listing-shape"


@pytest.mark.parametrize("twin", ["Tools", "TOOLS", "tool\u017f", "nextcursor", "NEXTCURSOR"])
def test_a_key_that_another_parser_would_take_for_ours_spoils_the_listing(twin: str) -> None:
    assert refusal(Listing(Kind.TOOL), {"tools": [tool("a")], twin: []}) == "listing-shape"


@pytest.mark.parametrize("cursor", [7, True, ["x"], {}])
def test_a_cursor_that_is_no_string_is_refused(cursor: Any) -> None:
    assert refusal(Listing(Kind.TOOL), {"tools": [], "nextCursor": cursor}) == "listing-shape"


def test_a_listing_that_comes_back_to_a_cursor_never_ends() -> None:
    listing = Listing(Kind.TOOL)
    listing.receive({"tools": [], "nextCursor": "a"}, 10)
    listing.receive({"tools": [], "nextCursor": "b"}, 10)
    assert refusal(listing, {"tools": [], "nextCursor": "a"}) == "cursor-loop"


@pytest.mark.parametrize(
    ("limits", "pages", "size"),
    [
        (Limits(pages=2), 3, 10),
        (Limits(page_bytes=99), 1, 100),
        (Limits(listing_bytes=250), 3, 100),
        (Limits(tools=5), 3, 10),
        (Limits(cursor_bytes=0), 1, 10),
    ],
)
def test_every_limit_ends_a_listing(limits: Limits, pages: int, size: int) -> None:
    listing = Listing(Kind.TOOL, limits=limits)
    for page in range(pages - 1):
        listing.receive({"tools": [{}, {}], "nextCursor": str(page)}, size)
    assert refusal(listing, {"tools": [{}, {}], "nextCursor": "last"}, size) == "listing-limit"


def test_limits_admit_exactly_what_they_say() -> None:
    listing = Listing(
        Kind.TOOL, limits=Limits(pages=2, page_bytes=10, listing_bytes=20, tools=4, cursor_bytes=1)
    )
    assert not listing.receive({"tools": [1, 2], "nextCursor": "c"}, 10)
    assert listing.receive({"tools": [3, 4]}, 10)


def test_one_entry_of_any_size_does_not_take_the_rest_of_its_page_with_it() -> None:
    limits = Limits(page_bytes=200, listing_bytes=2000, definition_bytes=100)
    huge = {**tool("huge"), "description": "x" * 900}
    listing = Listing(Kind.TOOL, limits=limits)
    assert listing.receive({"tools": [tool("a"), huge, tool("b")]}, 1100)
    assert listing.entries[1] == huge  # which is judged, and refused, by itself
    many = [tool(name) for name in "abcdefgh"]
    assert refusal(Listing(Kind.TOOL, limits=limits), {"tools": [*many, huge]}, 1400) == "listing-limit"
    beside = {"tools": [tool("a")], "_meta": {"x": "x" * 900}}
    assert refusal(Listing(Kind.TOOL, limits=limits), beside, 1100) == "listing-limit"
    broken = parse_message(b'{"tools":[{"name":"a","name":"' + b"a" * 900 + b'"}]}')
    assert refusal(Listing(Kind.TOOL, limits=limits), broken, 1000) == "listing-limit"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"tools":[],"tools":[]}', "duplicate-key"),
        (b'{"tools":[],"x":NaN}', "not-json"),
        (b'{"tools":[],"x":{"a":1,"a":1}}', "duplicate-key"),
        (b'{"tools":[],"x":"\\ud800"}', "lone-surrogate"),
    ],
)
def test_what_stands_beside_the_entries_must_be_strict_json(raw: bytes, code: str) -> None:
    assert refusal(Listing(Kind.TOOL), parse_message(raw)) == code


def test_an_entry_that_is_not_strict_json_is_left_to_be_judged_alone() -> None:
    listing = Listing(Kind.TOOL)
    assert listing.receive(parse_message(b'{"tools":[{"name":"a","name":"a"},{"name":"b"}]}'), 40)
    assert len(listing.entries) == 2
