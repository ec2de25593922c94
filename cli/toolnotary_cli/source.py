# SPDX-License-Identifier: Apache-2.0
"""What a SOURCE on the command line is: somewhere that a surface can be read from.

| text | source |
|---|---|
| `-` | what a file would hold, on standard input |
| the name of an existing file | the file: saved answers of a server, a manifest, or a lockfile |
| `FILE#PART` | one profile of a manifest, or one server (`SERVER`, `SERVER#PROFILE`) of a lockfile |
| `FILE+FILE...` | saved answers of one surface: further pages, the answer to `initialize`, other lists |
| `stdio:COMMAND ARG...` | a server that this command starts; quoted as for a shell |
| `http://...`, `https://...` | a server behind Streamable HTTP |
| `NAME@VERSION` | a published version, in the registry; `#PROFILE` behind it names one profile |

An existing file wins over every other reading, whatever its name looks like. Not so where a command pins what
it is given (`deciding`): a repository could ship a listing under the name of the version that is meant.

Where one SOURCE is asked for, a command may be given after `--` in its place. Parsing touches nothing but the
names of files; `subject` reads.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

STDIO = "stdio:"
_URL = ("http://", "https://")
_PUBLISHED = r"(?s)([a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+)@(.+)"  # compiled when first needed
_FORMS = "expected a file, -, a URL, 'stdio:COMMAND ARG...' or NAME@VERSION"


# Named tuples, because hosts wait for commands that parse a source, and a frozen dataclass costs six times as
# much to define (tests/benchmarks/cold_start.py).
class Saved(NamedTuple):
    """Files that hold one surface together; `Path("-")` alone is standard input.

    Attributes:
        paths: the files.
        part: what stood after `#`: a profile of a manifest, or a server of a lockfile (`SERVER#PROFILE`).
    """

    paths: tuple[Path, ...]
    part: str | None = None


class Command(NamedTuple):
    """A server that a command starts. Giving it on the command line is the person's word to start it."""

    argv: tuple[str, ...]

    def __repr__(self) -> str:
        """Without the arguments, which can hold secrets."""
        return f"Command({len(self.argv)} words)"


class Url(NamedTuple):
    """A server behind a URL."""

    url: str

    def __repr__(self) -> str:
        """Without the URL, which can hold secrets."""
        return "Url(...)"


class Published(NamedTuple):
    """One version of a server in a registry."""

    server: str
    version: str


Source = Saved | Command | Url | Published
STANDARD_INPUT = Path("-")


def parse(text: str, *, expected: str = _FORMS, deciding: bool = False) -> Source:
    """The source that `text` names.

    Args:
        text: as it stands on the command line.
        expected: what the command takes, for the error that says so.
        deciding: whether NAME@VERSION is a version even where a file has that name.

    Raises:
        ConfigurationError: `source`, if it names none.
    """
    if text == "-":
        return Saved((STANDARD_INPUT,))
    published = re.fullmatch(_PUBLISHED, text) if "@" in text else None
    if published and (deciding or not is_file_too(text)):
        return Published(published[1], published[2])
    if _is_file(text):
        return Saved((Path(text),))
    if text.startswith(STDIO):
        return _command(_words(text.removeprefix(STDIO)))
    if text.lower().startswith(_URL):
        return Url(text)
    found = _files(text)
    if found is not None:
        return found
    wrong = _missing(text)
    raise ConfigurationError("source", f"{escape(wrong, limit=200)}: {_wrong(wrong)}", remedy=expected)


def is_file_too(text: str) -> bool:
    """Whether `text` is read as files or a part of one where an existing file wins."""
    return _is_file(text) or _files(text) is not None


def looks_published(text: str) -> bool:
    """Whether `text`, the name of a file perhaps, is written like a version in a registry."""
    return re.fullmatch(_PUBLISHED, text) is not None


def _missing(text: str) -> str:
    """What of `text` is not there: one of several joined files, where the others are."""
    names = text.split("+")
    gone = [name for name in names if not _is_file(name)]
    return gone[0] if 0 < len(gone) < len(names) else text


def _wrong(text: str) -> str:
    """Why `text` names no source."""
    if _is_folder(text):
        return "it is a folder"
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text)
    if scheme:
        return f"{scheme[0]} is no scheme that is understood here"
    if re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", text):
        return "there is no such file, and as the name of a server it lacks @VERSION"
    return "there is no such file"


def one(
    text: str | None, command: Sequence[str], *, expected: str = _FORMS, deciding: bool = False
) -> Source:
    """The source of a command line that asks for one: SOURCE, or what stood after `--`.

    Args:
        text: SOURCE, None where it is not given.
        command: what stood after `--`.
        expected: what the command takes, for the error that says so.
        deciding: see `parse`.

    Raises:
        ConfigurationError: `source`, if there is none or both.
    """
    if text is not None and command:
        raise ConfigurationError(
            "source", "got a SOURCE and a command after --", remedy="give one of the two"
        )
    if text is not None:
        return parse(text, expected=expected, deciding=deciding)
    return _command(command, expected=expected)


def _command(argv: Sequence[str], *, expected: str = _FORMS) -> Command:
    if not argv or not argv[0]:
        raise ConfigurationError("source", "no source and no command to start", remedy=expected)
    return Command(tuple(argv))


def _words(text: str) -> list[str]:
    import shlex

    try:
        if os.name == "nt":  # a backslash is part of a path there, quotes still group
            return [word.strip('"') for word in shlex.split(text, posix=False)]
        return shlex.split(text)
    except ValueError as error:
        raise ConfigurationError(
            "source",
            f"the command after {STDIO} cannot be split: {str(error).lower()}",
            remedy="quote it as for a shell",
        ) from None


def _files(text: str) -> Saved | None:
    """`FILE+FILE...` or `FILE#PART`, if those files exist; the longest file name counts."""
    names = text.split("+")
    if len(names) > 1 and all(_is_file(name) for name in names):
        return Saved(tuple(map(Path, names)))
    at = text.rfind("#")
    while at > 0:
        if _is_file(text[:at]):
            return Saved((Path(text[:at]),), text[at + 1 :])
        at = text.rfind("#", 0, at)
    return None


def _is_file(text: str) -> bool:
    return text != "" and _exists(text) and not _is_folder(text)


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a file name, or a NUL in it
        return False


def _is_folder(text: str) -> bool:
    return _exists(text) and Path(text).is_dir()
