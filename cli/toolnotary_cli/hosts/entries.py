# SPDX-License-Identifier: Apache-2.0
"""The servers that a file of a host names: how each is started or reached, and what is set for it."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from toolnotary_cli.hosts.dialects import Dialect, Keys
from toolnotary_cli.hosts.documents import Document
from toolnotary_cli.hosts.located import Number, Path

# What makes a line that a shell must read: it is no list of words.
_SHELL: Final = re.compile(r"[|&;<>`\n]|\$\(")
# Members that tell a host to sign in.
_SIGNS_IN: Final = ("auth", "oauth", "authProviderType", "authorization_token")
_MOST_WORDS: Final = 4096  # of a command line: each costs a look for what is secret in it
_UNSEEN: Final = "neither a command nor a URL: what is started cannot be seen here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One server of a host's file.

    Attributes:
        name: what the host calls it.
        place: the keys that lead to it.
        holder: the keys that lead to the object that holds the command; the same, but for an older form.
        command_key, args_key: the members of that object.
        command: the command as it is written; None where it is a list of words, or where there is none.
        argv: the command line, word by word; empty where there is none.
        beside: the words of it that stand beside the command; None where no list of them is there.
        environment: what is set for it, as it is written.
        cwd: the folder that it is started in; None where the host chooses.
        url: where it is reached; None where it is started.
        transport: `sse` or `http` where the file says so, else empty.
        signs_in: whether its host signs in there, as far as the file says so.
        headers: headers as they are written.
        variables: headers, and the variables that their values come from.
        bearer: the variable that holds a bearer token; empty where there is none.
        is_disabled: whether the host leaves it alone.
        problem: why nothing more can be told about it; empty where all is plain.
    """

    name: str
    place: Path
    holder: Path = ()
    command_key: str = ""
    args_key: str = ""
    command: str | None = None
    argv: tuple[str, ...] = ()
    beside: tuple[str, ...] | None = None
    environment: Mapping[str, object] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    transport: str = ""
    signs_in: bool = False
    headers: Mapping[str, object] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    bearer: str = ""
    is_disabled: bool = False
    problem: str = ""

    @property
    def own_words(self) -> tuple[str, ...]:
        """The words that the command itself holds: one, or more where it is written with its arguments."""
        return self.argv[: len(self.argv) - len(self.beside or ())]

    @property
    def where(self) -> str:
        """The folder whose entry it is, where a host keeps servers by folder; else empty."""
        return str(self.place[1]) if len(self.place) > 2 and self.place[0] == "projects" else ""


def entries(document: Document) -> Iterator[Entry]:
    """The servers of a file, in its order; each is told, also where nothing can be said of it."""
    dialect = document.dialect
    for place in dialect.places:
        for path, found in _at(document.value, place, ()):
            yield from _servers(dialect, path, found, is_top=not place)


def _at(value: object, place: tuple[str, ...], path: Path) -> Iterator[tuple[Path, object]]:
    """What stands at a place of the dialect; several where a part of it is any key."""
    if not place:
        yield path, value
        return
    if not isinstance(value, dict):
        return
    names = list(value) if place[0] == "*" else [place[0]]
    for name in names:
        if name in value:
            yield from _at(value[name], place[1:], (*path, name))


def _servers(dialect: Dialect, path: Path, found: object, *, is_top: bool) -> Iterator[Entry]:
    pairs: list[tuple[str | int, object]]
    if isinstance(found, dict):
        pairs = list(found.items())
    elif isinstance(found, list) and dialect.named:
        pairs = list(enumerate(found))
    else:
        return
    for key, value in pairs:
        if is_top and not (isinstance(value, dict) and _marks(dialect.keys) & value.keys()):
            continue
        if isinstance(value, dict) and value.get("type") in dialect.built_in:
            continue
        name = str(value.get(dialect.named, key)) if isinstance(value, dict) and dialect.named else str(key)
        yield _entry(dialect.keys, name, (*path, key), value)


def _marks(keys: Keys) -> set[str]:
    return {keys.command, *keys.urls}


def _entry(keys: Keys, name: str, place: Path, value: object) -> Entry:
    if not isinstance(value, dict):
        return Entry(name=name, place=place, problem="its entry is no object")
    base = _Base(keys, name, place, value)
    command = value.get(keys.command)
    url = next((key for key in keys.urls if isinstance(value.get(key), str)), None)
    if isinstance(command, dict):
        return base.nested(command)
    if isinstance(command, str) and command.strip():
        return base.flat(command)
    if isinstance(command, list) and command:
        return base.listed(command)
    if url is not None:
        return base.remote(url)
    return base.entry(problem=_UNSEEN)


