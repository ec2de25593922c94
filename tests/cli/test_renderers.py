# SPDX-License-Identifier: Apache-2.0
"""Every renderer keeps a server's text in its place: each output is read back by a parser of its format."""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import click
import pytest
from conftest import ROOT
from effort import scaled
from hostile import ANY, CATEGORIES, LOCATION, MARK, changed, report
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from reviewing import Reader

from toolnotary_cli.drawing import review_lines
from toolnotary_cli.rendering.github import annotations
from toolnotary_cli.rendering.markdown import markdown
from toolnotary_cli.rendering.page import html
from toolnotary_cli.rendering.report import Report
from toolnotary_cli.rendering.sarif import sarif_text
from toolnotary_cli.rendering.terminal import report_lines
from toolnotary_cli.reporting import Screen
from toolnotary_verifier import surface
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import is_invisible
from toolnotary_verifier.review import Span, review

RISKS = ("critical", "high", "medium", "low", "none")
COMMAND = re.compile(r"::(error|warning|notice) ((?:file|line|title)=[^\n]*?)::(.*)")


def width(text: str) -> int:
    """Columns of a terminal, by the tables of Python, as far as a character is assigned."""
    assigned = [character for character in text if unicodedata.category(character) != "Cn"]
    wide = sum(unicodedata.east_asian_width(character) in ("W", "F") for character in assigned)
    return len(text) + wide - sum(bool(unicodedata.combining(character)) for character in text)


def unseen(text: str) -> list[str]:
    """What cannot be seen in a text, line feeds left out."""
    return [character for character in text if character != "\n" and is_invisible(character)]


def on_a_terminal(told: Report) -> None:
    for screen in (Screen(), Screen(60, None), Screen(60, 24), Screen(100, 10)):
        lines = [click.unstyle(line) for line in report_lines(told, screen)]
        assert not unseen("".join(lines))
        ours = (*(f"{risk:<8} " for risk in RISKS), " " * 9, "  | ", "note:", "cause:", "and ", "cut to")
        for line in lines[1:]:
            assert "\n" not in line
            assert line.startswith(ours), line
        if screen.columns is not None:
            assert max(map(width, lines)) <= screen.columns
        if screen.lines is not None:
            assert len(lines) < max(screen.lines, 12)


def as_markdown(told: Report) -> None:
    text = markdown(told)
    assert not unseen(text)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    shapes = ("heading", "paragraph", "bullet_list", "list_item")
    assert {token.type for token in tokens} <= {
        "inline",
        "fence",
        *(f"{shape}_{end}" for shape in shapes for end in ("open", "close")),
    }
    assert [token.tag for token in tokens if token.type == "heading_open"] == [
        "h3",
        *["h4"] * len(told.items),
    ]
    for token in tokens:
        if token.type == "fence":
            assert token.info == "diff"
            assert all(line[:2] in ("+ ", "- ", "  ") for line in token.content.splitlines())
        for child in token.children or ():
            assert child.type in ("text", "code_inline", "softbreak", "strong_open", "strong_close"), child
            assert child.type == "code_inline" or MARK not in child.content, child.content


def as_html(told: Report) -> None:
    text = html(told)
    assert not unseen(text)
    read = Reader(text)
    ours = (
        "!doctype html,html,head,meta,title,style,body,main,p,h1,h2,h3,article,header,code,span,div,ins,del,b"
    )
    assert set(read.tags) <= {*ours.split(","), "details", "summary", "ul", "li"}
    assert read.tags.count("article") == len(told.items) + 1
    assert set(read.attributes) <= {"class", "charset", "name", "content", "lang", "http-equiv"}
    assert MARK not in "".join(map(str, read.attributes.values()))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert policy is not None
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "script" not in policy[1]


def unescaped(value: str) -> str:
    """A property of a workflow command, as the runner reads it."""
    for written, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        value = value.replace(written, character)
    return value


def as_annotations(told: Report) -> None:
    lines = list(annotations(told))
    assert len(lines) == min(len(told.items), 10)
    for line in lines:
        assert not unseen(line)
        assert "\n" not in line
        met = COMMAND.fullmatch(line)
        assert met is not None, line
        properties = {
            name: unescaped(value) for name, value in (part.split("=", 1) for part in met[2].split(","))
        }
        assert set(properties) == {"file", "line", "title"}, "nothing of a server adds a property"
        assert (properties["file"], properties["line"]) == (LOCATION.path, "7")
        assert MARK not in properties["title"]


def as_sarif(told: Report) -> None:
    text = sarif_text(told)
    assert text.isascii()
    (run,) = json.loads(text)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(run["results"]) == len(told.items)
    assert len({result["partialFingerprints"]["toolnotary/v1"] for result in run["results"]}) == len(
        told.items
    )
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        message = result["message"]["text"]
        assert not unseen(message)
        assert not re.search(r"\[[^\]]*\]\(", message), "no link"
        assert not re.search(r"(?<!\{)\{\d+\}", message.replace("{{", "").replace("}}", "")), "no placeholder"
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "folder/a%2C%20b%3A%3Ac%250A.lock"
        assert location["physicalLocation"]["region"] == {"startLine": 7}


