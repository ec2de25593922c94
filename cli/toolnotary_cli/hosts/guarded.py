# SPDX-License-Identifier: Apache-2.0
"""How a host starts a server guarded, and how that is recognized: `toolnotary run ... -- COMMAND`."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from toolnotary_cli.hosts.entries import Entry
from toolnotary_verifier.codeloading import loads_code

_PROGRAM: Final = "toolnotary"
_MODULE: Final = "toolnotary_cli"
# Behind the interpreter: see `_is_unmoved`.
_UNMOVED: Final = ("-E", "-P", "-m", _MODULE)
_FLAGS: Final = frozenset({"--offline"})
_OURS: Final = re.compile(r"TOOLNOTARY_", re.IGNORECASE)
_PYTHON: Final = re.compile(r"(?:python|pypy)w?[0-9.]*(?:\.exe)?", re.IGNORECASE)


class Guarded(NamedTuple):
    """A command line that is ours, seen through.

    Attributes:
        program: what starts us, with an interpreter's arguments.
        options: those of `run`, by name; an empty value for a flag.
        argv: the server's own command; empty where it is reached by `--url`.
        dropped: how many words stand before that.
        headers: what stands behind `--header`, each NAME=VARIABLE.
    """

    program: tuple[str, ...]
    options: Mapping[str, str]
    argv: tuple[str, ...]
    dropped: int
    headers: tuple[str, ...] = ()


def own_program(environment: Mapping[str, object]) -> list[str]:
    """The absolute command that starts this program, as a host is to have it: its own PATH may be short.

    Args:
        environment: what a host sets for the server. Variables that decide which code Python loads are meant
            for the server, and must not reach us through the interpreter that starts us.
    """
    if not _for_python(environment):
        called = Path(sys.argv[0])
        name = f"{_PROGRAM}.exe" if os.name == "nt" else _PROGRAM
        for found in (called, Path(sys.executable).parent / name):
            if found.name.lower() == name and found.is_file():
                return [str(found.absolute())]
    return [sys.executable, *_UNMOVED]


def _for_python(environment: Mapping[str, object]) -> list[str]:
    """The variables that decide which code the interpreter loads that starts us."""
    return sorted(name for name in environment if name.upper().startswith("PYTHON") and loads_code(name))


def seen_through(argv: Sequence[str]) -> Guarded | None:
    """What a command line starts, if it starts that guarded; None where it does not, or cannot be read."""
    argv = tuple(argv)
    behind = _behind_program(argv)
    if behind is None or argv[behind : behind + 1] != ("run",):
        return None
    at, options, headers = behind + 1, {}, []
    while at < len(argv) and argv[at] != "--":
        name, equals, value = argv[at].partition("=")
        if not name.startswith("--"):
            return None
        if not equals and name not in _FLAGS:
            at += 1
            if at == len(argv):
                return None
            value = argv[at]
        if name == "--header":
            headers.append(value)
        options[name.removeprefix("--")] = value
        at += 1
    rest = tuple(argv[at + 1 :])
    if not rest and "url" not in options:
        return None
    return Guarded(tuple(argv[:behind]), options, rest, min(at + 1, len(argv)), tuple(headers))


def _behind_program(argv: Sequence[str]) -> int | None:
    """How many words start us, before `run`; None where it is another program."""
    name = re.split(r"[/\\]", argv[0])[-1].lower() if argv else ""
    if name in (_PROGRAM, f"{_PROGRAM}.exe"):
        return 1
    if not _PYTHON.fullmatch(name):
        return None
    for place, word in enumerate(argv[1:], start=1):
        if word == "-m":
            return place + 2 if tuple(argv[place + 1 : place + 2]) == (_MODULE,) else None
        if word not in ("-E", "-P", "-I", "-s"):
            return None
    return None


def why_not_ours(found: Guarded, entry: Entry) -> str:
    """Why a command line that reads like ours guards nothing; empty where it does.

    Whoever writes a host's file could name any program, or lead ours to other pins.
    """
    moved = redirection(entry)
    if moved:
        return moved
    first = found.program[0]
    known = {sys.executable, *own_program({})[:1], *_on_path()}
    if not any(_is_same(first, one) for one in known):
        return "it is started by another program than this toolnotary"
    if not _is_unmoved(found.program):
        led = _for_python(entry.environment)
        if led:
            return f"its environment sets {', '.join(led)}, which would lead its interpreter to other code"
        if len(found.program) > 1:
            return "its interpreter loads what stands in the folder that it is started in: say -E -P -m"
    return ""


def _is_unmoved(program: Sequence[str]) -> bool:
    """Whether an interpreter is told to heed neither its variables nor the folder that it starts in."""
    return "-I" in program or {"-E", "-P"} <= set(program)


def redirection(entry: Entry) -> str:
    """Why the variables of an entry would lead `run` to other pins than a person's own; else empty."""
    moved = sorted(name for name in entry.environment if _OURS.match(name))
    return f"its environment sets {', '.join(moved)}, which would lead run to other pins" if moved else ""


def _on_path() -> list[str]:
    import shutil

    found = shutil.which(_PROGRAM)
    return [found] if found else []


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return Path(one).is_absolute() and Path(one).samefile(other)
    except (OSError, ValueError):
        return False
