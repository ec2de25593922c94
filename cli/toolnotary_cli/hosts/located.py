# SPDX-License-Identifier: Apache-2.0
"""A document whose values know where they stand in its text, so that an edit can change them alone."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# Keys and places in lists, from the top of a document.
Path = tuple[str | int, ...]


class Number(NamedTuple):
    """A number, or another scalar that is neither text nor true, false or nothing, as it is written."""

    text: str


@dataclass(slots=True)
class Member:
    """One member of an object: where its key begins, and its value."""

    start: int
    value: "Node"


@dataclass(slots=True)
class Node:
    """A value and its place: `text[start:end]`.

    Attributes:
        scalar: the value where it is no object and no list.
        members: those of an object.
        items: those of a list.
        is_flow: whether it is written as JSON would; else in YAML's block style.
        is_shared: whether it stands for several places of the document, which change together.
    """

    start: int
    end: int
    scalar: object = None
    members: dict[str, Member] | None = None
    items: list["Node"] | None = None
    is_flow: bool = True
    is_shared: bool = False

    def plain(self) -> object:
        """The value without its places."""
        if self.members is not None:
            return {key: member.value.plain() for key, member in self.members.items()}
        if self.items is not None:
            return [item.plain() for item in self.items]
        return self.scalar

    def at(self, path: Path) -> "Node":
        """The value at a path.

        Raises:
            KeyError, IndexError: there is none.
        """
        found = self
        for key in path:
            found = (found.items or [])[key] if isinstance(key, int) else (found.members or {})[key].value
        return found

    def on_the_way(self, path: Path) -> Iterator["Node"]:
        """Every value from the top to the one at a path."""
        for length in range(len(path) + 1):
            yield self.at(path[:length])


class Splice(NamedTuple):
    """A piece of a text that another takes the place of."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with these pieces changed; they do not overlap."""
    parts, done = [], 0
    for splice in sorted(splices):
        parts += [text[done : splice.start], splice.text]
        done = splice.end
    return "".join([*parts, text[done:]])


class Edit(NamedTuple):
    """What is to change of one server's entry. All that is not named stays.

    Attributes:
        entry: the path to the object that holds the command.
        command_key: the member that says what is started.
        command: its new text; None where it is a list of words, which `drop` and `insert` are about.
        args_key: the member that holds the arguments.
        drop: how many words go from the front of the list.
        insert: words that come to its front.
        without_args: remove the list where no word is left of it.
    """

    entry: Path
    command_key: str
    command: str | None
    args_key: str
    drop: int
    insert: Sequence[str]
    without_args: bool = False

    @property
    def list_key(self) -> str:
        """The member that holds the list of words."""
        return self.command_key if self.command is None else self.args_key


class Replacement(NamedTuple):
    """An entry that another takes the place of as a whole."""

    entry: Path
    value: dict[str, object]


def applied(value: object, edit: Edit | Replacement) -> None:
    """Make an edit in plain values, in place: what every format's own edit is checked against."""
    held, entry = value, value
    for key in edit.entry:
        held, entry = entry, entry[key]  # type: ignore[index]  # the path leads through objects and lists
    assert isinstance(entry, dict)  # noqa: S101 - as `entries` found it
    if isinstance(edit, Replacement):
        held[edit.entry[-1]] = edit.value  # type: ignore[index]
        return
    words = [*edit.insert, *(entry.get(edit.list_key) or [])[edit.drop :]]
    if edit.command is not None:
        entry[edit.command_key] = edit.command
    if words or not edit.without_args:
        entry[edit.list_key] = words
    else:
        entry.pop(edit.list_key, None)
