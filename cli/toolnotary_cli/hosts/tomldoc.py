# SPDX-License-Identifier: Apache-2.0
"""TOML: read by the standard library, edited by tomlkit, which keeps comments, order and formatting."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from toolnotary_cli.hosts.editing import front, quoted
from toolnotary_cli.hosts.located import Edit, Node, Replacement, applied, spliced
from toolnotary_verifier.errors import CannotTell, InvalidInput
from toolnotary_verifier.escape import escape

_CODE: Final = "host-file-invalid"
# The library that edits needs seconds for that much; what people write has a few kilobytes.
MAX_BYTES: Final = 1 << 20
# The library that reads needs memory by the square of the parts of a key, which stands in one line.
_MOST_DOTS: Final = 200
# A list of strings, word by word: strings of one line, and what may stand between them.
_WORD = re.compile(r"\"(?!\"\")(?:[^\"\\\n]|\\.)*\"|'(?!'')[^'\n]*'")
_BETWEEN = re.compile(r"(?:[\s,]|#[^\n]*)*")
# A string, or else a comment.
TOKEN: Final = re.compile(
    r'("""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')|\#[^\n]*', re.DOTALL
)


def parse(text: str) -> dict[str, Any]:
    """The values of a document.

    Raises:
        InvalidInput: `host-file-invalid`, with line and column.
    """
    if len(text) > MAX_BYTES:
        raise InvalidInput(_CODE, f"TOML of more than {MAX_BYTES >> 20} MiB is not read")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS:
            raise InvalidInput(_CODE, f"line {number}: more than {_MOST_DOTS} dots in one line")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise InvalidInput(_CODE, escape(str(error), limit=200)) from None
    except RecursionError:
        raise InvalidInput(_CODE, "nested too deep") from None


def edited(text: str, edits: Sequence[Edit | Replacement]) -> str:
    """The text with these edits made.

    Raises:
        CannotTell: `host-file-edit`, if the library would change more than that, or a list is one that is not
            edited here.
    """
    from tomlkit.exceptions import TOMLKitError

    wanted = parse(text)
    for edit in edits:
        applied(wanted, edit)
    try:
        made = _edited(text, edits, is_line=True)
        # A table in one line, or a dotted key, has no line of its own that another one could stand before.
        return made if _reads_as(made, wanted) else _edited(text, edits, is_line=False)
    except (TOMLKitError, ValueError) as error:
        raise _not_edited(escape(str(error), limit=200)) from None


def loses_comment(text: str, replacement: Replacement) -> bool:
    """Whether a comment stands with a member of an entry that does not stay as it is."""
    entry = _read(text)
    for key in replacement.entry:
        entry = entry[key]
    changed = [one for key, one in entry.items() if replacement.value.get(key) != one]
    return any(map(_has_comment, changed))


def _has_comment(item: Any) -> bool:  # noqa: ANN401 - as below
    if not hasattr(item, "as_string"):
        return True  # a table in several pieces: who knows what stands between them
    return bool(item.trivia.comment) or any(met[1] is None for met in TOKEN.finditer(item.as_string()))


@lru_cache(maxsize=1)
def _read(text: str) -> Any:  # noqa: ANN401 - as below
    """A document that nobody edits; kept, since each of its entries may be asked about."""
    import tomlkit

    return tomlkit.parse(text)


def _reads_as(text: str, wanted: object) -> bool:
    try:
        return parse(text) == wanted
    except InvalidInput:
        return False


def _edited(text: str, edits: Iterable[Edit | Replacement], *, is_line: bool) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if document.as_string() != text:
        raise _not_edited("its formatting would not be kept")
    newline = "\r\n" if "\r\n" in text else "\n"
    for edit in edits:
        if isinstance(edit, Replacement):
            _replace(document, edit)
        else:
            _edit(document, edit, newline if is_line else "")
    return document.as_string()


def _replace(document: Any, replacement: Replacement) -> None:  # noqa: ANN401 - tomlkit's containers share no type
    entry = document
    for key in replacement.entry:
        entry = entry[key]
    for key in [key for key in entry if key not in replacement.value]:
        entry.remove(key)
    for key, value in replacement.value.items():
        if key not in entry or entry[key] != value:
            entry[key] = _value(_toml(value))


def _toml(value: object) -> str:
    """A text, or a list or table of texts, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if not isinstance(value, str):
        raise _not_edited("an entry holds something else than texts where one is to change")
    return quoted(value)


def _edit(document: Any, edit: Edit, newline: str) -> None:  # noqa: ANN401 - tomlkit's containers share no type
    entry = document
    for key in edit.entry:
        entry = entry[key]
    words = entry.get(edit.list_key)
    if edit.command is not None:
        entry[edit.command_key] = _value(quoted(edit.command))
    if words is None:
        told = f"[{', '.join(map(quoted, edit.insert))}]"
        if newline and edit.command is not None:
            # What stands before the command: the library moves blank lines where it adds a member itself.
            trivia = entry[edit.command_key].trivia
            trivia.indent = f"{trivia.indent}{edit.list_key} = {told}{newline}{trivia.indent}"
        else:
            entry[edit.list_key] = _value(told)
    elif len(words) <= edit.drop and not edit.insert and edit.without_args:
        entry.remove(edit.list_key)
    else:
        written = words.as_string()
        changed = front(written, _located(written), drop=edit.drop, insert=edit.insert)
        entry[edit.list_key] = _value(spliced(written, [changed]))


def _value(text: str) -> Any:  # noqa: ANN401 - as above
    import tomlkit

    return tomlkit.parse(f"value = {text}").item("value")


def _located(text: str) -> Node:
    """A list of strings with the places of its words."""
    words, end = [], len(text) - 1
    between = _BETWEEN.match(text, 1)
    at = 1 if between is None else between.end()
    while at < end:
        word = _WORD.match(text, at)
        if word is None:
            raise _not_edited("a list of arguments holds something else than strings of one line")
        words.append(Node(at, word.end()))
        between = _BETWEEN.match(text, word.end())
        at = word.end() if between is None else between.end()
    return Node(0, len(text), items=words)


def _not_edited(why: str) -> CannotTell:
    return CannotTell("host-file-edit", why)
