# SPDX-License-Identifier: Apache-2.0
"""Markup of a review page: whatever a server writes stays text, and nothing that runs can be made."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reviewing import Reader

import toolnotary_cli
from toolnotary_cli.page.markup import document, element, joined, text
from toolnotary_verifier.escape import is_invisible

HOSTILE = st.text(st.sampled_from("<>&\"'/=! \n\r\x00\x1b\u202e\u200b\U000e0041\ud800abs-"), max_size=30)


def spelled(words: str) -> str:
    return "".join(f"\\u{{{ord(c):x}}}" if is_invisible(c) and c != "\n" else c for c in words)


@given(HOSTILE, HOSTILE)
def test_text_stays_text_wherever_it_stands(words: str, more: str) -> None:
    page = element("p", words, element("b", more, title=words), joined([more, words], between=words))
    read = Reader(page.html)
    assert read.tags == ["p", "b"]
    assert read.text == spelled(words) + spelled(more) + spelled(more) + spelled(words) + spelled(words)
    assert read.attributes == {"title": spelled(words)}
    assert not any(is_invisible(character) for character in page.html if character != "\n")


@pytest.mark.parametrize(
    "name", ["script", "style", "iframe", "link", "base", "object", "svg", "P", "p x", "", "p>"]
)
def test_no_element_that_runs_or_fetches_something_can_be_made(name: str) -> None:
    with pytest.raises(ValueError, match="no element"):
        element(name)


@pytest.mark.parametrize("name", ["onclick", "onload", "style", "srcdoc", "Href", "a b", ""])
def test_no_attribute_that_runs_something_can_be_made(name: str) -> None:
    with pytest.raises(ValueError, match="no attribute"):
        element("p", **{name: "x"})


def test_markup_does_not_become_text_by_accident() -> None:
    with pytest.raises(TypeError, match="markup is no text"):
        f"{text('x')}"
    with pytest.raises(ValueError, match="style sheet"):
        document("title", "a{}</style><script>")


def test_markup_is_made_in_one_room_alone() -> None:
    """Elsewhere a string is never taken for markup: only the empty one is."""
    for path in Path(next(iter(toolnotary_cli.__path__))).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Markup":
                given = [ast.unparse(argument) for argument in node.args]
                assert path.name == "markup.py" or given == ["''"], f"{path}: Markup({given})"
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and path.name != "markup.py":
                assert not re.search(r"<[a-z]+[^>]*>.*</[a-z]+>", node.value), f"{path}: {node.value[:80]}"
