# SPDX-License-Identifier: Apache-2.0
"""YAML, read by ruamel.yaml so that every value knows its place in the text; no object is made of it."""

import re
from typing import TYPE_CHECKING, Final

from toolnotary_cli.hosts.located import Member, Node, Number
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node as YamlNode

# The library needs seconds for that much where it is full of values; what people write has a few kilobytes.
MAX_BYTES: Final = 64 << 10
MAX_DEPTH: Final = 64
# What aliases make of it: each may stand for many values, and those are aliases again.
MAX_VALUES: Final = MAX_BYTES
_CODE: Final = "host-file-invalid"
_BRACKET = re.compile(r"[\[\]{}]")
_TAG: Final = "tag:yaml.org,2002:"


def parse(text: str) -> Node:
    """The document that a text is; an empty one is nothing.

    Raises:
        InvalidInput: `host-file-invalid`.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text) > MAX_BYTES:
        raise InvalidInput(_CODE, f"YAML of more than {MAX_BYTES >> 10} KiB is not read")
    _expect_shallow(text)
    try:
        found = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise InvalidInput(_CODE, f"{where}{escape(str(error.problem), limit=200)}") from None
    except (YAMLError, ValueError) as error:
        raise InvalidInput(_CODE, escape(str(error).partition("\n")[0], limit=200)) from None
    except RecursionError:
        raise InvalidInput(_CODE, f"nested deeper than {MAX_DEPTH}") from None
    return Node(0, 0) if found is None else _Reader(text).node(found, 0)


def _expect_shallow(text: str) -> None:
    """Refuse brackets in brackets before the library does: its time grows with the square of their depth.

    Brackets in quotes count too. Nobody who writes a configuration leaves so many of them open.
    """
    depth = 0
    for met in _BRACKET.finditer(text):
        depth = depth + 1 if met[0] in "[{" else max(depth - 1, 0)
        if depth > MAX_DEPTH:
            raise InvalidInput(_CODE, f"nested deeper than {MAX_DEPTH}")


class _Reader:
    """Turns the library's nodes into ours."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._seen: dict[int, Node] = {}
        self._counted: dict[int, int] = {}  # values that one stands for, aliases included
        self._values = 0

    def node(self, found: "YamlNode", depth: int) -> Node:
        """One value; what an alias stands for is one value too, however often it is named."""
        if depth > MAX_DEPTH:
            raise InvalidInput(_CODE, f"nested deeper than {MAX_DEPTH}")
        known = self._seen.get(id(found))
        if known is not None:
            known.is_shared = True
            self._count(self._counted.get(id(found)))
            return known
        start, end = found.start_mark.index, found.end_mark.index
        node = Node(start, end, is_shared=getattr(found, "anchor", None) is not None)
        self._seen[id(found)] = node
        before = self._values
        self._count(1)
        kind = type(found).__name__
        if kind == "MappingNode":
            self._members(node, found, depth)
        elif kind == "SequenceNode":
            node.items = [self.node(item, depth + 1) for item in found.value]
            node.is_flow = self._text[start : start + 1] == "["
            node.end = node.items[-1].end if node.items and not node.is_flow else end
        else:
            node.scalar = _scalar(str(found.tag), found.value)
        self._counted[id(found)] = self._values - before
        return node

    def _count(self, values: int | None) -> None:
        if values is None:
            raise InvalidInput(_CODE, "an alias stands for a value that it is a part of")
        self._values += values
        if self._values > MAX_VALUES:
            raise InvalidInput(_CODE, f"its aliases stand for more than {MAX_VALUES} values")

    def _members(self, node: Node, found: "YamlNode", depth: int) -> None:
        node.members = {}
        node.is_flow = self._text[node.start : node.start + 1] == "{"
        for key, value in found.value:
            name = key.value if isinstance(key.value, str) else ""
            if name in node.members:
                line = key.start_mark.line + 1
                raise InvalidInput(_CODE, f"line {line}: the key {escape(name, limit=80)} stands twice")
            node.members[name] = Member(key.start_mark.index, self.node(value, depth + 1))
        if node.members and not node.is_flow:
            # The library's end is behind the blanks and comments that follow.
            node.end = max(member.value.end for member in node.members.values())


def _scalar(tag: str, value: str) -> object:
    if tag == f"{_TAG}str":
        return value
    if tag == f"{_TAG}bool":
        return value.lower() in ("true", "yes", "on")
    return None if tag == f"{_TAG}null" else Number(value)
