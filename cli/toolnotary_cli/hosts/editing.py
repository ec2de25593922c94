# SPDX-License-Identifier: Apache-2.0
"""Edits of JSON and YAML as changes of a few pieces of text: what no edit is about stays byte for byte."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from toolnotary_cli.hosts.located import Edit, Member, Node, Number, Replacement, Splice, spliced

# What YAML reads as the text that it is without quotes, wherever it stands.
_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)\Z)[A-Za-z/][A-Za-z0-9_./-]*", re.IGNORECASE)
# Characters that YAML or TOML want escaped and JSON does not.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"")
_COMMENT = re.compile(r"//|/\*|(?:^|\s)#", re.MULTILINE)
_COMMA = re.compile(r"\s*,\s*")


def quoted(word: str) -> str:
    """A word in double quotes, as JSON, YAML and TOML read it alike."""
    text = json.dumps(word, ensure_ascii=False)
    return _ESCAPED.sub(lambda met: f"\\u{ord(met[0]):04x}", text)


def has_comment(text: str, node: Node) -> bool:
    """Whether a comment stands between the values of an object or list."""
    inner = [member.value for member in (node.members or {}).values()] + (node.items or [])
    if node.members is None and node.items is None:
        return False
    places = sorted((one.start, one.end) for one in inner)
    at, gaps = node.start, []
    for start, end in places:
        gaps.append(text[at:start])
        at = end
    gaps.append(text[at : node.end])
    return any(_COMMENT.search(_STRING.sub("", gap)) for gap in gaps) or any(
        has_comment(text, one) for one in inner
    )


def written(value: object) -> str:
    """A value in one line, as JSON and YAML read it alike."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, Number):
        return value.text
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def edited(text: str, document: Node, edits: Iterable[Edit | Replacement]) -> str:
    """The text with these edits made.

    Args:
        text: what was read.
        document: the same, with its places.
        edits: at most one for each entry.
    """
    splices: list[Splice] = []
    for edit in edits:
        if isinstance(edit, Replacement):
            splices.append(_replaced(text, document.at(edit.entry), edit.value))
        else:
            splices += _Place(text, document, edit).splices()
    return spliced(text, splices)


def _replaced(text: str, node: Node, value: dict[str, object]) -> Splice:
    """The change of a whole entry, one member a line where it has been so."""
    starts = [member.start for member in (node.members or {}).values()]
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    outer = line[: len(line) - len(line.lstrip())]
    before = text[node.start + 1 : starts[0]] if starts and node.is_flow else ""
    if "\n" not in before or before.strip():
        return Splice(node.start, node.end, written(value))
    newline = "\r\n" if before.startswith("\r\n") else "\n"
    told = [f"{before}{quoted(key)}: {written(one)}" for key, one in value.items()]
    return Splice(node.start, node.end, "{" + ",".join(told) + f"{newline}{outer}}}")


def front(text: str, words: Node, *, drop: int, insert: Sequence[str]) -> Splice:
    """The change at the front of a list that is written as JSON writes it.

    What is inserted looks like what is there: one word a line where each word has its own. Dropping what was
    inserted gives the text of before.
    """
    items = words.items or []
    told = [quoted(word) for word in insert]
    if not items:
        return Splice(words.start + 1, words.start + 1, ", ".join(told))
    start, blank = items[0].start, text[words.start + 1 : items[0].start]
    if len(items) > drop:
        between = "," + (blank if blank and not blank.strip() else " ")
        return Splice(start, items[drop].start, "".join(word + between for word in told))
    comma = _COMMA.match(text, items[-1].end)
    return Splice(start, items[-1].end if comma is None else comma.end(), ", ".join(told))


class _Place:
    """One edit in one text."""

    def __init__(self, text: str, document: Node, edit: Edit) -> None:
        self._text = text
        self._edit = edit
        self._node = document.at(edit.entry)
        self._members = self._node.members or {}

    def splices(self) -> Iterator[Splice]:
        edit = self._edit
        words = self._members.get(edit.list_key)
        if edit.command is not None:
            command = self._members[edit.command_key]
            yield Splice(command.value.start, command.value.end, self._command(command.value, edit.command))
            if words is None:
                yield self._added(command)
        if words is None:
            return
        is_emptied = len(words.value.items or []) <= edit.drop and not edit.insert
        removed = self._removed(words) if is_emptied and edit.without_args else None
        if removed is not None:
            yield removed
        elif words.value.is_flow:
            yield front(self._text, words.value, drop=edit.drop, insert=edit.insert)
        else:
            yield self._block(words.value)

    def _command(self, node: Node, command: str) -> str:
        """The new command, in the style of the old one."""
        is_plain = self._text[node.start] not in "\"'" and _PLAIN.fullmatch(command)
        return command if is_plain else quoted(command)

    def _added(self, command: Member) -> Splice:
        """The list of arguments, where there was none: beside the command, and written as its line is."""
        words = f"[{', '.join(map(quoted, self._edit.insert))}]"
        before = self._text[: command.start]
        blank = before[len(before.rstrip()) :]
        if self._node.is_flow:
            blank = blank if before.rstrip().endswith(("{", ",")) else " "
            key = quoted(self._edit.args_key)
            return Splice(command.value.end, command.value.end, f",{blank or ' '}{key}: {words}")
        # Before the command, since a comment may stand behind it.
        return Splice(
            command.start, command.start, f"{self._edit.args_key}: {words}{self._next(command.start)}"
        )

    def _removed(self, words: Member) -> Splice | None:
        """The list of arguments gone, and what parts it from its neighbours; None where that is not plain."""
        for before, after in pairwise(sorted(self._members.values(), key=lambda one: one.start)):
            if self._node.is_flow:
                between = self._text[before.value.end : after.start]
                if after is words and _COMMA.fullmatch(between):
                    return Splice(before.value.end, words.value.end, "")
            if before is words:
                between = self._text[words.value.end : after.start]
                if not between.strip() or (self._node.is_flow and _COMMA.fullmatch(between)):
                    return Splice(words.start, after.start, "")
        return None

    def _block(self, words: Node) -> Splice:
        """The change at the front of a list in YAML's block style, one word behind each dash."""
        items = words.items or []
        drop, insert = self._edit.drop, self._edit.insert
        if len(items) <= drop:
            return Splice(words.start, items[-1].end, f"[{', '.join(map(quoted, insert))}]")
        told = (word if _PLAIN.fullmatch(word) else quoted(word) for word in insert)
        text = "".join(f"- {word}{self._next(words.start)}" for word in told)
        # The dash of the first item that stays: nothing but blanks stands between it and the item.
        end = words.start if drop == 0 else self._text.rindex("-", 0, items[drop].start)
        return Splice(words.start, end, text)

    def _next(self, start: int) -> str:
        """A line break, and the blanks that lead to the column of a place."""
        newline = "\r\n" if "\r\n" in self._text else "\n"
        return newline + " " * (start - (self._text.rfind("\n", 0, start) + 1))