class _Base:
    """What entries of all shapes have in common."""

    def __init__(self, keys: Keys, name: str, place: Path, value: dict[str, object]) -> None:
        self._keys = keys
        self._name = name
        self._place = place
        self._value = value

    def entry(self, **more: object) -> Entry:
        value, cwd = self._value, self._value.get("cwd")
        common: dict[str, object] = {
            "name": self._name,
            "place": self._place,
            "holder": self._place,
            "environment": _mapping(value.get(self._keys.env)),
            "headers": _mapping(value.get(self._keys.headers)),
            "variables": {
                name: str(of) for name, of in _mapping(value.get(self._keys.named_headers)).items()
            },
            "bearer": str(value.get(self._keys.bearer) or "") if self._keys.bearer else "",
            "cwd": cwd if isinstance(cwd, str) and cwd else None,
            "is_disabled": value.get("enabled") is False or value.get("disabled") is True,
        }
        argv = more.get("argv", ())
        if isinstance(argv, tuple) and len(argv) > _MOST_WORDS:
            more = {"problem": f"its command has more than {_MOST_WORDS} words"}
        return Entry(**{**common, **more})  # type: ignore[arg-type]

    def flat(self, command: str) -> Entry:
        """A command, and its arguments beside it."""
        words = self._value.get(self._keys.args)
        keys = {"command_key": self._keys.command, "args_key": self._keys.args or "args"}
        return self._started(command, words, keys, {})

    def nested(self, found: dict[str, object]) -> Entry:
        """An older form of Zed: an object with path, arguments and variables."""
        path = found.get("path")
        if not isinstance(path, str) or not path.strip():
            return self.entry(problem=_UNSEEN)
        keys = {"command_key": "path", "args_key": "args"}
        more = {
            "holder": (*self._place, self._keys.command),
            "environment": {**_mapping(self._value.get(self._keys.env)), **_mapping(found.get("env"))},
        }
        return self._started(path, found.get("args"), keys, more)

    def listed(self, words: list[object]) -> Entry:
        """A list of all words."""
        if not all(isinstance(word, str) for word in words) or not words[0]:
            return self.entry(problem="its command is no list of texts")
        return self.entry(command_key=self._keys.command, argv=tuple(words))

    def remote(self, key: str) -> Entry:
        kind = self._value.get("type")
        transport = self._keys.urls[key] or ("sse" if kind == "sse" else "http" if kind else "")
        signs_in = any(self._value.get(name) for name in _SIGNS_IN)
        return self.entry(url=self._value[key], transport=transport, signs_in=signs_in)

    def _started(
        self, command: str, words: object, keys: dict[str, str], more: Mapping[str, object]
    ) -> Entry:
        beside = [] if words is None else words
        if not isinstance(beside, list) or not all(isinstance(word, str) for word in beside):
            return self.entry(problem="its arguments are no list of texts")
        first = _words(command)
        if first is None:
            return self.entry(problem="its command is a line for a shell, not a list of words")
        told = None if words is None else tuple(beside)
        return self.entry(**keys, **more, command=command, argv=(*first, *beside), beside=told)


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        return {}
    return {str(name): found.text if isinstance(found, Number) else found for name, found in value.items()}


def _words(command: str) -> list[str] | None:
    """The words of a command that may hold its arguments; None where only a shell could tell them.

    A path with blanks in it is one word: nothing follows it that looks like another one.
    """
    if not re.search(r"\s", command.strip()) or _is_path(command):
        return [command]
    if _SHELL.search(command):
        return None
    try:
        is_windows = "\\" in command
        found = shlex.split(command, posix=not is_windows)
    except ValueError:
        return None
    return [word.strip('"') for word in found] if is_windows else found


def _is_path(command: str) -> bool:
    """Whether all of a command is the name of one program: it begins as a path does, blanks and all."""
    return bool(re.match(r"[/~]|[A-Za-z]:[/\\]", command)) and (
        os.path.isfile(os.path.expanduser(command))  # noqa: PTH111, PTH113 - a NUL in it is no error here
        or re.search(r"[/\\][^/\\]*\.(?:exe|cmd|bat|com)$|[/\\]toolnotary$", command, re.IGNORECASE)
        is not None
    )
