# SPDX-License-Identifier: Apache-2.0
"""JSON with comments and trailing commas, read so that every value knows its place in the text.

Strict in all else: RFC 8259, no key twice in an object, bounded depth. The caller bounds the size. What is
read here decides nothing about definitions; it is where servers stand in the file of a host.
"""

import json
import re
from typing import Final

from toolnotary_cli.hosts.located import Member, Node, Number
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape

MAX_DEPTH: Final = 64
# Blanks and comments; no two of the alternatives begin alike, so that no text is gone over twice.
_BETWEEN = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS: Final[dict[str, object]] = {"true": True, "false": False, "null": None}


def parse(text: str) -> Node:
    """The document that a text is.

    Raises:
        InvalidInput: `host-file-invalid`, with line and column.
    """
    reader = _Reader(text)
    at = reader.skip(0)
    node = reader.value(at, 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise reader.fault(end, "something stands behind the end of the document")
    return node


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text

    def fault(self, at: int, what: str) -> InvalidInput:
        """The error that says what is wrong, and where."""
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        return InvalidInput("host-file-invalid", f"line {line}, column {column}: {what}")

    def skip(self, at: int) -> int:
        """Where something stands behind blanks and comments."""
        found = _BETWEEN.match(self._text, at)
        end = at if found is None else found.end()
        if self._text.startswith("/*", end):
            raise self.fault(end, "a comment without its end")
        return end

    def value(self, at: int, depth: int) -> Node:
        """The value that begins at a place."""
        if depth > MAX_DEPTH:
            raise self.fault(at, f"nested deeper than {MAX_DEPTH}")
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._list(at, depth)
        if first == '"':
            text, end = self._string(at)
            return Node(at, end, text)
        word = _WORD.match(self._text, at)
        if word is not None and word[0] in _WORDS:
            return Node(at, word.end(), _WORDS[word[0]])
        number = _NUMBER.match(self._text, at)
        if number is None:
            raise self.fault(at, "no value" if first else "the document ends before its value")
        return Node(at, number.end(), Number(number[0]))

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self.fault(at, "a string that is not closed, or holds what JSON does not allow")
        return json.loads(found[0]), found.end()

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Member] = {}
        at = self.skip(start + 1)
        while not self._text.startswith("}", at):
            if not self._text.startswith('"', at):
                raise self.fault(at, "expected a key in quotes")
            key, end = self._string(at)
            if key in members:
                raise self.fault(at, f"the key {escape(key, limit=80)} stands twice in one object")
            colon = self.skip(end)
            if not self._text.startswith(":", colon):
                raise self.fault(colon, "expected a colon")
            value = self.value(self.skip(colon + 1), depth + 1)
            members[key] = Member(at, value)
            at = self._behind(value.end, "}")
        return Node(start, at + 1, members=members)

    def _list(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = self.skip(start + 1)
        while not self._text.startswith("]", at):
            item = self.value(at, depth + 1)
            items.append(item)
            at = self._behind(item.end, "]")
        return Node(start, at + 1, items=items)

    def _behind(self, end: int, closing: str) -> int:
        """Where the next member or the end of its object or list stands."""
        at = self.skip(end)
        if self._text.startswith(",", at):
            return self.skip(at + 1)
        if not self._text.startswith(closing, at):
            raise self.fault(at, f"expected a comma or {closing}")
        return at
