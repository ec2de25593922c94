# SPDX-License-Identifier: Apache-2.0
"""JSON with comments: what is read is what stands there, and an edit changes its own span alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_cli.hosts import jsonc
from toolnotary_cli.hosts.editing import edited
from toolnotary_cli.hosts.located import Edit, Number, applied
from toolnotary_verifier.errors import InvalidInput

BLANKS = st.sampled_from(
    ["", " ", "\n", "\r\n", "\t", "  ", "/* c */", '/*\n * "a": {\n */', "// c\n", "/***/ "]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as somebody could write it: blanks and comments between all tokens, and commas at the end."""

    def gap() -> str:
        return draw(BLANKS)

    def comma() -> str:
        return draw(st.sampled_from(["", ",", " ,\n"]))

    def text(value: Any) -> str:
        if isinstance(value, dict):
            inner = ",".join(
                f"{gap()}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{gap()}:{gap()}{text(one)}{gap()}"
                for key, one in value.items()
            )
            return "{" + inner + (comma() + gap() if value else gap()) + "}"
        if isinstance(value, list):
            inner = ",".join(f"{gap()}{text(one)}{gap()}" for one in value)
            return "[" + inner + (comma() + gap() if value else gap()) + "]"
        return json.dumps(value)

    return f"{gap()}{text(value)}{gap()}"


def plainly(value: Any) -> Any:
    """A value as the reader tells it: numbers as they are written."""
    if isinstance(value, dict):
        return {key: plainly(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plainly(one) for one in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Number(json.dumps(value))
    return value


@given(st.data(), VALUES)
def test_what_is_read_is_what_was_written(data: st.DataObject, value: Any) -> None:
    text = data.draw(written(value))
    assert jsonc.parse(text).plain() == plainly(value)


@given(
    st.data(),
    st.lists(st.text(max_size=6), max_size=3) | st.none(),
    st.dictionaries(st.text(), VALUES, max_size=3),
)
def test_an_edit_changes_its_own_span_and_is_undone_exactly(
    data: st.DataObject, args: list[str] | None, others: dict[str, Any]
) -> None:
    entry = {**others, "command": "npx", **({} if args is None else {"args": args})}
    if args is None:
        entry.pop("args", None)
    document = {"before": others, "mcpServers": {"a": entry}, "after": [others]}
    text = data.draw(written(document))
    place = ("mcpServers", "a")
    words = ["run", "--server", "a", "--", "npx"]
    after = edited(text, jsonc.parse(text), [Edit(place, "command", "/bin/toolnotary", "args", 0, words)])
    wanted: Any = plainly(document)
    applied(wanted, Edit(place, "command", "/bin/toolnotary", "args", 0, words))
    assert jsonc.parse(after).plain() == wanted
    node = jsonc.parse(text).at(place)
    assert after.startswith(text[: node.start])
    assert after.endswith(text[node.end :])
    back = Edit(place, "command", "npx", "args", len(words), [], args is None)
    assert edited(after, jsonc.parse(after), [back]) == text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1, "a": 2}', "line 1, column 10: the key a stands twice"),
        ('{"a": 1, "\\u0061": 2}', "line 1, column 10: the key a stands twice"),
        ('{"a": 1\n "b": 2}', "line 2, column 2: expected a comma or }"),
        ("{'a': 1}", "line 1, column 2: expected a key in quotes"),
        ('{"a" 1}', "line 1, column 6: expected a colon"),
        ('{"a": "x\ny"}', "line 1, column 7: a string that is not closed"),
        ('{"a": 01}', "line 1, column 8: expected a comma"),
        ('{"a": NaN}', "line 1, column 7: no value"),
        ('{"a": 1} x', "line 1, column 10: something stands behind"),
        ("/* a", "line 1, column 1: a comment without its end"),
        ('{"a": ', "line 1, column 7: the document ends before its value"),
        ("[1,,2]", "line 1, column 4: no value"),
        ("[" * 100, "nested deeper than 64"),
        ("[" * 100_000, "nested deeper than 64"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        jsonc.parse(text)
    assert caught.value.code == "host-file-invalid"
    assert place in caught.value.message
