# SPDX-License-Identifier: Apache-2.0
"""The difference that an edit makes, for people to read: structure and commands, and no other value.

The file of a host is full of what is nobody's business: variables, headers, tokens, histories. What is shown
is what a reader needs to judge the edit. Every other value, and every comment, is shown as `***`.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from toolnotary_cli.hosts.documents import Document
from toolnotary_cli.hosts.entries import Entry
from toolnotary_cli.hosts.located import Node, Splice, spliced
from toolnotary_cli.hosts.tomldoc import TOKEN
from toolnotary_verifier.commandline import take_apart
from toolnotary_verifier.escape import visible
from toolnotary_verifier.secrecy import MASK

# Words that only pass a command on, which taking it apart leaves out.
_PASSED_ON: Final = frozenset({"cmd", "cmd.exe", "/c", "/C", "/k", "env"})
# By format: a string, or else a comment.
_TOKENS: Final = {
    "json": re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL),
    "yaml": re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?:(?<=\s)|^)\#[^\n]*""", re.MULTILINE),
    "toml": TOKEN,
}
_COMMENT: Final = {"json": "// ***", "yaml": "# ***", "toml": "# ***"}
_KEY: Final = re.compile(r"\s*=|\s*\.\s*[\w\"']")
_HEADER: Final = re.compile(r"\s*\[\[?\s*[A-Za-z0-9_-]")


def difference(
    document: Document, after: Document, entries: Iterable[Entry], added: Iterable[str]
) -> list[str]:
    """The lines of a unified diff, escaped, between a file and what it becomes.

    Args:
        document: the file as it is.
        after: the file as it becomes.
        entries: its servers, before and after.
        added: words that `wrap` puts in.
    """
    known = {*added, *(word for entry in entries for word in shown_words(entry))}
    before = _masked(document, known).splitlines()
    now = _masked(after, known).splitlines()
    name = document.shown
    return [visible(line, limit=2000) for line in difflib.unified_diff(before, now, name, name, lineterm="")]


def shown_words(entry: Entry) -> Iterator[str]:
    """The words of a command line that hold no secret."""
    if not entry.argv:
        return
    told = {word.recorded for word in take_apart(entry.argv).words}
    shown = [word for word in entry.argv if word in _PASSED_ON or (word in told and MASK not in word)]
    yield from shown
    if entry.command is not None and all(word in shown for word in entry.own_words):
        yield entry.command


def _masked(document: Document, known: set[str]) -> str:
    form = document.dialect.format
    if document.node is None:
        return _masked_toml(document.text, known)
    text = spliced(document.text, _values(document.text, document.node, known, set()))
    return _TOKENS[form].sub(lambda met: met[1] or _COMMENT[form], text)


def _values(text: str, node: Node, known: set[str], seen: set[int]) -> Iterator[Splice]:
    """A mask over every value that is not known to hold no secret."""
    if id(node) in seen:
        return
    seen.add(id(node))
    for member in (node.members or {}).values():
        yield from _values(text, member.value, known, seen)
    for item in node.items or []:
        yield from _values(text, item, known, seen)
    if node.members is None and node.items is None and not isinstance(node.scalar, bool | None):
        if isinstance(node.scalar, str) and node.scalar in known:
            return
        ends = "\n" if text[node.start : node.end].endswith("\n") else ""
        yield Splice(node.start, node.end, f'"{MASK}"{ends}')


def _masked_toml(text: str, known: set[str]) -> str:
    import tomllib

    def shown(met: "re.Match[str]") -> str:
        if met[1] is None:
            return _COMMENT["toml"]
        line = text[text.rfind("\n", 0, met.start()) + 1 : met.start()]
        if _KEY.match(text, met.end()) or _HEADER.match(line):
            return met[1]
        return met[1] if tomllib.loads(f"v = {met[1]}")["v"] in known else f'"{MASK}"'

    return _TOKENS["toml"].sub(shown, text)
