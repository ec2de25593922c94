# SPDX-License-Identifier: Apache-2.0
"""Which arguments of a call become headers, and how they are written (MCP 2026-07-28: `x-mcp-header`)."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.shells.bridge.mirrored import header_value, mirrored

Json = Any


def schema(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


def marked(name: Json, kind: Json = "string") -> Json:
    return {"type": kind, "x-mcp-header": name}


@pytest.mark.parametrize(
    ("kind", "argument", "value"),
    [
        ("string", "eu-west", b"eu-west"),
        ("string", "two words", b"two words"),
        ("string", "", b""),
        ("string", " padded ", b"=?base64?IHBhZGRlZCA=?="),
        ("string", "a\r\nX-Evil: 1", b"=?base64?YQ0KWC1FdmlsOiAx?="),
        ("string", "\u4e16", b"=?base64?5LiW?="),
        ("string", "=?base64?x?=", b"=?base64?PT9iYXNlNjQ/eD89?="),
        ("integer", 42, b"42"),
        ("integer", -(2**53), b"-9007199254740992"),
        ("integer", 3.0, b"3"),
        ("boolean", True, b"true"),
        ("boolean", False, b"false"),
    ],
)
def test_an_argument_is_written_as_a_server_compares_it(kind: str, argument: Json, value: bytes) -> None:
    assert mirrored(schema(a=marked("Region", kind)), {"a": argument}) == [(b"mcp-param-region", value)]


@pytest.mark.parametrize("argument", [None, [], {}, 1.5, "x" * 9000])
def test_what_no_header_can_hold_is_left_out_and_so_is_what_is_not_there(argument: Json) -> None:
    wanted = schema(a=marked("A"), b=marked("B"))
    assert mirrored(wanted, {"a": argument, "b": "b"}) == [(b"mcp-param-b", b"b")]
    assert mirrored(wanted, None) == []


def test_marks_count_along_properties_alone() -> None:
    wanted = {
        **schema(a=schema(b=marked("Deep")), c={"type": "array", "items": marked("Item")}),
        "anyOf": [schema(d=marked("Any"))],
        "$defs": {"e": marked("Def")},
    }
    given_ = {"a": {"b": "1"}, "c": ["2"], "d": "3", "e": "4"}
    assert mirrored(wanted, given_) == [(b"mcp-param-deep", b"1")]


@pytest.mark.parametrize(
    "wrong",
    [
        marked(""),
        marked("a b"),
        marked("a:"),
        marked("a\r\nb"),
        marked("\u00e4"),
        marked(5),
        marked(None),
        marked("Y", "number"),
        marked("Y", ["string", "null"]),
        marked("y"),
    ],
)
def test_a_definition_with_one_mark_against_the_rules_has_none(wrong: Json) -> None:
    wanted = schema(x=marked("Y"), z=wrong)
    assert mirrored(wanted, {"x": "1", "z": "2"}) == []


@given(st.text())
def test_every_text_is_one_visible_line_that_can_be_read_back(text: str) -> None:
    value = header_value(text)
    assert all(0x20 <= byte <= 0x7E for byte in value)
    assert value == value.strip()
    read = value.decode("ascii")
    if read.startswith("=?base64?") and read.endswith("?="):
        read = base64.b64decode(read[9:-2]).decode("utf-8", "surrogatepass")
    assert read == text.encode("utf-8", "replace").decode("utf-8")