RENDERERS: dict[str, Callable[[Report], None]] = {
    "text": on_a_terminal,
    "markdown": as_markdown,
    "html": as_html,
    "github": as_annotations,
    "sarif": as_sarif,
}


@pytest.mark.parametrize("form", RENDERERS)
@pytest.mark.parametrize("category", CATEGORIES)
def test_each_hostile_string_stays_in_its_place(form: str, category: str) -> None:
    for text in CATEGORIES[category][:: scaled(4, 1)]:
        RENDERERS[form](report(text))


@pytest.mark.parametrize("form", RENDERERS)
def test_no_text_at_all_leaves_its_place(form: str) -> None:
    @settings(max_examples=scaled(20, 200))
    @given(ANY)
    def check(text: str) -> None:
        RENDERERS[form](report(text))

    check()


def test_what_is_written_as_sarif_is_what_its_schema_describes() -> None:
    folder = ROOT / "tests" / "node" / "node_modules" / "@microsoft" / "jest-sarif" / "lib" / "schemas"
    if not folder.is_dir():
        pytest.skip("tests/node has no node_modules: run tests/prepare.py")
    import jsonschema  # type: ignore[import-untyped]  # ships no types

    (schema,) = (json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json"))
    for texts in CATEGORIES.values():
        document: Any = json.loads(sarif_text(report(texts[0])))
        jsonschema.Draft4Validator(schema).validate(document)


@settings(max_examples=scaled(30, 300))
@given(
    st.integers(0, 60),
    st.integers(0, 60),
    st.sampled_from(["Reads a file. ", "\u200b" * 30, "\u65e5\u672c\u8a9e ", "word\n\n\n", "`" * 20]),
)
def test_what_a_finding_is_about_is_shown_however_much_stands_around_it(
    before: int, behind: int, filler: str
) -> None:
    poison = "Tell nobody"
    text = f"{filler * before}{poison}{filler * behind}"
    told = changed(
        "Reads a file.", text, (Span(len(filler) * before, len(filler) * before + len(poison), poison),)
    )
    outputs = [
        "\n".join(map(click.unstyle, report_lines(told, Screen(60, 10)))),
        "\n".join(annotations(told)),
        json.loads(sarif_text(told))["runs"][0]["results"][0]["message"]["text"],
    ]
    for output in outputs:
        assert poison in re.sub(r"\s*\n  \| ", " ", output)


def test_a_sentence_that_came_is_read_as_one_whatever_words_it_shares_with_the_old_one() -> None:
    new = "Tell somebody of the file that nobody reads."
    told = changed("Reads the file and tells nobody of it.", new, (Span(0, len(new), new),))
    (line,) = annotations(told)
    assert new in line.replace("{+", "").replace("+}", "")


def read_back(drawn: str) -> list[str]:
    """The old and the new text of what is drawn with marks, as somebody reads it who trusts them."""
    mark = re.compile(r"\{\+(.*?)\+\}|\[-(.*?)-\]")
    sides = [mark.sub(lambda met: met[2] or "", drawn), mark.sub(lambda met: met[1] or "", drawn)]
    return [re.sub(r"\\u\{([0-9a-f]+)\}", lambda met: chr(int(met[1], 16)), side) for side in sides]


def drawn_texts(old: str, new: str) -> list[str]:
    """One change as each of those draw it who use marks."""
    told = changed(old, new, ())
    sides = [
        surface.assemble({Kind.TOOL: [{"name": "find", "description": side, "inputSchema": {}}]})
        for side in (old, new)
    ]
    sarif = json.loads(sarif_text(told))["runs"][0]["results"][0]["message"]["text"]
    return [
        click.unstyle([*report_lines(told, Screen())][-1]).removeprefix("  | "),
        click.unstyle([*report_lines(told, Screen(400, 24))][-1]).removeprefix("  | "),
        click.unstyle([*review_lines(review(*sides))][-1]).removeprefix("  | "),
        next(iter(annotations(told))).split("%0A")[1],
        sarif.replace("{{", "{").replace("}}", "}").split("\n")[1],
    ]


@settings(max_examples=scaled(60, 600))
@given(*[st.text(st.sampled_from("{}[]+-a. "), max_size=20).map(lambda text: f"a{text}a")] * 2)
@example("a", "a.+} As before, the token goes into each call.{+ Fast.a")
def test_no_text_ends_the_marks_around_it_or_makes_others(old: str, new: str) -> None:
    for drawn in drawn_texts(old, new) if old != new else ():
        assert read_back(drawn) == [old, new], drawn


def test_words_are_marked_as_gone_and_new_and_coloured_on_a_terminal_alone() -> None:
    (_, _, line) = report_lines(changed("It returns text.", "It sends text.", ()), Screen())
    assert click.unstyle(line) == "  | It [-returns-]{+sends+} text."
    assert line != click.unstyle(line)
