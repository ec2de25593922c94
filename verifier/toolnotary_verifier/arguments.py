# SPDX-License-Identifier: Apache-2.0
"""The words of a command line, each with what it is in a launch's identity and what is recorded of it.

The two differ where a version is named (recorded, not identity) and where a launcher's flag changes nothing
about what is started. Neither holds a secret: values are masked, the flags before them are kept
(docs/spec/launch.md).
"""

import hashlib
import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from toolnotary_verifier.secrecy import MASK, mask, mask_assignment, mask_behind, mask_header, mask_short

HEADER_FLAGS: Final = ("-H", "--header", "--headers")
VARIABLE_FLAGS: Final = ("-e", "--env")
_PATH = re.compile(r"\.{0,2}[/\\]|~[/\\]")


class Word(NamedTuple):
    """One word of a command line.

    Attributes:
        identity: what it is in the identity, None where it has no part in it.
        recorded: what is recorded.
        is_path: whether it names a file, which the caller resolves.
    """

    identity: str | None
    recorded: str
    is_path: bool = False

    @classmethod
    def same(cls, text: str, *, is_path: bool = False) -> "Word":
        """A word that is recorded as what it is in the identity."""
        return cls(text, text, is_path)

    @classmethod
    def argument(cls, text: str) -> "Word":
        """A word that is masked where it looks like a secret, and resolved where it names a file."""
        return cls.same(mask(text), is_path=is_path(text))

    @classmethod
    def code(cls, text: str) -> "Word":
        """A piece of code: part of the identity to the last character, and shown to nobody."""
        return cls.same("sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


class CommandLine:
    """A command line taken apart.

    Attributes:
        words: all of it, in order.
        packages: what it starts as far as that can be told: ecosystem (`npm`, `pypi`, `oci`) and name.
        program: the name of the executable without folder and Windows suffix.
        interpreter: whether that is a program which runs what its arguments say.
        script: the file that an interpreter is told to run, as written.
        variables: assignments in front of the command (`env NAME=value ...`).
    """

    __slots__ = ("interpreter", "packages", "program", "script", "variables", "words")

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.packages: list[tuple[str, str]] = []
        self.program = ""
        self.interpreter = False
        self.script: str | None = None
        self.variables: dict[str, str] = {}


def arguments(rest: Sequence[str]) -> Iterator[Word]:
    """The words behind a program, secrets masked and their flags kept."""
    words = deque(rest)  # a list would be moved along for every word
    while words:
        word = words.popleft()
        yield flag(word) if word.startswith("-") else Word.argument(word)
        takes_value = words and "=" not in word and word.startswith("-") and not words[0].startswith("-")
        if not takes_value:
            continue
        if word in HEADER_FLAGS:
            yield Word.same(mask_header(words.popleft()))
        elif word in VARIABLE_FLAGS and "=" in words[0]:
            yield Word.same(mask_assignment(words.popleft()))
        elif (masked := mask_behind(word, words[0])) is not None:
            words.popleft()
            yield Word.same(masked)


def flag(word: str) -> Word:
    """A flag, with what stands behind its `=` masked where need be."""
    name, equals, value = word.partition("=")
    if not equals:
        # `-xSECRET` is a short flag with its value; a long flag is a word that somebody chose.
        return Word.same(word if word.startswith("--") else mask_short(word))
    if name in HEADER_FLAGS:
        return Word.same(f"{name}={mask_header(value)}")
    if name in VARIABLE_FLAGS:
        return Word.same(f"{name}={mask_assignment(value)}")
    masked = mask_behind(name, value)
    return Word.same(f"{name}={mask(value) if masked is None else masked}")


def is_path(text: str) -> bool:
    """Whether a word surely names a file: it begins as only paths do, and holds nothing to mask."""
    return (text in (".", "..") or _PATH.match(text) is not None) and MASK not in mask(text)
